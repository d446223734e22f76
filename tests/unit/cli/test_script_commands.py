"""`explain`, `validate` and `options`: answers of the front end, without Spark or Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamtable.cli.main import cli
from streamtable.connectors.registry import CONNECTORS

GOLDEN = Path(__file__).parents[2] / "golden"


def _script(tmp_path: Path, name: str) -> str:
    script = tmp_path / "job.sql"
    text = (GOLDEN / "plans" / f"{name}.sql").read_text()
    script.write_text((GOLDEN / "tables.sql").read_text() + text)
    return str(script)


def _invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_explain_prints_the_plan(tmp_path: Path) -> None:
    result = _invoke("explain", _script(tmp_path, "having"))
    assert result.exit_code == 0
    assert result.stdout == (GOLDEN / "plans" / "having.plan").read_text()


@pytest.mark.parametrize(
    ("plan", "found"),
    [("having", "1 INSERT(s)"), ("select_shown", "0 INSERT(s) and 2 SELECT(s)")],
)
def test_validate_says_what_it_found(plan: str, found: str, tmp_path: Path) -> None:
    script = _script(tmp_path, plan)
    result = _invoke("validate", script)
    assert (result.exit_code, result.stdout) == (0, f"{script}: valid, {found}\n")


@pytest.mark.parametrize("command", ["explain", "validate", "run"])
def test_faults_end_with_a_line_and_the_place_in_the_script(command: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("INSERT INTO nowhere SELECT 1")
    result = _invoke(command, str(script))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"error: {script}:1:13: UNKNOWN_TABLE: table nowhere does not exist\n"
        "    1 | INSERT INTO nowhere SELECT 1\n"
        "      |             ^\n"
    )


def test_several_faults_are_told_together(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(
        """CREATE TABLE a (x INT) WITH ('connector' = 'kafak');
SET 'table.local-time-zon' = 'UTC';
INSERT INTO a SELECT y FROM nowhere;
INSERT INTO nowhere SELECT 1;
"""
    )
    result = _invoke("validate", str(script))
    assert result.exit_code == 1
    told = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert [line.split(": ")[2] for line in told] == [
        "UNKNOWN_CONNECTOR",
        "UNKNOWN_SETTING",
        "UNKNOWN_TABLE",  # `nowhere`; that `a` is unknown follows from the first
    ]


def test_a_missing_file_is_told() -> None:
    result = _invoke("validate", "no/such/job.sql")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: FILE_UNREADABLE: cannot read no/such/job.sql: No such file or directory."
        " Hint: give the path of a SQL script\n"
    )


def test_a_script_without_insert_has_nothing_to_run(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text((GOLDEN / "tables.sql").read_text())
    result = _invoke("run", str(script))
    assert result.exit_code == 1
    assert "NOTHING_TO_RUN" in result.stderr


def test_set_wins_over_the_script(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("SET 'table.local-time-zone' = 'UTC';")
    assert _invoke("validate", str(script), "--set", "table.local-time-zone=UTC").exit_code == 0
    result = _invoke("validate", str(script), "--set", "table.local-time-zon=UTC")
    assert result.exit_code == 1
    assert "did you mean 'table.local-time-zone'?" in result.stderr


@pytest.mark.parametrize("text", ["novalue", "=x"])
def test_set_takes_pairs(text: str, tmp_path: Path) -> None:
    result = _invoke("validate", str(tmp_path / "job.sql"), "--set", text)
    assert result.exit_code == 2  # click: wrong usage
    assert "is not of the form key=value" in result.stderr


def test_variables_fill_the_script(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("SET 'pipeline.name' = '${name}';")
    assert _invoke("validate", str(script), "--var", "name=job").exit_code == 0
    assert "UNKNOWN_VARIABLE" in _invoke("validate", str(script)).stderr


@pytest.mark.parametrize("connector", CONNECTORS)
def test_options_lists_every_key(connector: str) -> None:
    result = _invoke("options", connector)
    assert result.exit_code == 0
    first = [line.split()[0] for line in result.stdout.splitlines()[1:]]
    assert first == list(CONNECTORS[connector].options.keys())


def test_options_without_a_name_lists_the_names() -> None:
    assert {"kafka", "upsert-kafka", "json", "avro", "settings"} <= set(
        _invoke("options").stdout.split()
    )


def test_options_of_nothing_known() -> None:
    assert "did you mean 'upsert-kafka'?" in _invoke("options", "upsert-kafak").stderr
