"""`ProcessingTimeDeduplicate` and `ProcessingTimeOver` -> their processors."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.settings.table import DISTINCT_BITMAPS
from streamtable.core.types import quote
from streamtable.jvm.specs.over import ProcessingTimeOverOperator
from streamtable.jvm.specs.rank import ProcessingTimeDeduplicateOperator
from streamtable.operators.aggregate.group_aggregate import aggregations
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.over.processing_time_over import ProcessingTimeOver
from streamtable.plan.rank.processing_time_deduplicate import ProcessingTimeDeduplicate

_TIME = "__time"
_MICROS_PER_MILLI = 1000


def lower_processing_time_over(
    node: ProcessingTimeOver, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a processing-time OVER, which emits every row once, in the batch of its arrival."""
    kept = tuple(f for f in node.input.fields if f.name not in node.order)
    time = [f"unix_micros({quote(node.time)}) AS {_TIME}"] if node.frame.of_time else []
    preceding = node.frame.preceding
    if preceding is not None and node.frame.of_time:
        preceding *= _MICROS_PER_MILLI
    return context.bridge.operator(
        _ordered(node, rows, time),
        ProcessingTimeOverOperator(
            keys=node.partition,
            calls=aggregations(node.calls, kept, context.bridge),
            preceding=preceding,
            time=_TIME if node.frame.of_time else None,
            # A bitmap holds many values, but each value expires separately.
            bitmaps=context.settings[DISTINCT_BITMAPS] and node.expiry is None,
            positions=len(node.order),
            ttl=milliseconds(node.expiry),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def lower_processing_time_deduplicate(
    node: ProcessingTimeDeduplicate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a processing-time deduplicate: at most one change per partition and batch."""
    return context.bridge.operator(
        _ordered(node, rows, []),
        ProcessingTimeDeduplicateOperator(
            keys=node.partition,
            last=node.last,
            before=node.before,
            positions=len(node.order),
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def _ordered(
    node: ProcessingTimeOver | ProcessingTimeDeduplicate, rows: DataFrame, more: list[str]
) -> DataFrame:
    """Select row kind, columns, the additional columns, and the columns that order a batch."""
    kept = [f.name for f in node.input.fields if f.name not in node.order]
    return rows.selectExpr(
        ROW_KIND_COLUMN, *map(quote, kept), *more, *(quote(name) for name in node.order)
    )
