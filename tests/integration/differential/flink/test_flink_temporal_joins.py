"""Temporal joins over left rows that are updated and deleted end with Flink's or exact rows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.compat.temporal.temporal_queries import (
    DIFFERENT,
    LEFT_COLUMNS,
    MORE_VERSIONS,
    NEWEST,
    QUERIES,
    REPLACED,
    TIMED,
    VERSIONS,
    VERSIONS_COLUMNS,
    WAITING,
    Phase,
)

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

_RECORD = Path(__file__).parents[3] / "compat" / "temporal" / "temporal.json"
_KINDS = {kind.short: kind for kind in RowKind}
#: Computed by hand: the version of each live row at its time, in the order of `DIFFERENT`.
_EXACT: tuple[list[list[Any]], ...] = (
    [[0, 0, 0, 1], [1, 6, 10, 1], [2, 9, 40, 1], [6, 8, 40, 1], [9, 0, 0, 1]],
    [
        [0, 0, 0, 1],
        [1, 6, 10, 1],
        [2, 9, 40, 1],
        [4, 25, None, 1],
        [5, 1, None, 1],
        [6, 8, 40, 1],
        [9, 0, 0, 1],
    ],
)


def test_final_tables_equal_flinks_or_are_exact(spark: SparkSession) -> None:
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    assert answers.keys() == {*QUERIES, *DIFFERENT}
    found = _found(spark)
    wrong = {q: (found[q], answers[q]) for q in QUERIES if found[q] != answers[q]}
    assert not wrong
    # Flink joins a retracted row again, with the versions that Flink still has.
    for query, exact in zip(DIFFERENT, _EXACT, strict=True):
        assert found[query] == exact
        assert answers[query] != exact


def _found(spark: SparkSession) -> dict[str, list[list[Any]]]:
    """Return the rows of each query at the end, each with its count."""
    versions = [[(RowKind.UPDATE_AFTER, row) for row in rows] for rows in (VERSIONS, MORE_VERSIONS)]
    tables = {
        "newest": _left(NEWEST),
        "replaced": _left(REPLACED),
        "p": Recorded(
            Style.UPSERT, VERSIONS_COLUMNS, [versions[0], [], versions[1], []], computed=TIMED
        ),
    }
    queries = (*QUERIES, *DIFFERENT)
    cases = []
    for query in queries:
        fields = [column.field for column in planned(query, tables).columns]
        cases.append(Case(sink(fields), query, query))
    replay = Replay(spark, tables, {"table.local-time-zone": "UTC"}, in_memory=True)
    found = zip(queries, replay.changes(cases), strict=True)
    return {query: _net(change for b in batches for change in b) for query, batches in found}


def _left(after: Phase) -> Recorded:
    """Return a left table with two phases; the watermark passes the first before the second."""
    first, second = ([(_KINDS[kind], row) for kind, row in phase] for phase in (WAITING, after))
    return Recorded(Style.CHANGES, LEFT_COLUMNS, [first, [], second, []], computed=TIMED)


def _net(changes: Iterable[tuple[RowKind, Any]]) -> list[list[Any]]:
    rows: Counter[str] = Counter()
    for kind, row in changes:
        taken = kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
        rows[json.dumps(row)] += -1 if taken else 1
    return [[*json.loads(text), count] for text, count in sorted(rows.items()) if count]
