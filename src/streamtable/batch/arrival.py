"""Inputs whose order is that of arrival, which a batch does not know."""

from __future__ import annotations

from streamtable.batch.context import BatchContext
from streamtable.plan.node import Key, Node
from streamtable.plan.position import POSITION_NAMES
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rules.tree import every
from streamtable.plan.source.scan import Scan, scans
from streamtable.plan.window.watermark import WatermarkAssigner

#: Operators whose rows have different positions, above a scan.
_ONE_ROW_EACH = (Scan, Calc, WatermarkAssigner)


def arrival_decides(node: Node, order: Key, context: BatchContext) -> str:
    """Return Spark SQL over a group of rows: whether only their arrival orders them.

    Args:
        node: the operator that emits the rows.
        order: its fields that order rows; they may be positions.
        context: the context of the answer.
    """
    below = scans(node)
    positioned = set(POSITION_NAMES) <= set(order) and node.mode.is_append
    if not positioned or len(below) != 1 or context.merged(below[0]):
        return "count(*) > 1"
    partition = POSITION_NAMES[0]
    several = f"min({partition}) <> max({partition})"
    if not all(isinstance(part, _ONE_ROW_EACH) for part in every(node)):
        several += f" OR count(DISTINCT struct({', '.join(order)})) < count(*)"
    return several
