"""`WatermarkAssigner` -> one of Spark's watermarks per partition, of which the least counts.

Spark's own watermark is the greatest event time of a whole source. Here every partition of the
topics has a column and a watermark of its own: the row's watermark where the row is the
partition's, else a moment before all others. Under the policy `min` Spark takes the least of them;
see docs/decisions/0010-watermark-per-partition.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import InternalError
from streamtable.core.types import quote
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.operators.calc import lower_calc
from streamtable.operators.context import LoweringContext
from streamtable.operators.normalize import lower_normalize
from streamtable.operators.scan import lower_scan
from streamtable.plan.nodes import Calc, Node
from streamtable.plan.source_nodes import Normalize, Scan
from streamtable.plan.time_nodes import WatermarkAssigner

#: Stands for a NULL watermark on its way into Java.
_NULL = "-9223372036854775808L"

#: Where a row stood in Kafka, which is the order of the versions of a key.
POSITIONS = ("__partition", "__offset")
_PARTITION = ("__topic", "__of_partition")


def lower_watermark(
    node: WatermarkAssigner, context: LoweringContext, *, positions: bool = False
) -> DataFrame:
    """The rows of the scan, unchanged; whatever state they reach below knows the watermark.

    Args:
        node: what to watch.
        context: the job.
        positions: whether Kafka's partition and offset come along, behind the fields.
    """
    calcs, leaf = _chain(node.input)
    if isinstance(leaf, Scan):
        rows = lower_scan(leaf, context, positions=positions, partitions=True)
        kept = (*(POSITIONS if positions else ()), *_PARTITION)
        rows = _computed(calcs, rows, context, kept)
        return _marked(node, leaf, rows, context)
    # What is watched are the records, not the changes that a normalizer makes of them.
    scan = leaf.input

    def marked(rows: DataFrame) -> DataFrame:
        origin = [c for c in rows.columns if c not in _PARTITION]
        packed = F.struct(*(quote(c) for c in origin)).alias("__origin")
        computed = _computed(calcs, rows.select("*", packed), context, ("__origin", *_PARTITION))
        return _marked(node, scan, computed, context).select("__origin.*")

    return _computed(calcs, lower_normalize(leaf, context, marked), context, ())


def _chain(node: Node) -> tuple[list[Calc], Scan | Normalize]:
    """The projections of a scan, from the lowest up, and what they begin at."""
    calcs: list[Calc] = []
    while isinstance(node, Calc):
        calcs.insert(0, node)
        node = node.input
    if not isinstance(node, Scan | Normalize) or any(c.condition for c in calcs):
        msg = "a watermark on anything but the columns of a table"
        raise InternalError(msg)
    return calcs, node


def _computed(
    calcs: list[Calc], rows: DataFrame, context: LoweringContext, kept: tuple[str, ...]
) -> DataFrame:
    for calc in calcs:
        rows = lower_calc(calc, rows, context, kept)
    return rows


def lower_versions(node: Node, context: LoweringContext) -> DataFrame:
    """Every row that a table had, in the order of its records: kind, fields, partition, offset."""
    calcs: list[Calc] = []
    while isinstance(node, Calc):
        calcs.insert(0, node)
        node = node.input
    assert isinstance(node, WatermarkAssigner), "planning refuses others"  # noqa: S101
    return _computed(calcs, lower_watermark(node, context, positions=True), context, POSITIONS)


def _marked(
    node: WatermarkAssigner, scan: Scan, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    table = scan.table.connector
    assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
    partitions = sorted(_partitions(table, context))
    scan_watermarks = context.watermarks.of(context.query, node, context.bridge, partitions)
    columns = [c for c in rows.columns if c not in _PARTITION]
    micros = F.expr(f"coalesce({node.sql}, {_NULL})")
    shown = scan_watermarks.shown([*(F.col(c) for c in _PARTITION), micros])
    rows = rows.select("*", shown.alias("__watermark"))
    if context.rehearsed:
        # True of every row. Where nothing needed the column, Spark would not look at it.
        observed = f"__watermark > {_NULL} AND spark_partition_id() >= 0"
        return rows.where(observed).select(*map(quote, columns))
    for i, (topic, partition) in enumerate(partitions):
        own = F.expr(f"if(__topic = '{topic}' AND __of_partition = {partition}, __watermark, NULL)")
        moment = F.timestamp_millis(F.greatest(own, scan_watermarks.known(topic, partition)))
        rows = rows.select("*", moment.alias(f"__watermark{i}"))
        rows = rows.withWatermark(f"__watermark{i}", "0 seconds")
    # Spark moves filters below a watermark, where rows would be gone before they count; it leaves
    # them above what it takes for a matter of chance, as the number of a partition.
    kind = f"if(spark_partition_id() < 0, CAST(NULL AS TINYINT), {ROW_KIND_COLUMN})"
    others = [quote(c) for c in columns if c != ROW_KIND_COLUMN]
    return rows.selectExpr(f"{kind} AS {ROW_KIND_COLUMN}", *others)


def _partitions(table: KafkaTable, context: LoweringContext) -> Iterable[tuple[str, int]]:
    if context.scanned is not None:
        return context.scanned.partitions(table)
    return KafkaAdmin(context.bridge, table.properties).end_offsets(table.topics)
