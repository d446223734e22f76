"""`Values` and `StaticTable` -> a stream that emits its rows once, also across restarts."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.source.static_table import StaticTable
from streamtable.plan.source.values import Values


def lower_values(node: Values, context: LoweringContext) -> DataFrame:
    """Lower VALUES: emit the rows as inserts in the first batch of the query."""
    return rows_of(node, _once(context))


def lower_static_table(node: StaticTable, context: LoweringContext) -> DataFrame:
    """Lower a static table: emit the rows as inserts in the first batch of the query."""
    given = given_rows(node)
    return _once(context).select().join(given).select(*given.columns)


def given_rows(node: StaticTable) -> DataFrame:
    """Return the rows of a program's DataFrame as inserts."""
    assert isinstance(node.rows, DataFrame), "the session takes nothing else"  # noqa: S101
    return node.rows.selectExpr(
        f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}", *(quote(f.name) for f in node.fields)
    )


def _once(context: LoweringContext) -> DataFrame:
    """Return a stream with one row in the first batch of the query.

    The row is the only line of a file in the checkpoint directory. Spark's file source stores in
    the checkpoint that it has read the file.
    """
    return (
        context.spark.readStream.format("text")
        # With names instead of paths, a checkpoint stays valid after it has been moved.
        .option("fileNameOnly", "true")
        .load(context.one_line())
    )


def rows_of(node: Values, marker: DataFrame) -> DataFrame:
    """Return the rows of VALUES, for each row of a DataFrame, as inserts."""
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
