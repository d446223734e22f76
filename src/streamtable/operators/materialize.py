"""`Materialize` -> `MaterializeProcessor`: the row of each key, in an order of its own making."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.types import spark_ddl
from streamtable.jvm.stateful import materialize
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.stateful_nodes import Materialize


def lower_materialize(node: Materialize, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """At most one change per key and batch."""
    names = [ROW_KIND_COLUMN, *(f.name for f in node.input.fields)]
    return materialize(
        context.bridge,
        rows,
        keys=node.key,
        row_ddl=spark_ddl(node.fields),
        order=[names.index(name) for name in node.order],
        ttl_ms=milliseconds(node.ttl),
        output_ddl=changelog_ddl(node.fields),
    )
