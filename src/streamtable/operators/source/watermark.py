"""`WatermarkAssigner` -> a column that observes the watermark of each split of the scan.

Spark's own watermark is the maximum event time of a whole source. Here, an accumulator reports the
watermark of each split to the driver, and the minimum over the splits is the watermark of the
query; see docs/decisions/0013-watermark-by-splits.md.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.core.errors import InternalError
from streamtable.core.types import quote
from streamtable.jvm.streaming.watermarks import FoundSplits
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.calc import lower_calc
from streamtable.operators.rows.deletes import computed
from streamtable.operators.rows.normalize import lower_normalize
from streamtable.operators.source.scan import lower_scan
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.source.scan import Scan
from streamtable.plan.window.watermark import WatermarkAssigner

#: Encodes a NULL watermark in calls of Java.
_NULL = "-9223372036854775808L"

#: Position of a record in its source, which orders the versions of a key.
POSITIONS = ("__partition", "__offset")
_SPLIT = ("__topic", "__of_partition")


def lower_watermark(
    node: WatermarkAssigner, context: LoweringContext, *, positions: bool = False
) -> DataFrame:
    """Lower a watermark: rows pass unchanged, and downstream operators get the watermark.

    Args:
        node: the watermark assigner.
        context: the job's lowering context.
        positions: whether to append partition and offset of the record to the fields.
    """
    calcs, leaf = _chain(node.input)
    if context.scanned(_scan_of(leaf)) is not None:  # `lower_observed` has observed these rows
        if isinstance(leaf, Scan):
            return _computed(calcs, lower_scan(leaf, context), context, ())
        return _computed(calcs, lower_normalize(leaf, context), context, ())
    if isinstance(leaf, Scan):
        rows = lower_scan(leaf, context, positions=positions, partitions=True)
        kept = (*(POSITIONS if positions else ()), *_SPLIT)
        rows = _computed(calcs, rows, context, kept)
        return _marked(node, node.input, rows, context)

    # Observe the records, not the changes that a normalizer makes of them.
    def marked(rows: DataFrame) -> DataFrame:
        return lower_observed(node, rows, context)

    return _computed(calcs, lower_normalize(leaf, context, marked), context, ())


def lower_observed(node: WatermarkAssigner, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Observe the watermark of rows of a scan that have their splits; drop the splits."""
    calcs, below = _over_scan(node.input)
    origin = {f"__origin{i}": c for i, c in enumerate(c for c in rows.columns if c not in _SPLIT)}
    kept = rows.select("*", *(F.col(quote(c)).alias(name) for name, c in origin.items()))
    marked = _marked(node, below, _computed(calcs, kept, context, (*origin, *_SPLIT)), context)
    return marked.select(*(F.col(name).alias(c) for name, c in origin.items()))


def _chain(node: Node) -> tuple[list[Calc], Scan | Normalize]:
    """Return the projections above a scan, from the lowest up, and the scan or normalizer."""
    calcs: list[Calc] = []
    while isinstance(node, Calc):
        calcs.insert(0, node)
        node = node.input
    if not isinstance(node, Scan | Normalize) or any(c.condition for c in calcs):
        msg = "a watermark on anything but the columns of a table"
        raise InternalError(msg)
    return calcs, node


def _over_scan(node: Node) -> tuple[list[Calc], Node]:
    """Return the projections above a scan, over its records instead of the normalizer's rows.

    The deletes among these records may lack fields.

    Returns:
        The projections from the lowest up, and the highest one, or the scan without projections.
    """
    calcs, leaf = _chain(node)
    below: Node = _scan_of(leaf)
    found: list[Calc] = []
    for calc in calcs:
        below = calc.over([below])
        found.append(below)
    return found, below


def _scan_of(leaf: Scan | Normalize) -> Scan:
    """Return the scan whose records are observed."""
    return leaf if isinstance(leaf, Scan) else leaf.input


def _computed(
    calcs: list[Calc], rows: DataFrame, context: LoweringContext, kept: tuple[str, ...]
) -> DataFrame:
    for calc in calcs:
        rows = lower_calc(calc, rows, context, kept)
    return rows


def lower_versions(node: Node, context: LoweringContext) -> DataFrame:
    """Lower a versioned table to all row versions: row kind, fields, partition, offset.

    The versions are in the order of the table's records.
    """
    calcs: list[Calc] = []
    while isinstance(node, Calc):
        calcs.insert(0, node)
        node = node.input
    assert isinstance(node, WatermarkAssigner), "planning refuses others"  # noqa: S101
    return _computed(calcs, lower_watermark(node, context, positions=True), context, POSITIONS)


def _marked(
    node: WatermarkAssigner, below: Node, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Observe the watermark of the rows of `below`, which have their splits; drop the splits."""
    table = _scan_of(_chain(below)[1]).table

    def splits() -> FoundSplits:
        source, bridge = context.source_of(table), context.bridge
        return FoundSplits(tuple(source.splits(bridge)), source.later_splits(bridge))

    watermarks = context.watermarks.of(
        context.query, node, context.bridge, splits, table.idle_timeout
    )
    columns = [c for c in rows.columns if c not in _SPLIT]
    event_time = computed(node.sql, node.reads_fields, below.fields_of_deletes(), rows)
    micros = F.expr(f"coalesce({event_time}, {_NULL})")
    observed = watermarks.observed([*(F.col(c) for c in _SPLIT), micros])
    rows = rows.select(*map(quote, columns), observed.alias("__watermark"))
    if context.in_memory:
        # True for every row. Without this condition, Spark would drop the unused column.
        looked_at = f"__watermark > {_NULL} AND spark_partition_id() >= 0"
        return rows.where(looked_at).select(*map(quote, columns))
    # This node tells Spark that the query has event time. Spark pushes filters below the node, but
    # not below the column, so all rows are observed before a filter drops some of them.
    moment = F.timestamp_millis("__watermark")
    rows = rows.withColumn("__watermark", moment).withWatermark("__watermark", "0 seconds")
    return rows.select(*map(quote, columns))
