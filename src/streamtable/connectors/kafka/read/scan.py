"""The scan of a Kafka table: Spark's Kafka source, our record reader, and metadata columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin, Partition
from streamtable.connectors.kafka.cluster.positions import offsets_json
from streamtable.connectors.kafka.read.bounds import end_offsets, topics_of
from streamtable.connectors.kafka.read.columns import (
    consumer_options,
    decoded_fields,
    needs_headers,
    parts_read,
    row_columns,
    with_leader_epochs,
)
from streamtable.connectors.kafka.read.reading import read_rows
from streamtable.connectors.kafka.read.startup import EARLIEST, starting_at, starting_offsets
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.settings.execution import MAX_BATCH_RECORDS, ExecutionMode
from streamtable.core.types import Field

#: Consumer settings of each mode; settings of the script override them. The records of a poll of a
#: micro-batch stay in the caches of a core until they are decoded.
_DEFAULTS = {
    ExecutionMode.MICRO_BATCH: {
        "max.poll.records": "2000",
        "max.partition.fetch.bytes": str(4 << 20),
    },
    ExecutionMode.REAL_TIME: {},
}

#: Spark's sources. The source of micro-batches avoids copies, and waits if its query is too far
#: ahead of others.
_FORMATS = {
    ExecutionMode.MICRO_BATCH: "io.streamtable.kafka.read.BatchSource",
    ExecutionMode.REAL_TIME: "kafka",
}


def read_changelog(table: KafkaTable, wanted: ReadRequest, context: ReadContext) -> DataFrame:
    """Create a streaming DataFrame of the table's rows.

    Args:
        table: the table to read.
        wanted: the columns that the operator reads.
        context: the job.

    Returns:
        Row kind, then the fields, then partition and offset as `ORDER_COLUMNS`, then topic and
        partition as `__topic` and `__of_partition`.
    """
    parts = parts_read(table, wanted.parts)
    table = replace(table, value=table.value.in_parts(parts))
    fields = tuple(Field(f.name, parts.get(f.name, f.type)) for f in wanted.fields)
    # The records of a range were read before: those that do not parse are dead letters already.
    skips = table.range is not None and table.dead_letter_topic is not None
    kept = read_rows(
        replace(table, dead_letter_topic=None) if skips else table,
        decoded_fields(table, fields),
        with_leader_epochs(table, fields, _records(table, context), context.bridge),
        bridge=context.bridge,
        counters=context.counters_of(table.table),
        last_only=wanted.last_only,
        skips_errors=skips,
    )
    columns = row_columns(table, fields)
    if wanted.order:
        columns += ["partition AS __partition", "offset AS __offset"]
    if wanted.splits:
        columns += ["topic AS __topic", "partition AS __of_partition"]
    return kept.selectExpr(*columns)


def _records(table: KafkaTable, context: ReadContext) -> DataFrame:
    """Read the table's records with Spark's source, up to the ends of the scan."""
    admin = KafkaAdmin(context.bridge, table.properties)
    pattern = table.discovery.pattern
    batches = context.mode is ExecutionMode.MICRO_BATCH
    alignment = context.alignments.get(table.table) if batches else None
    reader = (
        context.spark.readStream.format(_FORMATS[context.mode])
        .option(
            *(("subscribePattern", _whole(pattern)) if pattern else ("subscribe", _topics(table)))
        )
        .option("failOnDataLoss", str(table.fail_on_data_loss))
        .option("includeHeaders", str(needs_headers(table)))
        .options(**_starting(table, admin, context.bounded))
    )
    ends = _ends(table, admin)
    if ends is not None:
        reader = reader.option("ends", offsets_json(ends))
    if alignment is not None:
        reader = reader.option("alignment", alignment).option("alignmentQuery", context.query)
    if batches:
        reader = reader.option("maxOffsetsPerTrigger", context.settings[MAX_BATCH_RECORDS])
        reader = reader.option("partitionGroups", str(not context.one_split_per_task))
    reader = reader.options(**consumer_options({**_DEFAULTS[context.mode], **table.properties}))
    records = reader.load()
    if table.scan_tasks is not None:  # a task reads whole partitions in order
        records = records.coalesce(table.scan_tasks)
    return context.bridge.metered(records, context.counters_of(table.table))


def _whole(pattern: str) -> str:
    """Anchor a pattern, because Spark searches for a match within a name."""
    return f"^(?:{pattern})$"


def _topics(table: KafkaTable) -> str:
    return ",".join(table.topics)


def _ends(table: KafkaTable, admin: KafkaAdmin) -> Mapping[Partition, int] | None:
    """Return the end offsets of a range or a bounded scan; None if the scan does not end.

    The source stops at these offsets, rather than a filter after it: the positions in the
    checkpoint and in the consumer group must not pass records that the query has not read.
    """
    bound = None if table.bound is None else end_offsets(table, table.bound, admin)
    if table.range is None:
        return bound
    own = dict(table.range.ends)
    return own if bound is None else {p: min(own[p], bound[p]) for p in own.keys() & bound}


def _starting(table: KafkaTable, admin: KafkaAdmin, bounded: bool) -> dict[str, str]:
    """Return Spark's starting options of the table's range, or else of its startup mode."""
    if table.range is None or not table.range.begins:
        return starting_offsets(table, admin, bounded)
    there = admin.end_offsets(topics_of(table, admin))
    return starting_at({p: table.range.begins.get(p, EARLIEST) for p in there})
