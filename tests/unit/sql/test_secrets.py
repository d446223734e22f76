"""Sources of secrets. Plans and errors never show a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.secrets import hide, without_secrets
from streamtable.session import Session

SECRET = "xyzzy-plugh-42"  # noqa: S105 - must not show
SCRIPT = """
CREATE TABLE t (a STRING) WITH (
  'connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json',
  'properties.sasl.jaas.config' = 'L required username="u" password="${variable}";' ${more}
);
CREATE TABLE o (a STRING) WITH (
  'connector' = 'kafka', 'topic' = 'y', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'
);
INSERT INTO o SELECT a FROM t WHERE a <> '${variable}';
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Provide the secret in each source, and return the variable that reads it."""
    (tmp_path / "kafka-sk").write_text(SECRET + "\n")
    monkeypatch.setenv("STREAMTABLE_SECRETS", str(tmp_path))
    monkeypatch.setenv("KAFKA_SK", SECRET)
    return {
        "secret_values": "${secret_values.kafka-sk}",
        "file": f"${{file:{tmp_path}/kafka-sk}}",
        "env": "${env:KAFKA_SK}",
    }


@pytest.mark.parametrize("source", ["secret_values", "file", "env"])
def test_read_and_masked(source: str, sources: dict[str, str]) -> None:
    session = Session()
    script = SCRIPT.replace("${variable}", sources[source])
    session.load(script.replace("${more}", ""), "job.sql", {})
    assert SECRET not in session.explain()
    assert "****" in session.explain()
    found = session.catalog.find_table(("t",), None).connector
    login = found.properties["sasl.jaas.config"]  # type: ignore[attr-defined]
    assert login == f'L required username="u" password="{SECRET}";'
    with pytest.raises(StreamtableError) as wrong:
        more = f", 'scan.startup.mode' = '{sources[source]}'"
        Session().load(script.replace("${more}", more), "job.sql", {})
    assert wrong.value.condition is Condition.INVALID_OPTION
    assert SECRET not in str(wrong.value)


def test_missing_sources_of_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = SCRIPT.replace("${more}", "")
    monkeypatch.delenv("STREAMTABLE_SECRETS", raising=False)
    cases = {
        "${secret_values.nothing}": (Condition.UNKNOWN_VARIABLE, "set STREAMTABLE_SECRETS"),
        f"${{file:{tmp_path}/nothing}}": (Condition.FILE_UNREADABLE, "No such file"),
        "${env:NOT_THERE_AT_ALL}": (Condition.UNKNOWN_VARIABLE, "has no value"),
    }
    for variable, (condition, told) in cases.items():
        with pytest.raises(StreamtableError) as refused:
            Session().load(script.replace("${variable}", variable), "job.sql", {})
        assert refused.value.condition is condition
        assert told in str(refused.value)


def test_var_takes_precedence_over_the_secrets_directory() -> None:
    session = Session()
    script = SCRIPT.replace("${more}", "").replace("${variable}", "${secret_values.a}")
    session.load(script, "job.sql", {"secret_values.a": "given-by-hand-7"})
    assert "given-by-hand-7" not in session.explain()


def test_longer_secrets_are_masked_first() -> None:
    hide("abcdefgh")
    hide("abcdefghijkl")
    assert without_secrets("1 abcdefghijkl 2 abcdefgh 3") == "1 **** 2 **** 3"
