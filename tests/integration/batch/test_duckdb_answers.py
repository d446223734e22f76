"""DuckDB's answers of random queries equal those of Spark's SQL, over the same random histories."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import DataFrame
from sqlglot import exp
from tests.integration.batch.support import Answers

from streamtable.batch.answer import answer
from streamtable.catalog.duckdb_query import DuckDbQuery
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.source.scan import Scan, scans
from streamtable.runtime.proof.duckdb import DuckDbEngine
from streamtable.sql.duckdb import duckdb_sql
from streamtable.sql.parse import parse_query
from streamtable.testing.answers import as_json, rounded
from streamtable.testing.differential import case_of, universe
from streamtable.testing.folding import bag, listed
from streamtable.testing.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamtable.plan.sink.sink import Sink

_FOREVER = {"table.exec.state.ttl": "0 s"}


def _engine(plan: Sink, text: str) -> DuckDbEngine | None:
    """Return the engine of a query; None if the query is refused."""
    query = parse_query(text)
    for table in query.find_all(exp.Table):
        table.set("catalog", exp.to_identifier("c"))

    def refused(what: str, why: str) -> StreamtableError:
        return StreamtableError(
            Condition.NO_BATCH_ANSWER, table=plan.table.name, operator=what, reason=why
        )

    try:
        sql, has_star = duckdb_sql(query, lambda table: table.name, refused)
    except StreamtableError:
        return None
    tables = {scan.table.name: scan.table for scan in scans(plan.input)}
    columns = tuple(field.name for field in plan.input.fields)
    return DuckDbEngine(plan, DuckDbQuery(sql, tables, has_star), columns)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 40))]
)
def test_duckdb_agrees_with_spark_sql(seed: int, spark: SparkSession) -> None:
    given = universe(seed, queries=12)
    settings = {**given.settings, **_FOREVER}
    replay = Replay(spark, given.tables, settings)
    cases = [case_of(given, i) for i in range(len(given.queries))]
    plans = [replay.plan(one) for one in cases]
    engines = {i: _engine(plan, cases[i].flink) for i, plan in enumerate(plans)}
    *_, expected = replay.answers(cases)
    answers = Answers(spark, given.tables, settings)
    context = answers.context()

    def rows_of(scan: Scan) -> DataFrame:
        whole = replace(scan, fields=scan.table.schema.physical)
        rows = answer(whole, answers.context()).drop(ROW_KIND_COLUMN)
        return spark.createDataFrame(rows.toArrow())

    every = {scan.table.name: scan for plan in plans for scan in scans(plan.input)}
    tables = {name: rows_of(scan) for name, scan in every.items()}
    frames = []
    for i, engine in engines.items():
        if engine is not None:
            text = as_json([f.name for f in plans[i].input.fields])
            rows = engine(tables, context.lowering)
            frames.append(rows.selectExpr(f"{i} AS i", f"{text} AS text"))
    assert len(frames) >= len(cases) // 3
    texts = reduce(DataFrame.union, frames).collect()
    wrong = []
    for i, engine in engines.items():
        if engine is None:
            continue
        one = cases[i]
        rows = [json.loads(text, parse_float=rounded) for number, text in texts if number == i]
        found, wanted = bag(rows, one.heaps), bag(expected[i], one.heaps)
        if found != wanted:
            sides = f"found {listed(found)}\n  expected {listed(wanted)}"
            wrong.append(f"{one.flink}\n{engine.query.sql}\n  {sides}")
    assert not wrong, "\n\n".join(wrong)
