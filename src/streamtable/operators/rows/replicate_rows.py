"""`ReplicateRows` -> Spark's own `explode`: replicates each row by its count column."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.types import quote
from streamtable.operators.rows.kinds import row_kind
from streamtable.plan.rows.replicate_rows import ReplicateRows

_COPY = "__copy"


def lower_replicate_rows(node: ReplicateRows, rows: DataFrame) -> DataFrame:
    """Lower a replication, whose output has only inserts and deletes."""
    count = quote(node.count)
    columns = [quote(field.name) for field in node.fields]
    copies = f"explode(array_repeat(0, CAST({count} AS INT))) AS {_COPY}"
    repeated = rows.where(f"{count} > 0").selectExpr(row_kind(node.mode), *columns, copies)
    return repeated.drop(_COPY)
