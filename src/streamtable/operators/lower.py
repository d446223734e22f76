"""Registry of all lowerings, and the traversal that lowers a plan to a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Concatenate

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import InternalError
from streamtable.core.types import quote
from streamtable.operators.aggregate.group_aggregate import lower_group_aggregate
from streamtable.operators.context import LoweringContext
from streamtable.operators.join.connector_lookup_join import lower_connector_lookup_join
from streamtable.operators.join.join import lower_join
from streamtable.operators.join.lookup_join import lower_lookup_join
from streamtable.operators.join.time_joins import (
    lower_interval_join,
    lower_temporal_join,
    lower_window_join,
)
from streamtable.operators.match.match import lower_match
from streamtable.operators.over.over import (
    lower_deduplicate,
    lower_over_aggregate,
    lower_sorted_over,
    lower_temporal_sort,
)
from streamtable.operators.over.processing_time import (
    lower_processing_time_deduplicate,
    lower_processing_time_over,
)
from streamtable.operators.rank.limit import lower_limit
from streamtable.operators.rank.top_n import lower_top_n
from streamtable.operators.rows.calc import lower_calc
from streamtable.operators.rows.changelog_functions import (
    lower_from_changelog,
    lower_to_changelog,
)
from streamtable.operators.rows.expand import lower_expand
from streamtable.operators.rows.materialize import lower_materialize
from streamtable.operators.rows.normalize import lower_normalize
from streamtable.operators.rows.replicate_rows import lower_replicate_rows
from streamtable.operators.rows.upserts import lower_upserts
from streamtable.operators.sink.exchange import lower_exchange
from streamtable.operators.source.scan import lower_scan
from streamtable.operators.source.values import lower_static_table, lower_values
from streamtable.operators.source.watermark import lower_versions, lower_watermark
from streamtable.operators.window.session import (
    lower_merged_sessions,
    lower_session_aggregate,
    lower_session_table,
)
from streamtable.operators.window.slices import lower_sliced_windows
from streamtable.operators.window.window import (
    lower_window_aggregate,
    lower_window_table,
    lower_window_top_n,
)
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.join.connector_lookup_join import ConnectorLookupJoin
from streamtable.plan.join.interval_join import IntervalJoin
from streamtable.plan.join.join import Join
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.join.temporal_join import TemporalJoin, UpdatingTemporalJoin
from streamtable.plan.join.window_join import WindowJoin
from streamtable.plan.match.match import MatchRecognize, ProcessingTimeMatch
from streamtable.plan.node import Node
from streamtable.plan.over.over_aggregate import OverAggregate
from streamtable.plan.over.processing_time_over import ProcessingTimeOver
from streamtable.plan.over.sorted_over import SortedOver
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.limit import Limit
from streamtable.plan.rank.processing_time_deduplicate import ProcessingTimeDeduplicate
from streamtable.plan.rank.temporal_sort import TemporalSort
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rows.changelog_functions import FromChangelog, ToChangelog
from streamtable.plan.rows.expand import Expand
from streamtable.plan.rows.replicate_rows import ReplicateRows
from streamtable.plan.rows.union_all import UnionAll
from streamtable.plan.sink.exchange import Exchange
from streamtable.plan.sink.materialize import Materialize
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.source.scan import Scan
from streamtable.plan.source.static_table import StaticTable
from streamtable.plan.source.values import Values
from streamtable.plan.window.watermark import WatermarkAssigner
from streamtable.plan.window.window_aggregate import MergedWindowAggregate, WindowAggregate
from streamtable.plan.window.window_table import SessionTable, WindowTable
from streamtable.plan.window.window_top_n import WindowTopN

#: Maps an operator of the registered class to its changelog.
Lowering = Callable[[Any, LoweringContext], DataFrame]


def lower(node: Node, context: LoweringContext) -> DataFrame:
    """Lower a node to its changelog: row kind, then the fields of the node."""
    found = LOWERINGS.get(type(node))
    if found is None:
        msg = f"no lowering of {type(node).__name__}"
        raise InternalError(msg)
    if context.equal_parts is None:
        return found(node, context)
    return context.equal_parts.of(node, lambda: found(node, context))


def _over(lowering: Callable[Concatenate[Any, DataFrame, ...], DataFrame]) -> Lowering:
    """Lower the inputs of an operator first, then the operator."""

    def lowered(node: Node, context: LoweringContext) -> DataFrame:
        return lowering(node, *(lower(child, context) for child in node.inputs), context)

    return lowered


def _plain(lowering: Callable[[Any, DataFrame], DataFrame]) -> Lowering:
    """Lower an operator with one input that does not need the context."""

    def lowered(node: Node, context: LoweringContext) -> DataFrame:
        (below,) = node.inputs
        return lowering(node, lower(below, context))

    return lowered


def _lower_join(node: Join, context: LoweringContext) -> DataFrame:
    left = _lower_side(node.left, context, upserts=node.left_upserts is not None)
    right = _lower_side(node.right, context, upserts=node.right_upserts is not None)
    return lower_join(node, left, right, context)


def _lower_temporal_join(node: TemporalJoin, context: LoweringContext) -> DataFrame:
    versions = lower_versions(node.right, context)
    return lower_temporal_join(node, lower(node.left, context), versions, context)


def _lower_window_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    lowering = lower_window_aggregate if node.session is None else lower_session_aggregate
    return lowering(node, rows, context)


def _lower_merged_windows(node: MergedWindowAggregate, context: LoweringContext) -> DataFrame:
    if node.session is not None:
        return lower_merged_sessions(node, lower(node.input, context), context)
    return lower_sliced_windows(node, lower(node.with_slices(), context), context)


def _lower_side(node: Node, context: LoweringContext, *, upserts: bool) -> DataFrame:
    return lower_upserts(node, context) if upserts else lower(node, context)


def _lower_union(node: UnionAll, context: LoweringContext) -> DataFrame:
    columns = [quote(name) for name in (ROW_KIND_COLUMN, *(f.name for f in node.fields))]
    return context.union(lower(child, context).select(*columns) for child in node.inputs)


#: Lowerings of all operators.
LOWERINGS: Mapping[type[Node], Lowering] = {
    Scan: lower_scan,
    Values: lower_values,
    StaticTable: lower_static_table,
    Normalize: lower_normalize,
    Calc: _over(lower_calc),
    Expand: _plain(lower_expand),
    ReplicateRows: _plain(lower_replicate_rows),
    ToChangelog: _plain(lower_to_changelog),
    FromChangelog: _plain(lower_from_changelog),
    UnionAll: _lower_union,
    GroupAggregate: _over(lower_group_aggregate),
    Join: _lower_join,
    LookupJoin: _over(lower_lookup_join),
    ConnectorLookupJoin: _over(lower_connector_lookup_join),
    TemporalJoin: _lower_temporal_join,
    UpdatingTemporalJoin: _lower_temporal_join,
    IntervalJoin: _over(lower_interval_join),
    WindowJoin: _over(lower_window_join),
    TopN: _over(lower_top_n),
    Limit: _over(lower_limit),
    Deduplicate: _over(lower_deduplicate),
    ProcessingTimeDeduplicate: _over(lower_processing_time_deduplicate),
    TemporalSort: _over(lower_temporal_sort),
    OverAggregate: _over(lower_over_aggregate),
    ProcessingTimeOver: _over(lower_processing_time_over),
    SortedOver: _over(lower_sorted_over),
    MatchRecognize: _over(lower_match),
    ProcessingTimeMatch: _over(lower_match),
    WatermarkAssigner: lower_watermark,
    WindowTable: _plain(lower_window_table),
    SessionTable: _over(lower_session_table),
    WindowAggregate: _over(_lower_window_aggregate),
    MergedWindowAggregate: _lower_merged_windows,
    WindowTopN: _over(lower_window_top_n),
    Materialize: _over(lower_materialize),
    Exchange: _over(lower_exchange),
}
