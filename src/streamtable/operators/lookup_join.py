"""`LookupJoin` -> Spark's join of a stream with a table that every task holds."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.functions import broadcast, expr, lit

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import InternalError
from streamtable.core.types import quote
from streamtable.operators.calc import lower_calc
from streamtable.operators.context import LoweringContext
from streamtable.operators.values import given_rows, rows_of
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, Node
from streamtable.plan.source_nodes import StaticTable, Values


def lower_lookup_join(node: LookupJoin, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Each row once for every row of the table that fits it."""
    table = _table(node.table, context).select(*(quote(f.name) for f in node.table.fields))
    condition = lit(True) if node.condition is None else expr(node.condition)
    kind = "left" if node.kind.pads_right else "inner"
    joined = rows.join(broadcast(table), condition, kind)
    return joined.select(ROW_KIND_COLUMN, *(quote(f.name) for f in node.fields))


def _table(node: Node, context: LoweringContext) -> DataFrame:
    match node:
        case Values():
            return rows_of(node, context.spark.range(1))
        case StaticTable():
            return given_rows(node)
        case Calc():
            return lower_calc(node, _table(node.input, context), context)
        case _:
            msg = f"a table for lookups that reads a topic: {type(node).__name__}"
            raise InternalError(msg)
