"""`LookupJoin` -> Spark's broadcast join of a stream with a static table."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.functions import broadcast, expr

from streamtable.core.errors import InternalError
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.calc import lower_calc
from streamtable.operators.rows.deletes import IS_LIVE, matches_no_delete
from streamtable.operators.rows.kinds import row_kind
from streamtable.operators.source.values import given_rows, rows_of
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.static_table import StaticTable
from streamtable.plan.source.values import Values


def lower_lookup_join(
    node: LookupJoin, rows: DataFrame, context: LoweringContext, kept: Sequence[str] = ()
) -> DataFrame:
    """Lower a lookup join, which emits each row once for every matching row of the table.

    Args:
        node: the join.
        rows: its input.
        context: the job's lowering context.
        kept: additional columns of the input that pass through.
    """
    table = _table(node.table, context).select(*(quote(f.name) for f in node.table.fields))
    parts = [IS_LIVE] if matches_no_delete(node) else []
    parts += [f"({node.condition})"] if node.condition is not None else []
    condition = expr(" AND ".join(parts) or "TRUE")
    kind = "left" if node.kind.pads_right else "inner"
    joined = rows.join(broadcast(table), condition, kind)
    return joined.selectExpr(row_kind(node.mode), *(quote(f.name) for f in node.fields), *kept)


def _table(node: Node, context: LoweringContext) -> DataFrame:
    match node:
        case Values():
            return rows_of(node, context.spark.range(0, 1, 1, numPartitions=1))
        case StaticTable():
            rows = given_rows(node)
            # The Spark job that collects the rows must not take slots of other queries.
            return rows.coalesce(1) if context.mode is ExecutionMode.REAL_TIME else rows
        case Calc():
            return lower_calc(node, _table(node.input, context), context)
        case _:
            msg = f"a table for lookups that reads a topic: {type(node).__name__}"
            raise InternalError(msg)
