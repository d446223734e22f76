"""CURRENT_TIMESTAMP and similar functions read the clock once per row, for all their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field
from streamtable.operators.rows.calc import lower_calc
from streamtable.plan.binding.expressions import Binder, Input
from streamtable.plan.rows.calc import Calc, Projection
from streamtable.plan.source.values import Values
from streamtable.sql.parse import parse_expression

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Number of rows that takes any machine longer than a millisecond, the clock's resolution.
_ROWS = 2_000_000


def _calc(rows: DataFrame, *expressions: str, condition: str | None = None) -> DataFrame:
    binder = Binder(Input())
    bound = [binder.bind(parse_expression(text)) for text in expressions]
    kinds = [Field(f"c{i}", b.type) for i, b in enumerate(bound)]
    projections = tuple(Projection(field, b.sql) for field, b in zip(kinds, bound, strict=True))
    where = binder.bind(parse_expression(condition)).sql if condition else None
    node = Calc(Values((), ()), projections, condition=where)
    return lower_calc(
        node, rows.selectExpr(f"CAST(0 AS TINYINT) AS `{ROW_KIND_COLUMN}`"), cast("Any", None)
    )


def test_current_timestamp_differs_between_rows(spark: SparkSession) -> None:
    found = _calc(spark.range(0, _ROWS, 1, 1).toDF("id"), "CURRENT_TIMESTAMP")
    first, last, moments = found.agg(
        F.min("c0"), F.max("c0"), F.count_distinct(F.col("c0"))
    ).collect()[0]
    assert first < last
    assert moments > 1


def test_time_functions_are_equal_within_a_row(spark: SparkSession) -> None:
    rows = spark.range(0, _ROWS, 1, 1).toDF("id")
    found = _calc(
        rows,
        "CURRENT_TIMESTAMP",
        "CAST(LOCALTIMESTAMP AS TIMESTAMP_LTZ(3))",
        "NOW()",
        "PROCTIME()",
        condition="CURRENT_TIMESTAMP > TIMESTAMP '2020-01-01 00:00:00'",
    )
    assert found.where("NOT (c0 = c1 AND c1 = c2 AND c2 = c3)").count() == 0
    assert found.count() == _ROWS


def test_time_functions_in_string_literals_are_kept(spark: SparkSession) -> None:
    rows = spark.range(0, 1, 1, 1).toDF("id")
    found = _calc(rows, "'flink_now()'", "'it''s flink_now()'", "CURRENT_TIMESTAMP").collect()
    assert [tuple(row)[1:3] for row in found] == [("flink_now()", "it's flink_now()")]
