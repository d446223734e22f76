"""HOP and CUMULATE by shared slices: each row is aggregated once, whatever its windows."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.types import BIGINT, Field, quote
from streamtable.jvm.specs.window import SlicedWindowOperator
from streamtable.operators.aggregate.group_aggregate import aggregations, folds
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.operators.window.bounds import (
    aggregated_fields,
    keys_without_window,
    with_bounds,
    zone_of,
)
from streamtable.operators.window.event_times import lateness
from streamtable.operators.window.window import local_micros
from streamtable.plan.aggregate.call import holds_bytes
from streamtable.plan.window.window import WindowKind
from streamtable.plan.window.window_aggregate import MergedWindowAggregate

_SLICE = Field("__slice", BIGINT)


def lower_sliced_windows(
    node: MergedWindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower an aggregation over HOP or CUMULATE.

    Args:
        node: the aggregation.
        rows: its input, in which the bounds of a row's window are those of its slice.
        context: session and options of the job.
    """
    window = node.window
    keys = keys_without_window(node)
    start = f"unix_millis(timestamp_micros({local_micros(quote(node.start))}))"
    found = context.bridge.operator(
        rows.selectExpr("*", f"{start} AS {_SLICE.name}"),
        SlicedWindowOperator(
            keys=keys,
            calls=aggregations(node.calls, node.input.fields, context.bridge),
            size=window.size,
            step=window.step,
            offset=window.offset,
            cumulative=window.kind is WindowKind.CUMULATE,
            zone=zone_of(window, context),
            fold=folds(context) and not holds_bytes(keys, node.input.fields),
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl(aggregated_fields(node, keys)),
        ),
    )
    return with_bounds(found, node)
