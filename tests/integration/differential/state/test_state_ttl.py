"""State TTL: changes equal Flink's after rows have expired, and expired state is removed.

The time between the two batches is longer than the TTL, so no answer depends on the speed of the
machine. The test harness shows the changes of operators; a streaming query shows that Spark removes
expired state.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.compat.ttl.ttl_queries import (
    AFTER,
    BEFORE,
    COLUMNS,
    QUERIES,
    TIMED,
    TIMED_AFTER,
    TIMED_BEFORE,
    TIMED_COLUMNS,
    TIMED_QUERIES,
    VERSIONS_AFTER,
    VERSIONS_BEFORE,
    VERSIONS_COLUMNS,
    Phase,
)

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

_RECORD = Path(__file__).parents[3] / "compat" / "ttl" / "ttl.json"
_KINDS = {kind.short: kind for kind in RowKind}
_TTL = "1 s"
_PAUSE_S = 1.5

#: One query for each kind of state.
_KEPT = (
    (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v) n FROM l)"
        " WHERE n < 2"
    ),
    "SELECT g, LISTAGG(CAST(v AS STRING)), AVG(DISTINCT v), MIN(v) FROM l GROUP BY g",
    "SELECT l.k, r.k FROM l FULL JOIN r ON l.g = r.g",
)


#: The rows of table r, which some queries join.
_OTHER: Phase = [("+I", (1, "a", 1)), ("+I", (2, "c", 1))]


def _table(*phases: Phase) -> Recorded:
    batches = [[(_KINDS[kind], row) for kind, row in phase] for phase in phases]
    return Recorded(Style.CHANGES, COLUMNS, batches)


def _tables(*phases: Phase) -> dict[str, Recorded]:
    """Return table l with one phase per batch, and table r with rows in the first batch only."""
    return {"l": _table(*phases), "r": _table(_OTHER, *([] for _ in phases[1:]))}


def _case(query: str, tables: Mapping[str, Recorded] | None = None) -> Case:
    fields = [column.field for column in planned(query, tables or _tables(BEFORE)).columns]
    return Case(sink(fields), query, query)


def _net(changes: list[tuple[RowKind, Any]]) -> list[list[Any]]:
    rows: Counter[str] = Counter()
    for kind, row in changes:
        taken = kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
        rows[json.dumps(row)] += -1 if taken else 1
    return sorted(([*json.loads(text), n] for text, n in rows.items() if n), key=str)


def test_changes_equal_flinks(spark: SparkSession) -> None:
    changes = _tables(BEFORE, AFTER)
    assert _wrong(spark, changes, QUERIES, ttl=_TTL) == []


def test_changes_with_a_watermark_equal_flinks(spark: SparkSession) -> None:
    """These operators wait for the watermark, and keep some state forever without a TTL."""
    assert _wrong(spark, _timed_tables(), TIMED_QUERIES, ttl="4 s") == []


def test_every_query_is_recorded() -> None:
    assert set(_answers()) == {*QUERIES, *TIMED_QUERIES}


def _answers() -> dict[str, list[list[Any]]]:
    answers: dict[str, list[list[Any]]] = json.loads(_RECORD.read_text("utf-8"))["answers"]
    return answers


def _wrong(
    spark: SparkSession, tables: Mapping[str, Recorded], queries: Sequence[str], *, ttl: str
) -> list[str]:
    """Return the queries whose changes differ from Flink's; `_PAUSE_S` passes after each batch."""
    settings = {"table.exec.state.ttl": ttl, "table.local-time-zone": "UTC"}
    replay = Replay(spark, tables, settings, _PAUSE_S, in_memory=True)
    cases = [_case(query, tables) for query in queries]
    wrong = []
    for query, found in zip(queries, replay.changes(cases), strict=True):
        ours = _net([change for batch in found for change in batch])
        if ours != sorted(_answers()[query], key=str):
            wrong.append(f"{query}\n  ours    {ours}\n  Flink's {_answers()[query]}")
    return wrong


def _timed_tables() -> dict[str, Recorded]:
    """Return tables with two batches of rows per phase, and empty batches after each phase.

    The second batch of a phase is its last row, which moves the watermark.
    """
    rows = _batches(RowKind.INSERT, TIMED_BEFORE, TIMED_AFTER)
    versions = _batches(RowKind.UPDATE_AFTER, VERSIONS_BEFORE, VERSIONS_AFTER)
    return {
        "t": Recorded(Style.APPEND, TIMED_COLUMNS, rows, computed=TIMED),
        "u": Recorded(Style.UPSERT, VERSIONS_COLUMNS, versions, computed=TIMED),
    }


def _batches(kind: RowKind, *phases: Sequence[Any]) -> list[list[tuple[RowKind, Any]]]:
    parts = [part for phase in phases for part in (phase[:-1], phase[-1:], *[[]] * 4)]
    return [[(kind, row) for row in part] for part in parts]


def test_expired_rows_leave_no_state(spark: SparkSession) -> None:
    """The second batch has one row of one table; after it, only the state of that row is left."""
    last: Phase = [("+I", (9, "z", 1))]
    cases = [_case(query) for query in _KEPT]
    tables = _tables(BEFORE, last)
    kept = Replay(spark, tables).state_rows(cases)
    left = Replay(spark, tables, {"table.exec.state.ttl": _TTL}, _PAUSE_S).state_rows(cases)
    assert set(left) <= set(kept)
    assert set(left.values()) == {1}
    assert max(kept.values()) > 1


def test_processing_time_over_removes_rows_without_a_ttl(spark: SparkSession) -> None:
    """Without a TTL, rows are removed an hour after the frame, also the rows of idle keys."""
    batches = [[(RowKind.INSERT, row)] for _, row in BEFORE]
    tables = {"l": Recorded(Style.APPEND, COLUMNS, batches)}
    frame = "PARTITION BY g ORDER BY PROCTIME() RANGE INTERVAL '5' SECOND PRECEDING"
    query = f"SELECT k, COUNT(*) OVER ({frame}) FROM l"
    fields = [column.field for column in planned(query, tables).columns]
    case = Case(sink(fields), query, query)
    kept, _ = Replay(spark, tables, in_memory=True).state_size([case])
    left, _ = Replay(spark, tables, {}, 3_606, in_memory=True).state_size([case])
    assert (kept, left) == (3, 1)


def test_a_write_renews_the_ttl_of_its_own_group_only(spark: SparkSession) -> None:
    """A write renews the TTL of its own group only.

    The harness has its own clock. The three batches are 700 ms apart, and the second batch renews
    one of two groups.
    """
    phases: list[Phase] = [
        [("+I", (1, "a", 1)), ("+I", (2, "b", 1))],
        [("+I", (3, "a", 1))],
        [("+I", (4, "a", 1)), ("+I", (5, "b", 1))],
    ]
    query = "SELECT g, COUNT(*) FROM l GROUP BY g"
    settings = {"table.exec.state.ttl": _TTL}
    replay = Replay(spark, _tables(*phases), settings, 0.7, in_memory=True)
    (found,) = replay.changes([_case(query)])
    ends = {row[0]: row[1] for batch in found for kind, row in batch if kind is not _KINDS["-U"]}
    assert ends == {"a": 3, "b": 1}
