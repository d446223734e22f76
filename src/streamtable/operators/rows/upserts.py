"""Lowering of upserts for operators that keep the last row of each key themselves."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import InternalError
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.calc import expressions
from streamtable.operators.rows.deletes import kind_if
from streamtable.operators.source.scan import lower_scan
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.scan import Scan

#: Columns after the fields, with their types. The operator uses them to find the last row.
POSITIONS = (("__partition", "INT"), ("__offset", "BIGINT"))


def lower_upserts(node: Node, context: LoweringContext) -> DataFrame:
    """Lower a node to upserts: row kind, the node's fields, then partition and offset.

    A row that a filter drops becomes the delete of its key. Deletes may carry only their key, and
    columns that depend on other fields are NULL and are not computed.
    """
    match node:
        case Scan():
            return lower_scan(node, context, positions=True)
        case Calc():
            return _projected(node, lower_upserts(node.input, context))
        case _:
            msg = f"upserts of {type(node).__name__}"
            raise InternalError(msg)


def _projected(node: Calc, rows: DataFrame) -> DataFrame:
    rows, condition, columns = expressions(node, rows)
    if condition:
        rows = rows.withColumn(ROW_KIND_COLUMN, F.expr(kind_if(condition, rows)))
    return rows.selectExpr(ROW_KIND_COLUMN, *columns, *(name for name, _ in POSITIONS))
