"""Source alignment: queries that wait for each other, and reports about queries that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from streamtable.core.settings.execution import ExecutionMode
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.query.source_alignment import (
    SourceAlignment,
    align_sources,
    alignment_gaps,
)
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
    "a: 'execution.max-lead' applies only in micro-batches; o, p may run in real-time mode,"
    " which has no limit"
)
APART = (
    "a: 'execution.max-lead' does not align o, p with the other queries of this table: a query is"
    " aligned by one table, the table that most queries share"
)
_BATCH, _REAL, _AUTO = ExecutionMode.MICRO_BATCH, ExecutionMode.REAL_TIME, ExecutionMode.AUTO


def _aligned(
    inserts: str, mode: ExecutionMode, settings: dict[str, str] | None = None
) -> tuple[SourceAlignment, list[str]]:
    session = Session(settings=fixed_settings(settings or {}))
    session.load("".join(TABLE.format(n, n) for n in "abopq") + inserts, "job.sql")
    plans = query_names(session.plans)
    modes = dict.fromkeys(plans, mode)
    # The choice of the table of each query needs no JVM.
    alignment = align_sources(plans, modes, "job", cast("Bridge", None))
    return alignment, list(alignment_gaps(plans, modes, alignment, session.settings.current()))


@pytest.mark.parametrize(
    ("mode", "given", "held", "reported"),
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
def test_queries_of_the_same_table(
    mode: ExecutionMode, given: dict[str, str], held: dict[str, str], reported: list[str]
) -> None:
    alignment, lines = _aligned(ONE, mode, given)
    assert alignment.tables == held
    assert lines == reported


def test_a_query_aligns_on_the_most_shared_table() -> None:
    alignment, lines = _aligned(TWO, _BATCH, {"execution.max-lead": "7"})
    assert alignment.tables == {"o": "b", "p": "b", "q": "b"}
    assert lines == [APART]


def test_queries_without_a_shared_table_are_not_aligned() -> None:
    apart = "INSERT INTO o SELECT id FROM a; INSERT INTO p SELECT id FROM b;"
    alignment, lines = _aligned(apart, _AUTO, {"execution.max-lead": "7"})
    assert alignment.tables == {}
    assert lines == []
