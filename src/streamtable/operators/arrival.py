"""`ArrivalDeduplicate` and `ArrivalOver` -> their processors."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.settings import DISTINCT_BITMAPS
from streamtable.core.types import quote
from streamtable.jvm.over import arrival_deduplicate, arrival_over
from streamtable.operators.context import LoweringContext
from streamtable.operators.group_aggregate import aggregations
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver

_TIME = "__time"
_MICROS_PER_MILLI = 1000


def lower_arrival_over(node: ArrivalOver, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Every row once, in the batch in which it comes."""
    kept = tuple(f for f in node.input.fields if f.name not in node.order)
    time = [f"unix_micros({quote(node.time)}) AS {_TIME}"] if node.frame.of_time else []
    preceding = node.frame.preceding
    if preceding is not None and node.frame.of_time:
        preceding *= _MICROS_PER_MILLI
    return arrival_over(
        context.bridge,
        _ordered(node, rows, time),
        keys=node.partition,
        calls=aggregations(node.calls, kept),
        preceding=preceding,
        time=_TIME if node.frame.of_time else None,
        # A bitmap holds many values, each of which expires by itself.
        bitmaps=context.settings[DISTINCT_BITMAPS] and node.expiry is None,
        positions=len(node.order),
        ttl_ms=milliseconds(node.expiry),
        output_ddl=changelog_ddl(node.fields),
    )


def lower_arrival_deduplicate(
    node: ArrivalDeduplicate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """At most one change per partition and batch."""
    return arrival_deduplicate(
        context.bridge,
        _ordered(node, rows, []),
        keys=node.partition,
        last=node.last,
        before=node.before,
        positions=len(node.order),
        ttl_ms=milliseconds(node.ttl),
        output_ddl=changelog_ddl(node.fields),
    )


def _ordered(node: ArrivalOver | ArrivalDeduplicate, rows: DataFrame, more: list[str]) -> DataFrame:
    """Row kind and columns, what else there is, and what orders the rows of a batch."""
    kept = [f.name for f in node.input.fields if f.name not in node.order]
    return rows.selectExpr(
        ROW_KIND_COLUMN, *map(quote, kept), *more, *(quote(name) for name in node.order)
    )
