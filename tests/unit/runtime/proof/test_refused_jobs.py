"""`streamtable prove` refuses what it cannot compare, before it starts Spark or reads a topic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamtable.cli.main import cli
from streamtable.core.errors import StreamtableError
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.checkpoint.checkpoint import begin, open_checkpoint
from streamtable.runtime.proof.asked import Asked, job_of
from streamtable.runtime.status.lock import take_lock
from streamtable.session import Session

#: No broker listens at this address.
_OPTIONS = "'properties.bootstrap.servers' = 'localhost:1'"
_TABLES = f"""
CREATE TABLE e (g STRING, n INT, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = 'e', 'format' = 'json', {_OPTIONS});
CREATE TABLE b (g STRING, n INT) WITH ('connector' = 'kafka', 'topic' = 'e', 'format' = 'json',
  'scan.bounded.mode' = 'latest-offset', {_OPTIONS});
CREATE TABLE made (g STRING, n INT) WITH ('connector' = 'datagen');
CREATE TABLE u (g STRING, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'u', 'key.format' = 'json', 'value.format' = 'json',
  {_OPTIONS});
CREATE TABLE shown (g STRING, n BIGINT) WITH ('connector' = 'print');
"""
_COUNT = "SELECT g, COUNT(*) FROM e GROUP BY g"


def _prove(folder: Path, inserts: str, *options: str, ran: str | None = None) -> Result:
    """Prove a script on the checkpoint of a job that has run with this script or with `ran`."""
    (folder / "job.sql").write_text(_TABLES + inserts)
    checkpoint = _ran(folder, ran or inserts)
    arguments = ["prove", str(folder / "job.sql"), "--checkpoint", str(checkpoint)]
    return CliRunner().invoke(cli, [*arguments, *options])


def _ran(folder: Path, inserts: str) -> Path:
    """Write the checkpoint of a job that has run; return its directory."""
    session = Session()
    session.load(_TABLES + inserts, "ran.sql")
    checkpoint = open_checkpoint(str(folder / "checkpoint"), query_names(session.plans))
    begin(checkpoint, {})
    checkpoint.close()
    return folder / "checkpoint"


@pytest.mark.parametrize(
    ("inserts", "message"),
    [
        (
            "INSERT INTO u SELECT g, CAST(MAX(CAST(p AS STRING)) AS BIGINT) FROM e GROUP BY g;",
            "NO_BATCH_ANSWER: table u has no batch answer to compare with",
        ),
        (
            f"SET 'table.exec.state.ttl' = '1 h'; INSERT INTO u {_COUNT};",
            "its state expires ('table.exec.state.ttl' or a STATE_TTL hint)",
        ),
        ("INSERT INTO u SELECT g, COUNT(*) FROM made GROUP BY g;", "NO_HISTORY: table made"),
        ("INSERT INTO shown SELECT g, n FROM e;", "NO_HISTORY: table shown"),
        ("INSERT INTO u SELECT g, COUNT(*) FROM b GROUP BY g;", "b has a bound"),
        (
            (
                "SET 'table.exec.sink.not-null-enforcer' = 'DROP';"
                f" INSERT INTO u SELECT * FROM ({_COUNT}) AS x (g, n);"
            ),
            "'table.exec.sink.not-null-enforcer' drops rows",
        ),
    ],
)
def test_queries_that_cannot_be_compared(tmp_path: Path, inserts: str, message: str) -> None:
    result = _prove(tmp_path, inserts)
    assert result.exit_code == 1
    assert message in result.stderr


def test_all_refused_tables_are_named(tmp_path: Path) -> None:
    inserts = "INSERT INTO shown SELECT g, n FROM e; INSERT INTO u SELECT g, n FROM made;"
    result = _prove(tmp_path, inserts)
    assert "table shown cannot be read" in result.stderr
    assert "table made cannot be read" in result.stderr


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT g, AVG(n) FROM e GROUP BY g", "AVG(n) AS"),
        (_COUNT, "no proof of this query at batch 3 is recorded"),
    ],
)
def test_a_proof_by_induction_needs_a_baseline(tmp_path: Path, query: str, reason: str) -> None:
    insert = f"INSERT INTO u SELECT g, CAST(n AS BIGINT) FROM ({query}) AS x (g, n);"
    result = _prove(tmp_path, insert, "--since", "3")
    assert result.exit_code == 1
    assert "NOT_PROVABLE: table u cannot be compared with its input: not by ind" in result.stderr
    assert reason in result.stderr
    assert "leave out --since" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--since", "first"), "'first' is neither the number of a batch nor 'last'"),
        (("--since", "last", "--against", "duckdb"), "give --since without --against"),
    ],
)
def test_invalid_and_conflicting_options(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    result = _prove(tmp_path, f"INSERT INTO u {_COUNT};", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("from_now", "inserts", "reason"),
    [
        ({"lacks": "nothing"}, 1, "its sink has rows of the query of before"),
        ({"lacks": "values"}, 1, "an added aggregate lacks earlier records"),
        ({"lacks": "rows"}, 1, "its sink has rows of the query of before"),
        ({"lacks": "rows", "ends": {"u/0": 7}}, 2, "its sink has rows of the query of before"),
        ({"lacks": "rows", "ends": {"u/0": 7}}, 1, None),
    ],
)
def test_rows_that_an_upgrade_has_kept(
    from_now: dict[str, object], inserts: int, reason: str | None, tmp_path: Path
) -> None:
    script = f"INSERT INTO u {_COUNT};" * inserts
    checkpoint = _ran(tmp_path, script)
    manifest = json.loads((checkpoint / "streamtable.json").read_text())
    manifest["queries"]["u"]["from_now"] = from_now
    (checkpoint / "streamtable.json").write_text(json.dumps(manifest))
    session = Session()
    session.load(_TABLES + script, "job.sql")
    job = job_of(session.plans, Asked(str(checkpoint)), checkpoint)
    if reason is None:
        assert job.kept_until("u") == {"u/0": 7}
        return
    with pytest.raises(StreamtableError, match="since `upgrade --from-now`") as error:
        job.kept_until("u")
    assert reason in str(error.value)


def test_a_damaged_file_of_proofs_is_named(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    insert = f"INSERT INTO u {_COUNT};"
    assert "no proof of this query" in _prove(tmp_path, insert, "--since", "3").stderr
    for content in ("{", '{"layout": 2, "queries": {}}'):
        (tmp_path / "checkpoint" / "proofs.json").write_text(content)
        result = _prove(tmp_path, insert, "--since", "3")
        assert "CHECKPOINT_UNREADABLE" in result.stderr
        assert "remove this file" in result.stderr


def test_a_function_that_is_not_deterministic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thrown_dice.py").write_text(
        "from streamtable.udf import udf\n"
        "@udf(result_type='INT', input_types='INT', deterministic=False)\n"
        "def roll(n):\n    return n\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    called = (
        "CREATE TEMPORARY FUNCTION roll AS 'thrown_dice:roll' LANGUAGE PYTHON;"
        " INSERT INTO u SELECT g, SUM(CAST(roll(n) AS BIGINT)) FROM e GROUP BY g;"
    )
    result = _prove(tmp_path, called)
    assert result.exit_code == 1
    assert "function roll is not deterministic" in result.stderr


def test_a_script_that_differs_from_the_checkpoint(tmp_path: Path) -> None:
    changed = "INSERT INTO u SELECT g, SUM(n) FROM e GROUP BY g;"
    result = _prove(tmp_path, changed, ran=f"INSERT INTO u {_COUNT};")
    assert result.exit_code == 1
    assert "CHECKPOINT_MISMATCH" in result.stderr


def test_a_table_that_the_job_does_not_write(tmp_path: Path) -> None:
    result = _prove(tmp_path, f"INSERT INTO u {_COUNT};", "--table", "v")
    assert result.exit_code == 1
    assert "a table that the job has written: u" in result.stderr


def test_a_directory_without_a_job(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(f"{_TABLES} INSERT INTO u {_COUNT};")
    arguments = ["prove", str(tmp_path / "job.sql"), "--checkpoint", str(tmp_path / "none")]
    result = CliRunner().invoke(cli, arguments)
    assert "no job has written to it" in result.stderr


#: Content of `upgrade.json`, whether the checkpoint is locked, and the reason of the refusal.
UPGRADES = {
    "interrupted": ({}, False, "an upgrade was interrupted"),
    "running": ({}, True, "an upgrade is running"),
    "adoption": ({"adopts": {}}, False, "an adoption was interrupted"),
}


@pytest.mark.parametrize("command", [("prove",), ("why", "--table", "u", "--key", '{"g": "a"}')])
@pytest.mark.parametrize("case", UPGRADES)
def test_an_upgrade_that_is_not_complete(
    case: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    mark, held, reason = UPGRADES[case]
    insert = f"INSERT INTO u {_COUNT};"
    opened = _ran(tmp_path, insert)
    (opened / "upgrade.json").write_text(json.dumps(mark))
    (tmp_path / "job.sql").write_text(_TABLES + insert.replace("COUNT(*)", "SUM(n)"))
    lock = take_lock(opened) if held else None
    name, *options = command
    arguments = [name, str(tmp_path / "job.sql"), "--checkpoint", str(opened), *options]
    result = CliRunner().invoke(cli, arguments)
    if lock is not None:
        lock.close()
    assert result.exit_code == 1
    assert f"CHECKPOINT_UNREADABLE: checkpoint {opened} cannot be" in result.stderr
    assert reason in result.stderr


def test_an_upgrade_while_a_proof_runs(tmp_path: Path) -> None:
    """The upgrade has written the sink, but the proof has the offsets of the replaced query."""
    insert = f"INSERT INTO u {_COUNT};"
    opened = _ran(tmp_path, insert)
    session = Session()
    session.load(_TABLES + insert, "job.sql")
    job = job_of(session.plans, Asked(str(opened)), opened)
    job.check_not_upgraded()
    (opened / "upgrade.json").write_text("{}")
    with pytest.raises(StreamtableError, match="an upgrade was interrupted"):
        job.check_not_upgraded()
    (opened / "upgrade.json").unlink()
    manifest = json.loads((opened / "streamtable.json").read_text())
    manifest["queries"]["u"]["directory"] = "u@2"
    (opened / "streamtable.json").write_text(json.dumps(manifest))
    with pytest.raises(StreamtableError, match="an upgrade has replaced query u meanwhile"):
        job.check_not_upgraded()


@pytest.mark.parametrize("share", ["0%", "101%", "1", "x%"])
def test_a_sample_is_a_percentage(tmp_path: Path, share: str) -> None:
    result = _prove(tmp_path, f"INSERT INTO u {_COUNT};", "--sample", share)
    assert result.exit_code == 2
    assert "is not a percentage above 0%" in result.stderr
