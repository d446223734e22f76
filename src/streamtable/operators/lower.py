"""Walks a plan and puts each node's DataFrame together."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.operators.arrival import lower_arrival_deduplicate, lower_arrival_over
from streamtable.operators.calc import lower_calc
from streamtable.operators.context import LoweringContext
from streamtable.operators.expand import lower_expand
from streamtable.operators.group_aggregate import lower_group_aggregate
from streamtable.operators.join import lower_join
from streamtable.operators.lookup_join import lower_lookup_join
from streamtable.operators.materialize import lower_materialize
from streamtable.operators.normalize import lower_normalize
from streamtable.operators.over import lower_deduplicate, lower_over_aggregate, lower_sorted_over
from streamtable.operators.repeat import lower_repeat
from streamtable.operators.scan import lower_scan
from streamtable.operators.session import lower_session_aggregate, lower_session_table
from streamtable.operators.time_joins import (
    lower_interval_join,
    lower_temporal_join,
    lower_window_join,
)
from streamtable.operators.top_n import lower_top_n
from streamtable.operators.upserts import lower_upserts
from streamtable.operators.values import lower_static_table, lower_values
from streamtable.operators.watermark import lower_versions, lower_watermark
from streamtable.operators.window import (
    lower_window_aggregate,
    lower_window_table,
    lower_window_top_n,
)
from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.expand_node import Expand
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, EventTimeNode, GroupAggregate, Node, UnionAll
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.source_nodes import Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_attributes import session_below
from streamtable.plan.time_joins import IntervalJoin, TemporalJoin, WindowJoin
from streamtable.plan.time_nodes import (
    SessionTable,
    TimeOperator,
    WatermarkAssigner,
    WindowAggregate,
    WindowTable,
    WindowTopN,
)


def lower(node: Node, context: LoweringContext) -> DataFrame:  # noqa: C901 - a case for each node
    """The changelog of a node: row kind, then its fields."""
    match node:
        case Scan():
            return lower_scan(node, context)
        case Values():
            return lower_values(node, context)
        case StaticTable():
            return lower_static_table(node, context)
        case Normalize():
            return lower_normalize(node, context)
        case Calc():
            return lower_calc(node, lower(node.input, context), context)
        case Expand():
            return lower_expand(node, lower(node.input, context))
        case GroupAggregate():
            return lower_group_aggregate(node, lower(node.input, context), context)
        case Join():
            left = _lower_side(node.left, context, upserts=node.left_upserts is not None)
            right = _lower_side(node.right, context, upserts=node.right_upserts is not None)
            return lower_join(node, left, right, context)
        case TopN():
            return lower_top_n(node, lower(node.input, context), context)
        case Repeat():
            return lower_repeat(node, lower(node.input, context))
        case Materialize():
            return lower_materialize(node, lower(node.input, context), context)
        case UnionAll():
            return _lower_union(node, context)
        case TimeOperator():
            return _lower_in_time(node, context)


def _lower_in_time(  # noqa: C901 - a case for each node
    node: EventTimeNode,
    context: LoweringContext,
) -> DataFrame:
    match node:
        case TemporalJoin():
            versions = lower_versions(node.right, context)
            return lower_temporal_join(node, lower(node.left, context), versions, context)
        case IntervalJoin():
            left, right = (lower(child, context) for child in node.inputs)
            return lower_interval_join(node, left, right, context)
        case WindowJoin():
            left, right = (lower(child, context) for child in node.inputs)
            return lower_window_join(node, left, right, context)
        case WatermarkAssigner():
            return lower_watermark(node, context)
        case SessionTable():
            return lower_session_table(node, lower(node.input, context), context)
        case WindowTable():
            return lower_window_table(node, lower(node.input, context))
        case WindowAggregate() if session_below(node) is not None:
            return lower_session_aggregate(node, lower(node.input, context), context)
        case WindowAggregate():
            return lower_window_aggregate(node, lower(node.input, context), context)
        case WindowTopN():
            return lower_window_top_n(node, lower(node.input, context), context)
        case OverAggregate():
            return lower_over_aggregate(node, lower(node.input, context), context)
        case SortedOver():
            return lower_sorted_over(node, lower(node.input, context), context)
        case Deduplicate():
            return lower_deduplicate(node, lower(node.input, context), context)
        case LookupJoin():
            return lower_lookup_join(node, lower(node.input, context), context)
        case ArrivalOver():
            return lower_arrival_over(node, lower(node.input, context), context)
        case ArrivalDeduplicate():
            return lower_arrival_deduplicate(node, lower(node.input, context), context)


def _lower_side(node: Node, context: LoweringContext, *, upserts: bool) -> DataFrame:
    return lower_upserts(node, context) if upserts else lower(node, context)


def _lower_union(node: UnionAll, context: LoweringContext) -> DataFrame:
    columns = [quote(name) for name in (ROW_KIND_COLUMN, *(f.name for f in node.fields))]
    first, *others = (lower(child, context).select(*columns) for child in node.inputs)
    for other in others:
        first = first.union(other)
    return first
