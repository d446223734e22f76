"""Windows return Flink's answers for the same rows, or are refused as in Flink."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.compat.windows.known import DIFFERENCES, rows
from tests.compat.windows.queries import APPENDED, LAST, QUERIES, TABLES, ZONE

from streamtable.core.changelog import RowKind
from streamtable.core.errors import StreamtableError
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RECORD = Path(__file__).parents[3] / "compat" / "windows" / "answers.json"
_ANSWERS: dict[str, Any] = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
_KINDS = {kind.short: kind for kind in RowKind}
_RECORDED = {
    name: Recorded(
        Style.APPEND if name in APPENDED else Style.CHANGES,
        columns,
        [[(_KINDS[kind], row) for kind, row in batch] for batch in batches],
        computed,
    )
    for name, (columns, computed, batches) in TABLES.items()
}
#: The same changes in the form of an upsert topic with key `k`.
_UPSERTS = [
    [
        (RowKind.DELETE, (None, row[1], None)) if kind == "-D" else (RowKind.UPDATE_AFTER, row)
        for kind, row in batch
        if kind != "-U"
    ]
    for batch in TABLES["changes"][2]
]
_COLUMNS, _COMPUTED, _ = TABLES["changes"]
_RECORDED["upserts"] = Recorded(Style.UPSERT, _COLUMNS, _UPSERTS, _COMPUTED)
_SETTINGS = {"table.local-time-zone": ZONE}


def _refused(query: str) -> bool:
    return isinstance(_ANSWERS.get(query), str) and query not in DIFFERENCES


def test_every_query_is_recorded() -> None:
    assert set(_ANSWERS) == set(QUERIES)


@pytest.mark.parametrize("reached", [False, True])
@pytest.mark.parametrize("table", _RECORDED)
def test_windows_equal_flinks(table: str, reached: bool, spark: SparkSession) -> None:
    asked = "changes" if table == "upserts" else table
    queries = [q for q in QUERIES if _reads(q) == {asked} and not _refused(q)]
    found = []
    # An expression can read the watermark only in a streaming query.
    streamed = [query for query in queries if "CURRENT_WATERMARK" in query]
    queries = [query for query in queries if query not in streamed]
    for asked_together, in_memory in ((queries, True), (streamed, False)):
        cases = [_case(query.replace(asked, table)) for query in asked_together]
        if cases:
            replay = Replay(spark, _RECORDED, _SETTINGS, in_memory=in_memory, reached=reached)
            with set_for_a_while(spark, {"spark.sql.session.timeZone": ZONE}):
                found += replay.changes(cases)
    wrong = []
    for query, changes in zip((*queries, *streamed), found, strict=True):
        ours = _net(_same(k.short, row) for batch in changes for k, row in batch)
        expected = _expected(query)
        if ours != expected:
            wrong.append(f"{query}\n  ours     {ours}\n  expected {expected}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("query", [q for q in QUERIES if _refused(q)])
@pytest.mark.parametrize("table", ["changes", "upserts"])
def test_queries_that_flink_refuses_are_refused(
    query: str, table: str, spark: SparkSession
) -> None:
    with pytest.raises(StreamtableError):
        Replay(spark, _RECORDED, _SETTINGS).plan(_case(query.replace("changes", table)))


def _expected(query: str) -> list[list[Any]]:
    """Return Flink's answer, with the known differences of ours applied."""
    answer = _ANSWERS[query]
    found = [] if isinstance(answer, str) else [_same(kind, row) for kind, row in answer]
    if known := DIFFERENCES.get(query):
        for row in rows(known.flinks):
            found.remove(_same(row[0], row[1:]))
        found += [_same(row[0], row[1:]) for row in rows(known.ours)]
    return _net(found)


def _net(changes: Iterable[list[Any]]) -> list[list[Any]]:
    """Return the rows that remain after all changes, without the rows of the last date.

    The changes themselves may differ: Flink updates groups of sessions that end one by one.
    """
    table: Counter[str] = Counter()
    for kind, *row in changes:
        if not any(str(value).startswith(LAST) for value in row):
            table[json.dumps(row)] += 1 if kind in ("+I", "+U") else -1
    assert min(table.values(), default=0) >= 0
    return sorted((json.loads(text) for text in table.elements()), key=repr)


def _reads(query: str) -> set[str]:
    return {name for name in TABLES if re.search(rf"\b{name}\b", query)}


def _case(query: str) -> Case:
    """Return the query with a sink of a full changelog, whose columns have the query's types."""
    fields = [column.field for column in planned(query, _RECORDED).columns]
    return Case(sink(fields), query, query)


def _same(kind: str, row: list[Any]) -> list[Any]:
    return [kind, *(_moment(value) for value in row)]


def _moment(value: Any) -> Any:
    """Return times in one form: Flink's record has a blank where Spark's JSON has a T."""
    if not isinstance(value, str) or not re.match(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d", value):
        return value
    return datetime.fromisoformat(value).isoformat()
