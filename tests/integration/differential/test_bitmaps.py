"""BITMAP functions return Flink's answers, and equal Spark's answers over tables with deletes."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from tests.compat.bitmaps.bitmaps_queries import (
    ADDED,
    CHANGELOGS,
    CHANGES,
    COLUMNS,
    END,
    EXPRESSIONS,
    QUERIES,
    REFUSED,
    TABLES,
    TIMED,
    TIMED_COLUMNS,
    WATERMARK,
)
from tests.compat.functions.functions_answers import expression, same_type, spark_value
from tests.integration.differential.support import Query, Source, check, telling
from tests.integration.event_time.support import ONE_TASK

from streamtable.core.changelog import RowKind
from streamtable.core.errors import StreamtableError
from streamtable.core.types import BYTES_ROOTS, Root
from streamtable.plan.binding.expressions import Binder, Input
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.cases import Case
from streamtable.testing.histories import random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.plan.binding.bound import Bound

_RECORD = Path(__file__).parents[2] / "compat" / "bitmaps" / "bitmaps.json"
_ANSWERS: dict[str, Any] = json.loads(_RECORD.read_text(encoding="utf-8"))
_KINDS = {kind.short: kind for kind in RowKind}
_TABLES = {
    "changes": Recorded(Style.CHANGES, COLUMNS, [[(_KINDS[k], row)] for k, row in CHANGES]),
    "added": Recorded(Style.APPEND, COLUMNS, [[(_KINDS[k], row)] for k, row in ADDED]),
    "timed": Recorded(
        Style.APPEND,
        TIMED_COLUMNS,
        [[(RowKind.INSERT, row)] for row in TIMED],
        f"WATERMARK FOR ts AS {WATERMARK}",
    ),
}
#: Expressions that only Flink rejects: it cannot compare a BITMAP with a nullable BITMAP.
_LENIENT = {text for text in EXPRESSIONS if "IS NOT DISTINCT FROM" in text}
#: {1, 2} stored as a run, which is as long as a list of the values.
_RUN = "X'3b3000000100000100010001000100'"


def test_every_answer_is_recorded() -> None:
    assert set(_ANSWERS["expressions"]) == set(EXPRESSIONS)
    assert set(_ANSWERS["queries"]) == set(QUERIES)
    assert set(_ANSWERS["refused"]) == set(REFUSED)


def _bound(text: str) -> Bound | None:
    try:
        return Binder(Input()).bind(expression(text))
    except StreamtableError:
        return None


def _shown(bound: Bound) -> str:
    """Return the SQL of an expression with BITMAPs as text, as in the record."""
    if bound.type.root is Root.BITMAP:
        return f"flink_bitmap_to_string({bound.sql})"
    if bound.type.root is Root.ARRAY and bound.type.holds(Root.BITMAP):
        return f"transform({bound.sql}, b -> flink_bitmap_to_string(b))"
    return bound.sql


def test_expressions_equal_flinks(spark: SparkSession) -> None:
    answers = _ANSWERS["expressions"]
    found = {text: _bound(text) for text in EXPRESSIONS}
    bound = {text: one for text, one in found.items() if one is not None}
    assert bound.keys() == {t for t in EXPRESSIONS if "error" not in answers[t]} | _LENIENT
    given = [text for text in bound if "value" in answers[text]]
    types = {text: same_type(answers[text]["type"]) for text in given}
    assert {text: bound[text].type.sql() for text in given} == types
    (row,) = spark.range(1).selectExpr(*(_shown(bound[text]) for text in given)).collect()
    values = {text: spark_value(value) for text, value in zip(given, row, strict=True)}
    assert values == {text: answers[text]["value"] for text in given}


@pytest.mark.parametrize("text", [t for t in EXPRESSIONS if "fails" in _ANSWERS["expressions"][t]])
def test_invalid_bitmap_bytes_fail(spark: SparkSession, text: str) -> None:
    bound = _bound(text)
    assert bound is not None
    assert _ANSWERS["expressions"][text]["fails"].startswith("Failed to deserialize bitmap")
    with pytest.raises(PySparkException, match="Failed to deserialize bitmap from bytes"):
        spark.range(1).selectExpr(bound.sql).collect()


def test_equal_sets_have_equal_bytes(spark: SparkSession) -> None:
    """Equal sets have equal bytes, because bytes are keys of state.

    Flink instead keeps a run that is as long as a list.
    """
    bound = _bound(f"BITMAP_TO_BYTES(BITMAP_FROM_BYTES({_RUN}))")
    plain = _bound("BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[1, 2]))")
    assert bound is not None
    assert plain is not None
    (row,) = spark.range(1).selectExpr(bound.sql, plain.sql).collect()
    assert row[0] == row[1]


@pytest.mark.parametrize("phases", ["ONE_PHASE", "TWO_PHASE"])
def test_changelogs_equal_flinks(spark: SparkSession, phases: str) -> None:
    cases = [_case(query) for query in CHANGELOGS]
    settings = {"table.optimizer.agg-phase-strategy": phases}
    found = Replay(spark, _TABLES, settings, in_memory=True).changes(cases)
    wrong = []
    for query, batches in zip(CHANGELOGS, found, strict=True):
        ours = [[kind.short, _same(query, row)] for changes in batches for kind, row in changes]
        flinks = telling(_ANSWERS["queries"][query])
        if ours != flinks:
            wrong.append(f"{query}\n  ours    {ours}\n  Flink's {flinks}")
    assert not wrong, "\n".join(wrong)


def test_final_tables_equal_flinks(spark: SparkSession) -> None:
    found = Replay(spark, _TABLES, in_memory=True).changes([_case(query) for query in TABLES])
    wrong = []
    for query, batches in zip(TABLES, found, strict=True):
        ours = _net([kind.short, _same(query, row)] for changes in batches for kind, row in changes)
        flinks = _net(_ANSWERS["queries"][query])
        if ours != flinks:
            wrong.append(f"{query}\n  ours    {ours}\n  Flink's {flinks}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("query", REFUSED)
def test_queries_that_flink_refuses_are_refused(query: str) -> None:
    assert isinstance(_ANSWERS["refused"][query], str)
    with pytest.raises(StreamtableError):
        planned(query, _TABLES)


def _case(query: str) -> Case:
    """Return the query with a sink of a full changelog, whose columns have the query's types."""
    fields = [column.field for column in planned(query, _TABLES).columns]
    return Case(sink(fields), query, query)


@cache
def _kinds(query: str) -> list[Root]:
    return [column.field.type.root for column in planned(query, _TABLES).columns]


def _same(query: str, row: list[Any]) -> list[Any]:
    """Return a row as in the record, with bytes in hex; Spark's JSON has bytes in base64."""
    kinds = _kinds(query)
    return [
        "hex:" + base64.b64decode(value).hex() if kind in BYTES_ROOTS and value else value
        for kind, value in zip(kinds, row, strict=True)
    ]


def _net(changes: Any) -> Counter[str]:
    """Return the rows that remain after all changes, without the last row of the timed table."""
    table: Counter[str] = Counter()
    for kind, row in changes:
        if END not in row[:2]:
            table[json.dumps(row)] += 1 if kind in ("+I", "+U") else -1
    return +table


_SETS = "collect_list(array(v, w)) FILTER (WHERE v IS NOT NULL)"
_ALL = f"flatten({_SETS})"
_DIFFERENT = f"flatten({_SETS.replace('collect_list', 'collect_set')})"
_B = "BITMAP_BUILD(CASE WHEN v IS NOT NULL THEN ARRAY[v, w] END)"


def _odd(items: str) -> str:
    """Return a SQL expression for the elements that occur an odd number of times."""
    return f"filter(array_distinct({items}), e -> size(filter({items}, x -> x = e)) % 2 = 1)"


#: Operation, value, and the elements in Spark's SQL.
_AGGREGATES = (
    ("BUILD", "v", "collect_set(v)"),
    (
        "AND",
        _B,
        (
            f"reduce({_SETS}, CAST(NULL AS ARRAY<INT>),"
            " (a, b) -> if(a IS NULL, b, array_intersect(a, b)))"
        ),
    ),
    ("OR", _B, f"array_distinct({_ALL})"),
    ("XOR", _B, _odd(_ALL)),
    ("XOR", f"DISTINCT {_B}", _odd(_DIFFERENT)),
)
_FLINK = ", ".join(
    f"BITMAP_TO_STRING(BITMAP_{operation}_AGG({value})),"
    f" BITMAP_{operation}_CARDINALITY_AGG({value})"
    for operation, value, _ in _AGGREGATES
)
_SPARK = ", ".join(
    f"CASE WHEN COUNT(v) > 0 THEN concat('{{', array_join(array_sort({items}), ','), '}}') END,"
    f" CASE WHEN COUNT(v) > 0 THEN CAST(size({items}) AS BIGINT) END"
    for _, _, items in _AGGREGATES
)
_QUERIES = {
    "all": Query(
        (0,),
        f"SELECT COALESCE(g, 'none'), {_FLINK} FROM t GROUP BY COALESCE(g, 'none')",
        f"SELECT COALESCE(g, 'none'), {_SPARK} FROM t GROUP BY COALESCE(g, 'none')",
    )
}


def _values(source: random.Random) -> dict[str, Any]:
    # v and w always differ: an array of equal numbers would be another set.
    return {
        "g": source.choice([None, "a", "b", "c"]),
        "v": source.choice([None, *range(5)]),
        "w": source.choice([5, 6, 70_000]),
    }


@pytest.mark.parametrize("phases", ["ONE_PHASE", "TWO_PHASE"])
@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 24))]
)
def test_folded_output_equals_batch(seed: int, phases: str, spark: SparkSession) -> None:
    history = random_history(seed, length=150, keys=12, make=_values)
    sources = {"t": Source("k INT, g STRING, v INT, w INT", history)}
    settings = {"table.optimizer.agg-phase-strategy": phases}
    assert check(spark, seed, sources, _QUERIES, settings) == 0


_JOB = """
CREATE TABLE t (k INT, g STRING, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset', 'properties.bootstrap.servers' = '${servers}');
CREATE TABLE sets (g STRING, bits BYTES, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-sets', 'key.format' = 'json',
  'value.format' = 'json', 'properties.bootstrap.servers' = '${servers}');
INSERT INTO sets SELECT g, BITMAP_TO_BYTES(BITMAP_BUILD_AGG(v)), BITMAP_BUILD_CARDINALITY_AGG(v)
  FROM t WHERE g IS NOT NULL GROUP BY g;
"""


def test_bitmaps_go_into_a_topic(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Micro-batches and real-time mode alternate on one checkpoint."""
    source, servers = topic("t", partitions=1), broker.bootstrap_servers
    run = BoundedRun(spark, _JOB, tmp_path / "c", {"source": source, "servers": servers})
    history = random_history(5, length=60, keys=9, make=_values)
    sizes = (30, 50, 60)
    live: dict[int, dict[str, Any]] = {}
    start = 0
    for size, mode in zip(sizes, ("micro-batch", "real-time", "micro-batch"), strict=True):
        events = []
        for change in history[start:size]:
            before = live.pop(change.key, None)
            after = None if change.values is None else {"k": change.key, **change.values}
            if after is not None:
                live[change.key] = after
            if before or after:
                op = "d" if after is None else "u" if before else "c"
                events.append({"before": before, "after": after, "op": op})
        produce_json(servers, source, events)
        start = size
        groups: dict[str, set[int]] = {}
        for row in live.values():
            if row["g"] is not None:
                groups.setdefault(row["g"], set()).update([] if row["v"] is None else [row["v"]])
        expected = {
            (g,): {"g": g, "bits": _bits(spark, values), "n": len(values) or None}
            for g, values in groups.items()
        }
        with set_for_a_while(spark, ONE_TASK):
            if mode == "real-time":
                run.until(lambda to=expected: run.rows("sets") == to, {"execution.mode": mode})
            else:
                run({"execution.mode": mode})
        assert run.rows("sets") == expected


def _bits(spark: SparkSession, values: set[int]) -> str | None:
    """Return the bytes of a set in base64, as JSON has them; None for an empty set."""
    if not values:
        return None
    built = f"base64(flink_bitmap_build(array({', '.join(map(str, values))})))"
    (row,) = spark.range(1).selectExpr(built).collect()
    return str(row[0])
