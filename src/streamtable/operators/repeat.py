"""`Repeat` -> Spark's own `explode`: as many copies of a row as its count says."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.plan.stateful_nodes import Repeat

_COPY = "__copy"


def lower_repeat(node: Repeat, rows: DataFrame) -> DataFrame:
    """Every copy comes as an insert and goes as a delete."""
    count = quote(node.count)
    kinds = f"({RowKind.INSERT.value}, {RowKind.UPDATE_AFTER.value})"
    kind = (
        f"CAST(CASE WHEN {ROW_KIND_COLUMN} IN {kinds} THEN {RowKind.INSERT.value}"
        f" ELSE {RowKind.DELETE.value} END AS TINYINT) AS {ROW_KIND_COLUMN}"
    )
    columns = [quote(field.name) for field in node.fields]
    copies = f"explode(array_repeat(0, CAST({count} AS INT))) AS {_COPY}"
    repeated = rows.where(f"{count} > 0").selectExpr(kind, *columns, copies)
    return repeated.drop(_COPY)
