"""Rankings and OVER in any order end with Flink's rows, with one record per micro-batch."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.compat.over.over_queries import (
    ADDED,
    ARRIVALS,
    CHANGED,
    CHANGES,
    QUALIFIED,
    QUALIFIED_ARRIVALS,
    RANKINGS,
    SORTED,
    TIMED,
)

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import SparkSession

_RECORD = Path(__file__).parents[3] / "compat" / "over" / "over.json"
_KINDS = {kind.short: kind for kind in RowKind}
_TABLES = {
    "changes": Recorded(Style.CHANGES, CHANGED, [[(_KINDS[k], row)] for k, row in CHANGES]),
    "added": Recorded(Style.APPEND, CHANGED, [[(_KINDS[k], row)] for k, row in ADDED]),
    "timed": Recorded(
        Style.APPEND,
        "id INT, k STRING, v INT, s STRING",
        [[(RowKind.INSERT, row[:4])] for row in TIMED],
    ),
}

#: Rankings with the rank column over rows that may be retracted, and without it over other rows.
#: Without the rank column of such rows, Flink retracts rows that it never emitted.
_RANKINGS = [q for q in RANKINGS if ("w, rn FROM" in q) == ("FROM changes" in q)]


def test_final_tables_equal_flinks(spark: SparkSession) -> None:
    """Over append-only input, tied rows also have the ranks of Flink; see `over_known`."""
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    qualified = [query for query in QUALIFIED if isinstance(answers[query], list)]
    queries = (*_RANKINGS, *SORTED, *qualified)
    found = Replay(spark, _TABLES, in_memory=True).changes([_case(query) for query in queries])
    wrong = []
    for query, changes in zip(queries, found, strict=True):
        tied = query in _RANKINGS and "FROM changes" in query
        ours = _folded(((k.short, row) for batch in changes for k, row in batch), tied=tied)
        flinks = _folded(((kind, row) for kind, row in answers[query]), tied=tied)
        if ours != flinks:
            wrong.append(f"{query}\n  ours    {dict(ours)}\n  Flink's {dict(flinks)}")
    assert not wrong, "\n".join(wrong)


def test_processing_time_changes_equal_flinks(spark: SparkSession) -> None:
    """Changes are equal one by one, in the order in which the rows arrive."""
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    queries = (*ARRIVALS, *QUALIFIED_ARRIVALS)
    found = Replay(spark, _TABLES, in_memory=True).changes([_case(query) for query in queries])
    wrong = []
    for query, changes in zip(queries, found, strict=True):
        ours = [[kind.short, row] for batch in changes for kind, row in batch]
        if ours != answers[query]:
            wrong.append(f"{query}\n  ours    {ours}\n  Flink's {answers[query]}")
    assert not wrong, "\n".join(wrong)


def _case(query: str) -> Case:
    """Return the query with a sink of a full changelog, whose columns have the query's types."""
    fields = [column.field for column in planned(query, _TABLES).columns]
    return Case(sink(fields), query, query)


def _folded(
    changes: Iterable[tuple[str, Sequence[Any]]], *, tied: bool
) -> Counter[tuple[Any, ...]]:
    """Return the rows that remain at the end, with their counts.

    Args:
        changes: row kinds and rows; rows of a ranking are (k, g, v, w), and the rank if selected.
        tied: whether to leave out `k` and `w`, which distinguish rows with equal `v`.
    """
    table: Counter[tuple[Any, ...]] = Counter()
    for kind, row in changes:
        shown = (*row[1:3], *row[4:]) if tied else tuple(row)
        table[shown] += 1 if kind in ("+I", "+U") else -1
    return Counter({row: count for row, count in table.items() if count})
