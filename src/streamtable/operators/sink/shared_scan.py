"""INSERTs that share a scan -> the rows of all sinks, from one pass over the source."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.connector_api.joint_sink import joint_sink_of
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.calc import lower_calc
from streamtable.operators.sink.sink import checked, with_metadata
from streamtable.operators.source.scan import lower_scan
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.sink.shared_scan import merged_scan
from streamtable.plan.sink.sink import Sink


def lower_together(sinks: Sequence[Sink], context: LoweringContext) -> DataFrame:
    """Lower INSERTs that share a scan (`plan.sink.shared_scan`) to the rows of all sinks.

    Spark would run the scan once for each INSERT of a union. Here, one operator applies the filters
    and projections of all INSERTs to each row.

    Returns:
        Encoded rows; the last column is the place of their sink.
    """
    rows = lower_scan(merged_scan(sinks), context)
    return context.bridge.fan_out(rows, lambda empty: [_encoded(s, empty, context) for s in sinks])


def _encoded(sink: Sink, scanned: DataFrame, context: LoweringContext) -> DataFrame:
    rows = checked(sink, _above(sink.input, scanned, context), context)
    return joint_sink_of(sink.table).encode_together(with_metadata(sink, rows), context)


def _above(node: Node, scanned: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower the filters and projections above the scan."""
    if isinstance(node, Calc):
        return lower_calc(node, _above(node.input, scanned, context), context)
    return scanned.select(ROW_KIND_COLUMN, *(quote(field.name) for field in node.fields))
