"""Scripts for another machine: values for variables, variables for secrets, no comments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtable.core.secrets import forget_secrets, hide
from streamtable.sql.lexer.portable import portable
from streamtable.sql.parse import parse_script


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget_secrets()


def test_variables_get_their_values_and_comments_are_left_out() -> None:
    script = """-- it's a comment
SET 'a' = 'it''s ${quote}';
SET b = s3a://${name}/; SET c = ${expression};
CREATE VIEW `v${back}` AS SELECT ${expression} AS c_${name} /* more */ FROM t;
SELECT U&'#00e9' -- more
  '#00e8' /* more */ UESCAPE '#', 'it''--s';"""
    variables = {"quote": "o'clock", "back": "`", "expression": "1 + 2", "name": "x"}
    found = portable(script, variables)
    assert found.secrets == {}
    assert "comment" not in found.text
    assert "more" not in found.text
    assert "it's o'clock" in str(parse_script(found.text)[0])
    assert "SET b = 's3a://x/'; SET c = '1 + 2';" in found.text
    assert "SELECT 'éè', 'it''--s';" in found.text
    assert "VIEW `v``` AS SELECT 1 + 2 AS c_x" in found.text


def test_secrets_become_variables(tmp_path: Path) -> None:
    (tmp_path / "pin").write_text("7")
    hide("in-a-url")
    script = f"""SET url = http://in-a-url;
CREATE TABLE t (x INT) WITH ('topic' = 't', 'properties.sasl.password' = 'abc',
  'properties.sasl.jaas.config' = 'user ${{login}}', 'url' = 'http://in-a-url',
  'properties.client.id' = 'client ${{file:{tmp_path}/pin}}') /*+ OPTIONS('token' = 'xyz') */"""
    found = portable(script, {"login": "me", "unused": "none"})
    assert list(found.secrets.values()) == [
        "",
        "properties.sasl.password",
        "properties.sasl.jaas.config",
        "url",
        "properties.client.id",
        "token",
    ]
    assert "'properties.client.id' = '${secret_5}'" in found.text
    for secret in ("abc", "user", "me'", "in-a-url", "pin", "xyz"):
        assert secret not in found.text
