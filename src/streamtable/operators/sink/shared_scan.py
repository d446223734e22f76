"""INSERTs that share a scan -> the rows of all sinks, from one pass over the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame

from streamtable.connector_api.joint_sink import joint_sink_of
from streamtable.jvm.shared_rows import fan_out
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink.sink import checked_rows, with_metadata
from streamtable.operators.source.scan import lower_scan
from streamtable.operators.source.watermark import lower_observed
from streamtable.plan.position import without_position
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.shared_scan import merged_scan
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.window.watermark import WatermarkAssigner


def lower_together(sinks: Mapping[int, Sink], context: LoweringContext) -> DataFrame:
    """Lower INSERTs that share a scan (`plan.sink.shared_scan`) to the rows of all sinks.

    Spark would run the scan once for each INSERT of a union. Here, one operator applies the
    operators of all INSERTs to each row.

    Args:
        sinks: the INSERTs, by their number in the state of the query.
        context: the query's lowering context.

    Returns:
        Encoded rows; the last column is the place of their sink.
    """
    queries = {number: partial(_encoded, sink, context) for number, sink in sinks.items()}
    return fan_out(context.bridge, _shared_rows([*sinks.values()], context), queries)


def _shared_rows(sinks: list[Sink], context: LoweringContext) -> DataFrame:
    """Lower the scan, and observe its watermark: that of the first INSERT, as all are equal."""
    scan = merged_scan(sinks)
    nodes = [*every(sinks[0].input)]
    observers = [node for node in nodes if isinstance(node, WatermarkAssigner)]
    # A normalizer reads the positions, and only the last change of each row of a record.
    upserts = any(isinstance(node, Normalize) for node in nodes)
    columns = replace(scan, fields=without_position(scan.fields))
    rows = lower_scan(
        columns if upserts else scan, context, positions=upserts, partitions=bool(observers)
    )
    return lower_observed(observers[0], rows, context) if observers else rows


def _encoded(sink: Sink, context: LoweringContext, scanned: DataFrame) -> DataFrame:
    context = replace(context, scanned=lambda _: scanned)
    rows = with_metadata(sink, checked_rows(sink, context))
    return joint_sink_of(sink.table).encode_together(rows, context)
