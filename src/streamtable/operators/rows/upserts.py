"""Lowering of upserts for operators that keep the last row of each key themselves."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import InternalError
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.operators.source.scan import lower_scan
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.scan import Scan

#: Columns after the fields, with their types. The operator uses them to find the last row.
POSITIONS = (("__partition", "INT"), ("__offset", "BIGINT"))


def lower_upserts(node: Node, context: LoweringContext) -> DataFrame:
    """Lower a node to upserts: row kind, the node's fields, then partition and offset.

    A row that a filter drops becomes the delete of its key. A delete has only the columns that
    depend on the key alone; its other columns are NULL and are not computed.
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
    decided = node.decided_fields(node.input.decided_by_key() or frozenset())
    columns = []
    for projection in node.projections:
        name, sql = projection.field.name, projection.sql
        if name not in decided:
            sql = f"if({ROW_KIND_COLUMN} = {RowKind.DELETE.value}, NULL, {sql})"
        columns.append(f"{sql} AS {quote(name)}")
    if node.condition is not None:
        kind = f"if({node.condition}, {ROW_KIND_COLUMN}, {RowKind.DELETE.value}Y)"
        fields = [quote(f.name) for f in node.input.fields]
        rows = rows.selectExpr(f"{kind} AS {ROW_KIND_COLUMN}", *fields, *_names())
    return rows.selectExpr(ROW_KIND_COLUMN, *columns, *_names())


def _names() -> list[str]:
    return [name for name, _ in POSITIONS]
