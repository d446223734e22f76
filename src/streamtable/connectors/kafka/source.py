"""Reads a table: Spark's Kafka source, our reader over its records, metadata beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from streamtable.connectors.kafka.bounds import before, end_offsets, topics_of
from streamtable.connectors.kafka.metadata import LEADER_EPOCH, METADATA
from streamtable.connectors.kafka.options import StartupMode
from streamtable.connectors.kafka.reading import read_rows
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import MAX_BATCH_RECORDS, ExecutionMode
from streamtable.core.types import Field, quote
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.counters import Counters
from streamtable.jvm.kafka_admin import KafkaAdmin, Partition

_EARLIEST, _LATEST = -2, -1

#: Consumer settings of each mode; a script's own win. In micro-batches Spark asks the broker twice
#: where a partition begins and ends after every poll, which Kafka's own 500 records a poll make
#: one question for every 250 records.
_DEFAULTS = {
    ExecutionMode.MICRO_BATCH: {
        "max.poll.records": "50000",
        "max.partition.fetch.bytes": str(4 << 20),
    },
    ExecutionMode.REAL_TIME: {},
}

#: Spark's source; that of micro-batches spares copies, and is held back where a query is too far
#: ahead of others.
_FORMATS = {
    ExecutionMode.MICRO_BATCH: "io.streamtable.kafka.BatchSource",
    ExecutionMode.REAL_TIME: "kafka",
}


class ReadContext(Protocol):
    """What a source needs to know of the job that reads it."""

    @property
    def spark(self) -> SparkSession:
        """The session."""

    @property
    def bridge(self) -> Bridge:
        """Its JVM side."""

    @property
    def settings(self) -> Settings:
        """The session's settings; `execution.micro-batch.max-records` is the batch size."""

    @property
    def bounded(self) -> bool:
        """Whether the run stops at the offsets of now."""

    @property
    def mode(self) -> ExecutionMode:
        """Micro-batch or real-time."""

    @property
    def query(self) -> str:
        """The name of the query that reads."""

    @property
    def paces(self) -> Mapping[str, str]:
        """By the name of a table: what holds the query together with others that read it."""

    def counters_of(self, table: str) -> Counters:
        """Where records of a table that are left out are counted."""


def read_changelog(
    table: KafkaTable,
    fields: tuple[Field, ...],
    context: ReadContext,
    *,
    positions: bool = False,
    partitions: bool = False,
    last_only: bool = False,
) -> DataFrame:
    """A streaming DataFrame of the table's rows.

    Args:
        table: what to read and how.
        fields: physical and metadata columns wanted, in order; the types of metadata columns are
            the connector's.
        context: the job.
        positions: whether Kafka's partition and offset follow as two more columns.
        partitions: whether topic and partition follow as `__topic` and `__of_partition`.
        last_only: whether a record of several changes gives the last one of each row only.

    Returns:
        Row kind, then `fields`, then the positions, then the partitions.
    """
    metadata = {c.name: c.key for c in table.schema.metadata if c.key in METADATA}
    read = {METADATA[metadata[f.name]].spark_sql for f in fields if f.name in metadata}
    kept = read_rows(
        table,
        tuple(f for f in fields if f.name not in metadata),
        _records(table, context, leader_epochs=LEADER_EPOCH in read),
        bridge=context.bridge,
        counters=context.counters_of(table.table),
        last_only=last_only,
    )
    columns = [f"__row.{ROW_KIND_COLUMN}"]
    for field in fields:
        name = quote(field.name)
        source = f"__row.{name}"
        if field.name in metadata:
            source = METADATA[metadata[field.name]].spark_sql
        columns.append(f"{source} AS {name}")
    if positions:
        columns += ["partition AS __partition", "offset AS __offset"]
    if partitions:
        columns += ["topic AS __topic", "partition AS __of_partition"]
    return kept.selectExpr(*columns)


def _records(table: KafkaTable, context: ReadContext, *, leader_epochs: bool) -> DataFrame:
    """The table's records as Spark's source gives them, up to the table's bound."""
    admin = KafkaAdmin(context.bridge, table.properties)
    pattern = table.discovery.pattern
    batches = context.mode is ExecutionMode.MICRO_BATCH
    pace = context.paces.get(table.table) if batches else None
    reader = (
        context.spark.readStream.format(_FORMATS[context.mode])
        .option(*(("subscribePattern", pattern) if pattern else ("subscribe", _topics(table))))
        .option("failOnDataLoss", str(table.fail_on_data_loss))
        .option("includeHeaders", str(_needs_headers(table)))
        .options(**starting_offsets(table, admin, context.bounded))
    )
    if pace is not None:
        reader = reader.option("pace", pace).option("paceQuery", context.query)
    if batches:
        reader = reader.option("maxOffsetsPerTrigger", context.settings[MAX_BATCH_RECORDS])
    for key, value in {**_DEFAULTS[context.mode], **table.properties}.items():
        if key not in _NOT_FOR_SPARK:
            reader = reader.option(f"kafka.{key}", value)
    records = reader.load()
    if table.scan_tasks is not None:  # whole partitions to each task, so their order stays
        records = records.coalesce(table.scan_tasks)
    if table.bound is not None:
        records = records.where(before(end_offsets(table, table.bound, admin)))
    records = context.bridge.metered(records, context.counters_of(table.table))
    if leader_epochs:
        position = ("topic", "partition", "offset")
        epoch = context.bridge.leader_epoch(table.properties, position)
        records = records.withColumn(LEADER_EPOCH, epoch)
    return records


def _topics(table: KafkaTable) -> str:
    return ",".join(table.topics)


def _needs_headers(table: KafkaTable) -> bool:
    """Dead letters keep the headers of their records."""
    selected = any(c.key == "headers" for c in table.schema.metadata)
    return selected or table.dead_letter_topic is not None


#: Client settings that Spark's source refuses because it decides them itself; `group.id` names the
#: group whose commits count, not the one that Spark's consumers read in.
_NOT_FOR_SPARK = frozenset({"group.id", "auto.offset.reset"})


def starting_offsets(table: KafkaTable, admin: KafkaAdmin, bounded: bool) -> dict[str, str]:
    """Spark's starting options for a table's startup mode; they count on a first start only."""
    startup = table.startup
    match startup.mode:
        case StartupMode.EARLIEST:
            return {"startingOffsets": "earliest"}
        case StartupMode.LATEST:
            return {"startingOffsets": "latest"}
        case StartupMode.TIMESTAMP:
            return {
                "startingTimestamp": str(startup.timestamp_ms),
                "startingOffsetsByTimestampStrategy": "latest",
            }
        case StartupMode.SPECIFIC:
            group = table.group_id
            committed = admin.committed_offsets(group, table.topics) if group else {}
            ends = admin.end_offsets(table.topics)
            return _per_partition(
                {p: startup.offsets.get(p[1], committed.get(p, _EARLIEST)) for p in ends}
            )
        case StartupMode.GROUP:
            fallback = _fallback(table, bounded)
            group, topics = table.group_id, topics_of(table, admin)
            committed = admin.committed_offsets(group, topics) if group else {}
            if not committed:
                return {"startingOffsets": "earliest" if fallback == _EARLIEST else "latest"}
            ends = admin.end_offsets(topics)
            return _per_partition({p: committed.get(p, fallback) for p in ends})


def startup_notice(table: KafkaTable, bounded: bool) -> str | None:
    """One line where a scan begins by default rather than by what the script says."""
    if table.startup.mode is not StartupMode.GROUP:
        return None
    group = f"group '{table.group_id}'" if table.group_id else "no consumer group"
    where = "earliest" if _fallback(table, bounded) == _EARLIEST else "latest"
    return (
        f"{table.table}: 'scan.startup.mode' is group-offsets with {group};"
        f" partitions without a commit begin at the {where} offset"
    )


def _fallback(table: KafkaTable, bounded: bool) -> int:
    """Where `group-offsets` begins without a commit.

    The latest offset, unless `properties.auto.offset.reset` says otherwise. A bounded run of a
    script that leaves the startup mode open begins at the earliest: it is to process what the
    topics hold, and from the latest offset on they hold nothing.
    """
    reset = table.properties.get("auto.offset.reset")
    if reset is None:
        return _EARLIEST if bounded and not table.startup.explicit else _LATEST
    if reset not in ("earliest", "latest"):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=table.at,
            option="properties.auto.offset.reset",
            value=reset,
            expected="'earliest' or 'latest'",
        )
    return _EARLIEST if reset == "earliest" else _LATEST


def _per_partition(offsets: dict[Partition, int]) -> dict[str, str]:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return {"startingOffsets": json.dumps(by_topic)}
