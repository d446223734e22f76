"""`Materialize` -> `MaterializeProcessor`: the last row of each sink key.

The processor keeps all rows of a key. It applies the changes of a batch in the order of `order`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.types import spark_ddl
from streamtable.jvm.specs.changelog import MaterializeOperator
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl, positions
from streamtable.plan.keys import removal_key
from streamtable.plan.sink.materialize import Materialize


def lower_materialize(node: Materialize, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a materializer, which emits at most one change per key and batch."""
    names = [ROW_KIND_COLUMN, *(f.name for f in node.input.fields)]
    return context.bridge.operator(
        rows,
        MaterializeOperator(
            keys=node.key,
            row_ddl=spark_ddl(node.fields),
            order=[names.index(name) for name in node.order],
            unique=node.is_unique,
            begins=node.input.retracts_first,
            row_key=positions(removal_key(node.input, expires=node.expires), node.fields),
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(node.fields),
        ),
    )
