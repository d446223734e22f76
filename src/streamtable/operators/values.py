"""`Values` -> a stream that gives the rows of a query once, across restarts too."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.nodes import Values


def lower_values(node: Values, context: LoweringContext) -> DataFrame:
    """The rows as inserts, in the first batch of the query's life.

    They are made of the one line of a file beside the checkpoint: Spark's file source remembers
    that it has read it.
    """
    columns = [quote(f.name) for f in node.fields]
    rows = (
        f"struct({', '.join(['0 AS __place', *map(_named, row, columns)])})" for row in node.rows
    )
    marker = (
        context.spark.readStream.format("text")
        # A checkpoint that was moved keeps what it remembers.
        .option("fileNameOnly", "true")
        .load(context.one_line())
    )
    return marker.selectExpr(f"explode(array({', '.join(rows)})) AS __value").selectExpr(
        f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}",
        *(f"__value.{column}" for column in columns),
    )


def _named(sql: str, column: str) -> str:
    return f"{sql} AS {column}"
