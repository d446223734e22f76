"""Statements other than CREATE TABLE, and their parsed values."""

from __future__ import annotations

import pytest
from sqlglot import exp

from streamtable.core.errors import Span, StreamtableError
from streamtable.core.options import Given
from streamtable.sql.dialect import flink_sql
from streamtable.sql.parse import parse_query, parse_script
from streamtable.sql.statements.jobs import DescribeJob, ShowJobs, StopJob
from streamtable.sql.statements.model import (
    CreateView,
    Drop,
    Explain,
    Insert,
    ResetOption,
    Select,
    SetOption,
    Statement,
    StatementSet,
)

FILE = "job.sql"
ONE = parse_query("SELECT 1")


def _at(line: int, column: int) -> Span:
    return Span(FILE, line, column)


START = _at(1, 1)


def _insert(target: str, at: Span, target_at: Span) -> Insert:
    return Insert((target,), ONE, at, target_at=target_at)


CASES: dict[str, Statement] = {
    "SHOW JOBS": ShowJobs(START),
    "DESCRIBE JOB '7'": DescribeJob("7", START, _at(1, 14)),
    "DESC JOB '7'": DescribeJob("7", START, _at(1, 10)),
    "STOP JOB '7'": StopJob("7", START, _at(1, 10)),
    "STOP JOB '7' WITH SAVEPOINT": StopJob("7", START, _at(1, 10), savepoint=True),
    "SELECT 1": Select(ONE, START),
    "(SELECT 1)": Select(ONE, START),
    "CREATE VIEW v AS SELECT 1": CreateView(("v",), ONE, START, name_at=_at(1, 13)),
    "CREATE TEMPORARY VIEW IF NOT EXISTS d.v (a, `b`) COMMENT 'c' AS SELECT 1": CreateView(
        ("d", "v"),
        ONE,
        START,
        columns=("a", "b"),
        comment="c",
        temporary=True,
        if_not_exists=True,
        name_at=_at(1, 37),
    ),
    "DROP TABLE t": Drop("TABLE", ("t",), START, name_at=_at(1, 12)),
    "DROP TEMPORARY VIEW IF EXISTS `v`": Drop(
        "VIEW", ("v",), START, if_exists=True, name_at=_at(1, 31), temporary=True
    ),
    "INSERT INTO c.d.t SELECT 1": Insert(("c", "d", "t"), ONE, START, target_at=_at(1, 13)),
    "EXECUTE INSERT INTO t SELECT 1": _insert("t", _at(1, 9), _at(1, 21)),
    "INSERT INTO t (a, b) (SELECT 1)": Insert(
        ("t",), ONE, START, columns=("a", "b"), target_at=_at(1, 13)
    ),
    "INSERT INTO t (SELECT 1)": _insert("t", START, _at(1, 13)),
    "INSERT INTO t VALUES (1)": Insert(
        ("t",), parse_query("VALUES (1)"), START, target_at=_at(1, 13)
    ),
    "INSERT INTO t WITH a AS (SELECT 1) SELECT 2": Insert(
        ("t",), parse_query("WITH a AS (SELECT 1) SELECT 2"), START, target_at=_at(1, 13)
    ),
    "INSERT INTO t /*+ OPTIONS('k'='v') */ SELECT 1": Insert(
        ("t",), ONE, START, hints={"k": Given("v", _at(1, 27))}, target_at=_at(1, 13)
    ),
    "EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT 1; END": (
        StatementSet(
            (_insert("a", _at(2, 1), _at(2, 13)), _insert("b", _at(3, 1), _at(3, 13))), START
        )
    ),
    "BEGIN STATEMENT SET;\nINSERT INTO a SELECT 1; END;": (
        StatementSet((_insert("a", _at(2, 1), _at(2, 13)),), START)
    ),
    "SET 'a.b' = 'c'": SetOption("a.b", Given("c", _at(1, 13)), START, key_at=_at(1, 5)),
    "set 'a'='';": SetOption("a", Given("", _at(1, 9)), START, key_at=_at(1, 5)),
    "SET a.b-c = 10 s -- x": SetOption("a.b-c", Given("10 s", _at(1, 13)), START, key_at=_at(1, 5)),
    "SET a = s3a://b--c/x/*y*/;": SetOption(
        "a", Given("s3a://b--c/x/*y*/", _at(1, 9)), START, key_at=_at(1, 5)
    ),
    "SET a=b=c // x": SetOption("a", Given("b=c", _at(1, 7)), START, key_at=_at(1, 5)),
    "SET a =\n b": SetOption("a", Given("b", _at(2, 2)), START, key_at=_at(1, 5)),
    "RESET a.b-c -- x": ResetOption("a.b-c", START, key_at=_at(1, 7)),
    "RESET": ResetOption(None, START),
    "RESET 'a.b'": ResetOption("a.b", START, key_at=_at(1, 7)),
    "EXPLAIN SELECT 1": Explain(Select(ONE, _at(1, 9)), START),
    "EXPLAIN PLAN FOR INSERT INTO t SELECT 1": Explain(_insert("t", _at(1, 18), _at(1, 30)), START),
    "EXPLAIN ESTIMATED_COST, changelog_mode SELECT 1": Explain(
        Select(ONE, _at(1, 40)), START, ("ESTIMATED_COST", "CHANGELOG_MODE")
    ),
    "EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1; END": Explain(
        StatementSet((_insert("t", _at(1, 29), _at(1, 41)),), _at(1, 9)), START
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=list(CASES))
def test_value(text: str, expected: Statement) -> None:
    assert parse_script(text, FILE) == [expected]


def test_a_script_is_its_statements_in_order() -> None:
    text = "SET 'a'='b';\n-- the rest\nDROP TABLE t;\nSELECT 1"

    assert [type(found) for found in parse_script(text)] == [SetOption, Drop, Select]


def test_queries_contain_no_generic_commands() -> None:
    for found in CASES.values():
        if isinstance(found, Select | Insert | CreateView):
            assert not list(found.query.find_all(exp.Command))
            assert flink_sql(found.query)


NOT_YET = [
    "CREATE OR ALTER TABLE t (a INT)",
    "CREATE MATERIALIZED TABLE t",
    "CREATE MODEL m",
    "SHOW CREATE MODEL m",
    "SHOW CREATE FUNCTION f",
    "ALTER DATABASE d SET ('a'='b')",
    "INSERT OVERWRITE t SELECT 1",
    "DELETE FROM t",
    "UPDATE t SET a = 1",
    "TRUNCATE TABLE t",
    "ANALYZE TABLE t COMPUTE STATISTICS",
    "USE MODULES core",
    "CALL sys.compact('x')",
    "COMPILE PLAN 'p' FOR INSERT INTO t SELECT 1",
    "COMPILE AND EXECUTE PLAN 'p' FOR STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
    "EXECUTE PLAN 'p'",
    "LOAD MODULE hive",
    "UNLOAD MODULE hive",
]


@pytest.mark.parametrize("text", NOT_YET)
def test_not_yet(text: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        parse_script(f"SELECT 1;\n  {text};\nSELECT 1", FILE)
    message = str(caught.value)
    assert message.startswith("job.sql:2:3: NOT_YET: ")
    name = message.removeprefix("job.sql:2:3: NOT_YET: ").removesuffix(" is not supported yet")
    assert text.startswith(name)
