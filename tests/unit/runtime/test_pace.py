"""Which INSERTs of a job wait for each other, and where it is told that they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from streamtable.core.settings import ExecutionMode
from streamtable.runtime.checkpoint import query_names
from streamtable.runtime.pace import Pace, pace_of, unheld
from streamtable.session import Session, fixed_settings

if TYPE_CHECKING:
    from streamtable.jvm.bridge import Bridge

TABLE = """
CREATE TABLE {} (id INT) WITH (
  'connector' = 'kafka', 'topic' = '{}', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'
);
"""
ONE = "INSERT INTO o SELECT id FROM a; INSERT INTO p SELECT id FROM a;"
TWO = (
    "INSERT INTO o SELECT id FROM a UNION ALL SELECT id FROM b;"
    "INSERT INTO p SELECT id FROM b UNION ALL SELECT id FROM a;"
    "INSERT INTO q SELECT id FROM b;"
)
ROW_BY_ROW = (
    "a: 'execution.max-lead' holds in micro-batches only; o, p may run in real-time mode, where"
    " nobody waits"
)
APART = (
    "a: 'execution.max-lead' does not hold o, p together with others that read it: a query goes by"
    " one table, the one that most of them share"
)
_BATCH, _REAL, _AUTO = ExecutionMode.MICRO_BATCH, ExecutionMode.REAL_TIME, ExecutionMode.AUTO


def _told(
    inserts: str, mode: ExecutionMode, settings: dict[str, str] | None = None
) -> tuple[Pace, list[str]]:
    session = Session(settings=fixed_settings(settings or {}))
    session.load("".join(TABLE.format(n, n) for n in "abopq") + inserts, "job.sql")
    plans = query_names(session.plans)
    modes = dict.fromkeys(plans, mode)
    # Whom a query waits for is settled before the JVM is asked to hold it.
    pace = pace_of(plans, modes, "job", cast("Bridge", None))
    return pace, list(unheld(plans, modes, pace, session.settings.current()))


@pytest.mark.parametrize(
    ("mode", "given", "held", "told"),
    [
        (_BATCH, {"execution.max-lead": "7"}, {"o": "a", "p": "a"}, []),
        (_AUTO, {}, {"o": "a", "p": "a"}, []),
        (
            _AUTO,
            {"execution.max-lead": "7"},
            {"o": "a", "p": "a"},
            [ROW_BY_ROW],
        ),
        (
            _REAL,
            {"execution.max-lead": "7"},
            {},
            [ROW_BY_ROW],
        ),
    ],
)
def test_one_table(
    mode: ExecutionMode, given: dict[str, str], held: dict[str, str], told: list[str]
) -> None:
    pace, lines = _told(ONE, mode, given)
    assert pace.tables == held
    assert lines == told


def test_a_query_goes_by_the_table_that_most_share() -> None:
    pace, lines = _told(TWO, _BATCH, {"execution.max-lead": "7"})
    assert pace.tables == {"o": "b", "p": "b", "q": "b"}
    assert lines == [APART]


def test_those_who_share_no_table_wait_for_nobody() -> None:
    apart = "INSERT INTO o SELECT id FROM a; INSERT INTO p SELECT id FROM b;"
    pace, lines = _told(apart, _AUTO, {"execution.max-lead": "7"})
    assert pace.tables == {}
    assert lines == []
