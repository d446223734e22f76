"""MATCH_RECOGNIZE returns Flink's recorded answers over random histories, in any micro-batches."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from tests.compat.match import match_queries
from tests.compat.match.match_known import REFUSED, TAKEN
from tests.compat.match.match_queries import (
    COLUMNS,
    DISORDER,
    FAILING,
    MATCHED,
    RANDOM,
    TICKS,
    WRITTEN,
)

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession

_RECORD = Path(__file__).parents[2] / "compat" / "match" / "match.json"
#: Number of queries of one run.
_AT_ONCE = 50
#: Number of random queries of the short run.
_FEW = 15


def _tables(seed: int) -> dict[str, Recorded]:
    """Return the tables in random micro-batches, with the same rows in the same order."""
    rows = [(RowKind.INSERT, (*tick[:5], _text(tick[5]))) for tick in TICKS]
    batches = list(pieces(rows, random_cuts(seed, len(rows), 3)))
    watermark = f"WATERMARK FOR ts AS ts - INTERVAL '{DISORDER}' SECOND"
    plain = [[(kind, row[:5]) for kind, row in batch] for batch in batches]
    return {
        "ticks": Recorded(Style.APPEND, f"{COLUMNS}, ts TIMESTAMP(3)", batches, watermark),
        "arrivals": Recorded(Style.APPEND, COLUMNS, plain, "pt AS PROCTIME()"),
    }


def _text(seconds: float) -> str:
    moment = datetime(2026, 1, 1) + timedelta(seconds=seconds)
    return moment.isoformat(sep=" ", timespec="milliseconds")


def _case(query: str, tables: Mapping[str, Recorded]) -> Case:
    """Return the query with its columns as text, as in the record."""
    written = query.replace("TABLE matched", f"({MATCHED})")
    names = [column.name for column in planned(written, tables).columns]
    texts = ", ".join(f"CAST(`{name}` AS STRING) AS `{name}`" for name in names)
    whole = f"SELECT {texts} FROM ({written})"
    return Case(sink([c.field for c in planned(whole, tables).columns]), whole, whole)


def _by_partition(rows: Iterable[Sequence[Any]], query: str) -> dict[Any, list[Any]]:
    """Return the rows of each partition or window in order; between these, rows have no order."""
    clause = re.search(r"PARTITION BY (.*?) ORDER BY|GROUP BY (window_start)", query)
    keys = (clause[1] or clause[2]).split(", ") if clause else []
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        found[tuple(row[: len(keys)])].append(list(row))
    return dict(found)


def _recorded() -> dict[str, Any]:
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    known = {*REFUSED, *TAKEN}
    return {query: answer for query, answer in answers.items() if query not in known}


def _queries(*, soak: bool) -> list[str]:
    asked = RANDOM[_FEW:] if soak else (*WRITTEN, *RANDOM[:_FEW])
    answers = _recorded()
    return [query for query in asked if isinstance(answers.get(query), list)]


@pytest.mark.parametrize("soak", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_matches_equal_flinks(soak: bool, spark: SparkSession) -> None:
    """Matches equal Flink's row by row, in any micro-batches of the input."""
    answers = _recorded()
    queries = _queries(soak=soak)
    wrong = []
    for start in range(0, len(queries), _AT_ONCE):
        asked = queries[start : start + _AT_ONCE]
        tables = _tables(start)
        cases = [_case(query, tables) for query in asked]
        found = Replay(spark, tables, in_memory=True).changes(cases)
        for query, changes in zip(asked, found, strict=True):
            rows = [row for batch in changes for _, row in batch]
            ours = _by_partition(rows, query)
            flinks = _by_partition(answers[query], query)
            if ours != flinks:
                wrong.append(f"{query}\n  ours    {ours}\n  Flink's {flinks}")
    assert not wrong, "\n".join(wrong)


def test_state_is_removed_after_the_time_limit(spark: SparkSession) -> None:
    """State is removed after the time limit of the pattern, although no match completes.

    The time of the last row is far before the end of the input.
    """
    tables = _tables(3)
    endless = "B AS B.v >= 0 OR B.v IS NULL, C AS C.v > 100"
    case = _case(match_queries.query("A B+ C", endless, within="'3' SECOND"), tables)
    assert Replay(spark, tables, in_memory=True).state_size([case]) == (0, 0)


def test_a_condition_may_never_be_true(spark: SparkSession) -> None:
    """A condition that is never true gives no match; Spark's optimizer empties such a filter."""
    tables = _tables(4)
    case = _case(match_queries.query("A B", "B AS B.v > LAST(A.v) AND FALSE"), tables)
    (changes,) = Replay(spark, tables, in_memory=True).changes([case])
    assert not any(changes)


@pytest.mark.parametrize("query", (FAILING[0], FAILING[-1]), ids=("first row", "no row"))
def test_a_skip_without_a_row_fails(query: str, spark: SparkSession) -> None:
    tables = _tables(5)
    with pytest.raises(Py4JJavaError, match="AFTER MATCH SKIP TO"):
        Replay(spark, tables, in_memory=True).changes([_case(query, tables)])
