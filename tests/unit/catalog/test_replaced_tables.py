"""Statements that replace a table or view; DESCRIBE EXTENDED, SHOW MODULES and SHOW JARS."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session

_FIRST = "CREATE TABLE x WITH ('connector' = 'print') AS SELECT 1 AS a;"
_SECOND = "CREATE OR REPLACE TABLE x WITH ('connector' = 'print') AS SELECT 'y' AS b;"


@pytest.mark.parametrize("before", ["", _FIRST, _SECOND])
def test_a_replaced_table_has_the_new_columns(before: str) -> None:
    session = Session()
    session.load(f"{before} {_SECOND} DESCRIBE EXTENDED x; DESCRIBE x;", "job.sql")
    extended, plain = session.printed
    assert extended == plain
    assert "|    b |" in plain
    assert "|    a |" not in plain


_WITH = "WITH ('connector' = 'print')"
#: Statement that creates `x`, and a statement after which `x` has the column `b`, and `a` only by
#: LIKE. EXPLAIN replaces nothing.
REPLACED = {
    "table": (f"CREATE TABLE x (a INT) {_WITH}", f"CREATE OR REPLACE TABLE x (b INT) {_WITH}"),
    "like": (f"CREATE TABLE x (a INT) {_WITH}", "CREATE OR REPLACE TABLE x (b INT) LIKE x"),
    "temporary": (
        f"CREATE TEMPORARY TABLE x (a INT) {_WITH}",
        f"CREATE OR REPLACE TEMPORARY TABLE x (b INT) {_WITH}",
    ),
    "as": (f"CREATE TABLE x (a INT) {_WITH}", f"REPLACE TABLE x {_WITH} AS SELECT 1 AS b"),
    "view": ("CREATE VIEW x AS SELECT 1 AS a", "CREATE OR REPLACE VIEW x AS SELECT 1 AS b"),
    "explained": (
        f"CREATE TABLE x (b INT) {_WITH}",
        f"EXPLAIN CREATE OR REPLACE TABLE x {_WITH} AS SELECT 1 AS a",
    ),
    "explained again": (
        f"CREATE TABLE x (b INT) {_WITH}",
        f"EXPLAIN REPLACE TABLE x {_WITH} AS SELECT 1 AS a",
    ),
}


@pytest.mark.parametrize(("before", "statement"), REPLACED.values(), ids=list(REPLACED))
def test_replaced(before: str, statement: str) -> None:
    session = Session()
    session.load(f"{before}; {statement}; DESCRIBE x;", "job.sql")
    assert "|    b |" in session.printed[-1]
    assert ("|    a |" in session.printed[-1]) is ("LIKE" in statement)


REFUSED = {
    f"CREATE VIEW x AS SELECT 1 AS a; CREATE OR REPLACE TABLE x (a INT) {_WITH}": (
        Condition.DUPLICATE_TABLE
    ),
    f"CREATE TABLE x (a INT) {_WITH}; CREATE OR REPLACE VIEW x AS SELECT 1 AS a": (
        Condition.DUPLICATE_TABLE
    ),
    f"REPLACE TABLE x {_WITH} AS SELECT 1 AS b": Condition.UNKNOWN_TABLE,
    f"REPLACE TABLE x (a INT) {_WITH}": Condition.SYNTAX,
    f"CREATE OR REPLACE TABLE IF NOT EXISTS x (a INT) {_WITH}": Condition.SYNTAX,
    f"EXPLAIN REPLACE TABLE x {_WITH} AS SELECT 1 AS b": Condition.UNKNOWN_TABLE,
    "CREATE OR REPLACE CATALOG x": Condition.SYNTAX,
}


@pytest.mark.parametrize(("script", "condition"), REFUSED.items(), ids=list(REFUSED))
def test_not_replaced(script: str, condition: Condition) -> None:
    with pytest.raises(StreamtableError) as refused:
        Session().load(script, "job.sql")
    assert refused.value.condition is condition


def test_a_failed_replacement_leaves_the_table() -> None:
    session = Session()
    session.load(f"CREATE TABLE x (a INT) {_WITH};", "job.sql")
    with pytest.raises(StreamtableError):
        session.load("CREATE OR REPLACE TABLE x (b INT) WITH ('connector' = 'unknown')", "job.sql")
    session.load("DESCRIBE x", "job.sql")
    assert "|    a |" in session.printed[-1]


def test_a_view_is_not_replaced() -> None:
    with pytest.raises(StreamtableError) as refused:
        Session().load(f"CREATE VIEW x AS SELECT 1 AS a; {_SECOND}", "job.sql")
    assert refused.value.condition is Condition.DUPLICATE_TABLE


def test_modules_and_jars() -> None:
    session = Session()
    session.load("SHOW MODULES; SHOW JARS;", "job.sql")
    modules, jars = session.printed
    assert "|        core |" in modules
    assert jars == "Empty set"
