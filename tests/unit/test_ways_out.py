"""Common mistakes in scripts: the message names the place and the fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from streamtable.cli.main import cli
from streamtable.core.errors import StreamtableError
from streamtable.plan.functions import AGGREGATES, FUNCTIONS
from streamtable.plan.functions.elsewhere import ELSEWHERE
from streamtable.session import Session

TABLES = (Path(__file__).parents[1] / "golden" / "tables.sql").read_text()
_KAFKA = "'connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1'"
_OPEN = """CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka',
  'topic' = 'x,
  'format' = 'json'
);
SELECT 'a';"""
_COMMENT = """SELECT 'two
lines';
CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka,
  'format' = 'json'
);"""

#: Script -> place of the mistake, and words of the message.
_MISTAKES = {
    _OPEN: ("3:13", "expected a single quote to end the text that begins here"),
    _COMMENT: ("4:17", "expected a single quote to end the text that begins here"),
    "SELECT 'a": ("1:8", "expected a single quote"),
    "SET 'pipeline.name' = 'b'\nSELECT 1;": ("2:1", "add ';' before it"),
    "CREATE VIEW v AS SELECT 1 AS a\nCREATE VIEW w AS SELECT 1 AS b": ("2:1", "add ';' before it"),
    "INSERT INTO events SELECT id, note FROM events\nINSERT INTO events SELECT 1": (
        "2:1",
        "add ';' before it",
    ),
    "SELECT id FROM events WHERE COUNT(*) > 1": ("1:29", "HAVING"),
    "SELECT id::STRING FROM events": ("1:10", "write CAST(value AS type)"),
    "SELECT DATE_TRUNC('hour', viewtime) FROM pageviews": ("1:8", "FLOOR(ts TO HOUR)"),
    "SELECT collect_list(id) FROM events": ("1:8", "ARRAY_AGG(x)"),
    f"CREATE TABLE w (a STRING, WATERMARK FOR a AS a) WITH ({_KAFKA}, 'format' = 'json')": (
        "1:41",
        "add a column ts AS TO_TIMESTAMP(`a`) and a WATERMARK FOR ts",
    ),
    f"CREATE TABLE w (a STRING) WITH ({_KAFKA})": ("1:33", "add 'format' = '...'"),
}


@pytest.mark.parametrize("script", _MISTAKES)
def test_errors_name_the_position_and_the_fix(script: str) -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    with pytest.raises(StreamtableError) as refused:
        session.load(script, "job.sql")
    place, words = _MISTAKES[script]
    assert f"job.sql:{place}: " in f"{refused.value} "
    assert words in str(refused.value)


def test_functions_of_other_systems_are_not_known_functions() -> None:
    assert set(ELSEWHERE) & (set(FUNCTIONS) | set(AGGREGATES)) == set()


@pytest.mark.parametrize("command", ["validate", "explain", "run"])
@pytest.mark.parametrize("text", ["", " -- nothing\n;;"])
def test_an_empty_script_is_refused(command: str, text: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(text)
    result = CliRunner().invoke(cli, [command, str(script)])
    assert result.exit_code == 1
    assert "EMPTY_SCRIPT" in result.stderr
