"""`Values` and `StaticTable` -> a stream that gives their rows once, across restarts too."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.source_nodes import StaticTable, Values


def lower_values(node: Values, context: LoweringContext) -> DataFrame:
    """The rows as inserts, in the first batch of the query's life."""
    return rows_of(node, _once(context))


def lower_static_table(node: StaticTable, context: LoweringContext) -> DataFrame:
    """The rows as inserts, in the first batch of the query's life."""
    given = given_rows(node)
    return _once(context).select().join(given).select(*given.columns)


def given_rows(node: StaticTable) -> DataFrame:
    """The rows that a program has given, as inserts."""
    assert isinstance(node.rows, DataFrame), "the session takes nothing else"  # noqa: S101
    return node.rows.selectExpr(
        f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}", *(quote(f.name) for f in node.fields)
    )


def _once(context: LoweringContext) -> DataFrame:
    """One row in the first batch of the query's life.

    It is the one line of a file beside the checkpoint: Spark's file source remembers that it has
    read it.
    """
    return (
        context.spark.readStream.format("text")
        # A checkpoint that was moved keeps what it remembers.
        .option("fileNameOnly", "true")
        .load(context.one_line())
    )


def rows_of(node: Values, marker: DataFrame) -> DataFrame:
    """The rows for each row of a DataFrame, as inserts."""
    columns = [quote(f.name) for f in node.fields]
    rows = (
        f"struct({', '.join(['0 AS __place', *map(_named, row, columns)])})" for row in node.rows
    )
    return marker.selectExpr(f"explode(array({', '.join(rows)})) AS __value").selectExpr(
        f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}",
        *(f"__value.{column}" for column in columns),
    )


def _named(sql: str, column: str) -> str:
    return f"{sql} AS {column}"
