"""Changelogs of aggregates equal Flink's, change by change, with one record per micro-batch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.compat.aggregates.aggregates_queries import ADDED, CHANGES, COLUMNS, QUERIES
from tests.integration.differential.support import telling

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RECORD = Path(__file__).parents[3] / "compat" / "aggregates" / "aggregates.json"
_KINDS = {kind.short: kind for kind in RowKind}
_TABLES = {
    "changes": Recorded(Style.CHANGES, COLUMNS, [[(_KINDS[k], row)] for k, row in CHANGES]),
    "added": Recorded(Style.APPEND, COLUMNS, [[(_KINDS[k], row)] for k, row in ADDED]),
}


def test_changelogs_equal_flinks(spark: SparkSession) -> None:
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    assert set(answers) == set(QUERIES)
    cases = [_case(query) for query in QUERIES]
    found = Replay(spark, _TABLES, in_memory=True).changes(cases)
    wrong = []
    for query, changes in zip(QUERIES, found, strict=True):
        ours = [[k.short, [_same(v) for v in row]] for batch in changes for k, row in batch]
        flinks = telling([[kind, [_same(v) for v in row]] for kind, row in answers[query]])
        if ours != flinks:
            wrong.append(f"{query}\n  ours   {ours}\n  Flink's {flinks}")
    assert not wrong, "\n".join(wrong)


def _case(query: str) -> Case:
    """Return the query with a sink of a full changelog, whose columns have the query's types."""
    fields = [column.field for column in planned(query, _TABLES).columns]
    return Case(sink(fields), query, query)


def _same(value: Any) -> Any:
    """Return a number as a float, because the record has Flink's decimals as text."""
    try:
        return round(float(value), 12) if not isinstance(value, bool) else value
    except (TypeError, ValueError):
        return value


def test_collect_counts_values(spark: SparkSession) -> None:
    """Flink's COLLECT leaves NULLs out and is empty, not NULL, without values."""
    query = "SELECT g, COLLECT(s), COLLECT(DISTINCT s) FROM changes GROUP BY g"
    (found,) = Replay(spark, _TABLES, in_memory=True).changes([_case(query)])
    changes = [change for batch in found for change in batch]
    of_a = [row[1:] for kind, row in changes if row[0] == "a" and kind is not RowKind.UPDATE_BEFORE]
    one, two = {"p": 1, "q": 1}, {"p": 2, "q": 1}
    after = [{"p": 1}, {"p": 1, "z": 1}, {"z": 1}, {}]
    assert [all_values for all_values, _ in of_a] == [{"p": 1}, one, two, one, *after, {}]
    assert [kind for kind, row in changes if row[0] == "b"] == [RowKind.INSERT, RowKind.DELETE]
