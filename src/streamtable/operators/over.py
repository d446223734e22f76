"""`OverAggregate`, `Deduplicate` and `SortedOver` -> their processors."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.settings import DISTINCT_BITMAPS
from streamtable.core.types import Field, quote
from streamtable.jvm.event_time import first_row, over_aggregate
from streamtable.jvm.over import sorted_over
from streamtable.operators.context import LoweringContext
from streamtable.operators.event_times import required, table_below
from streamtable.operators.group_aggregate import aggregations
from streamtable.operators.schema import changelog_ddl, positions
from streamtable.plan.binding.moments import millis
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.relation import bound_field
from streamtable.plan.time_attributes import is_complete


def by_moment(node: OverAggregate | Deduplicate, rows: DataFrame) -> DataFrame:
    """Row kind and columns, the moment in milliseconds, and what orders the rows of one."""
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
    """Every row once."""
    kept: tuple[Field, ...] = tuple(f for f in node.input.fields if f.name not in node.order)
    return over_aggregate(
        context.bridge,
        by_moment(node, rows),
        keys=node.partition,
        calls=aggregations(node.calls, kept),
        peers=node.frame.peers,
        preceding=node.frame.preceding,
        bitmaps=context.settings[DISTINCT_BITMAPS],
        positions=len(node.order),
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        ttl_ms=milliseconds(node.ttl),
        output_ddl=changelog_ddl(node.fields),
    )


def lower_deduplicate(node: Deduplicate, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """The first row of each partition, when the watermark has passed it."""
    return first_row(
        context.bridge,
        by_moment(node, rows),
        keys=node.partition,
        positions=len(node.order),
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        ttl_ms=milliseconds(node.ttl),
        output_ddl=changelog_ddl(node.fields),
    )


def lower_sorted_over(node: SortedOver, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """At most one change per row and batch."""
    names = [f.name for f in node.input.fields]
    output = (*node.input.fields, *(c.output for c in node.calls))
    changes = sorted_over(
        context.bridge,
        rows,
        keys=node.partition,
        calls=aggregations(node.calls, node.input.fields),
        order=[names.index(name) for name in (node.order.field, *node.ties)],
        nulls_first=node.order.nulls_first,
        peers=node.frame.peers,
        output_key=positions(node.key, output),
        before=node.before,
        ttl_ms=milliseconds(node.ttl),
        output_ddl=changelog_ddl(output),
    )
    return changes.drop(*node.ties)
