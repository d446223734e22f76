"""`OverAggregate`, `Deduplicate`, `TemporalSort` and `SortedOver` -> their processors."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.settings.table import DISTINCT_BITMAPS
from streamtable.core.types import Field, quote
from streamtable.jvm.specs.over import (
    OverAggregateOperator,
    SortedOverOperator,
    TemporalSortOperator,
)
from streamtable.jvm.specs.rank import FirstRowOperator
from streamtable.operators.aggregate.group_aggregate import aggregations
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl, positions, sort_columns
from streamtable.operators.window.event_times import lateness, required, table_below
from streamtable.plan.binding.moments import millis
from streamtable.plan.keys import removal_key
from streamtable.plan.over.over_aggregate import OverAggregate
from streamtable.plan.over.sorted_over import SortedOver
from streamtable.plan.query.relation import bound_field
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.temporal_sort import TemporalSort


def by_moment(node: OverAggregate | Deduplicate | TemporalSort, rows: DataFrame) -> DataFrame:
    """Select row kind, columns, event time in ms, and the columns that order rows of equal time."""
    time = next(f for f in node.input.fields if f.name == node.time)
    moment = required(millis(bound_field(time)), time.name, table_below(node))
    return rows.selectExpr(
        ROW_KIND_COLUMN,
        *(quote(f.name) for f in node.input.fields if f.name not in node.order),
        f"{moment} AS __moment",
        *(quote(name) for name in node.order),
    )


def lower_over_aggregate(
    node: OverAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower an OVER aggregation, which emits every row once."""
    kept: tuple[Field, ...] = tuple(f for f in node.input.fields if f.name not in node.order)
    return context.bridge.operator(
        by_moment(node, rows),
        OverAggregateOperator(
            keys=node.partition,
            calls=aggregations(node.calls, kept, context.bridge),
            peers=node.frame.peers,
            preceding=node.frame.preceding,
            bitmaps=context.settings[DISTINCT_BITMAPS],
            positions=len(node.order),
            lateness=lateness(node.input, context),
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def lower_deduplicate(node: Deduplicate, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a deduplicate: emit the first row of each partition after the watermark."""
    return context.bridge.operator(
        by_moment(node, rows),
        FirstRowOperator(
            keys=node.partition,
            positions=len(node.order),
            lateness=lateness(node.input, context),
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def lower_temporal_sort(node: TemporalSort, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a sort by event time, which emits every row once and runs in one task."""
    return context.bridge.operator(
        by_moment(node, rows),
        TemporalSortOperator(
            order=sort_columns(node.peers, node.fields),
            positions=len(node.order),
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def lower_sorted_over(node: SortedOver, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a sorted OVER aggregation, which emits at most one change per row and batch."""
    names = [f.name for f in node.input.fields]
    output = (*node.input.fields, *(c.output for c in node.calls))
    changes = context.bridge.operator(
        rows,
        SortedOverOperator(
            keys=node.partition,
            calls=aggregations(node.calls, node.input.fields, context.bridge),
            order=[names.index(name) for name in (node.order.field, *node.ties)],
            nulls_first=node.order.nulls_first,
            peers=node.frame.peers,
            begins=node.input.retracts_first,
            row_key=positions(removal_key(node.input, expires=node.expires), node.input.fields),
            output_key=positions(node.key, output),
            before=node.before,
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(output),
        ),
    )
    return changes.drop(*node.ties)
