"""Upserts on their way to an operator that keeps the last row of each key by itself."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import InternalError
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.operators.scan import lower_scan
from streamtable.plan.keys import decided_by_key, decided_fields
from streamtable.plan.nodes import Calc, Node
from streamtable.plan.source_nodes import Scan

#: What comes after the fields, with its type: by it the operator knows which row is the last.
POSITIONS = (("__partition", "INT"), ("__offset", "BIGINT"))


def lower_upserts(node: Node, context: LoweringContext) -> DataFrame:
    """Row kind, the node's fields, then Kafka's partition and offset.

    A row that a filter stops comes as the delete of its key. A delete has no columns but those that
    the key decides; nothing else is computed for it.
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
    decided = decided_fields(node, decided_by_key(node.input) or frozenset())
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
