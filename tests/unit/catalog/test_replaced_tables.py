"""CREATE OR REPLACE TABLE ... AS, and what SHOW and DESCRIBE print of what has one form here."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session

_FIRST = "CREATE TABLE x WITH ('connector' = 'print') AS SELECT 1 AS a;"
_SECOND = "CREATE OR REPLACE TABLE x WITH ('connector' = 'print') AS SELECT 'y' AS b;"


@pytest.mark.parametrize("before", ["", _FIRST, _SECOND])
def test_the_new_table_takes_the_place_of_the_old(before: str) -> None:
    session = Session()
    session.load(f"{before} {_SECOND} DESCRIBE EXTENDED x; DESCRIBE x;", "job.sql")
    extended, plain = session.printed
    assert extended == plain
    assert "|    b |" in plain
    assert "|    a |" not in plain


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
