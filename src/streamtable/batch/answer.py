"""Registry of the batch answers of all operators, and the traversal of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame

from streamtable.batch.aggregates import group_rows
from streamtable.batch.context import BatchContext
from streamtable.batch.joins import interval_rows, join_rows, window_join_rows
from streamtable.batch.ranks import first_rows, limited_rows, top_rows, window_top_rows
from streamtable.batch.rows import (
    calc_rows,
    expanded_rows,
    keyed_rows,
    lookup_rows,
    normalized_rows,
    passed_rows,
    replicated_rows,
    scan_rows,
    static_rows,
    union_rows,
    values_rows,
)
from streamtable.batch.windows import session_rows, window_aggregate_rows, window_table_rows
from streamtable.core.errors import InternalError
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.join.interval_join import IntervalJoin
from streamtable.plan.join.join import Join
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.join.window_join import WindowJoin
from streamtable.plan.node import Node
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.limit import Limit
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.calc import Calc
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

#: Maps an operator of the registered class to its rows.
Answer = Callable[[Any, BatchContext], DataFrame]


def answer(node: Node, context: BatchContext) -> DataFrame:
    """Return the final rows of an operator: row kind, fields, carried columns.

    The plan has no `refusal`. The context takes the doubts.
    """
    found = ANSWERS.get(type(node))
    if found is None:
        msg = f"no batch answer of {type(node).__name__}, which `refusal` reports"
        raise InternalError(msg)
    return found(node, context)


def _over(rows_of: Callable[..., DataFrame]) -> Answer:
    """Answer the inputs of an operator first, then the operator."""

    def answered(node: Node, context: BatchContext) -> DataFrame:
        return rows_of(node, *(answer(child, context) for child in node.inputs), context)

    return answered


def _union(node: UnionAll, context: BatchContext) -> DataFrame:
    return union_rows(node, [answer(child, context) for child in node.inputs], context)


#: Batch answers by operator. The operators of `refusals.UNSUPPORTED` have none.
ANSWERS: Mapping[type[Node], Answer] = {
    Scan: scan_rows,
    Normalize: normalized_rows,
    Values: values_rows,
    StaticTable: static_rows,
    Calc: _over(calc_rows),
    Expand: _over(expanded_rows),
    ReplicateRows: _over(replicated_rows),
    UnionAll: _union,
    GroupAggregate: _over(group_rows),
    Join: _over(join_rows),
    LookupJoin: _over(lookup_rows),
    IntervalJoin: _over(interval_rows),
    WindowJoin: _over(window_join_rows),
    TopN: _over(top_rows),
    Limit: _over(limited_rows),
    Deduplicate: _over(first_rows),
    WatermarkAssigner: _over(passed_rows),
    WindowTable: _over(window_table_rows),
    SessionTable: _over(session_rows),
    WindowAggregate: _over(window_aggregate_rows),
    MergedWindowAggregate: _over(window_aggregate_rows),
    WindowTopN: _over(window_top_rows),
    Materialize: _over(keyed_rows),
    Exchange: _over(keyed_rows),
}
