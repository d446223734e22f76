"""Writes a changelog into a table: rows -> key and value bytes -> records."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.kafka.options import DeliveryGuarantee
from streamtable.connectors.kafka.partitioners import (
    BUILT_IN,
    is_function,
    java_class,
    partition_column,
)
from streamtable.connectors.kafka.sides import Side
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.settings import ExecutionMode
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.jvm.specs import TransactionsSpec, WriterSpec

#: Producer settings of each mode; a script's own win. Micro-batches are flushed at their end, so
#: that waiting to fill a request costs nothing; in real-time mode every wait is felt, so that a
#: request takes along what has come while the one before was under way, and waits for no more.
_DEFAULTS = {
    ExecutionMode.MICRO_BATCH: {"linger.ms": "5", "batch.size": "131072"},
    ExecutionMode.REAL_TIME: {"linger.ms": "0", "max.in.flight.requests.per.connection": "1"},
}

_PARTITION = "__partition"

#: The longest that brokers allow by default; a producer's own default of a minute is shorter than
#: the batches of a backlog.
_TRANSACTION_TIMEOUT_MS = 15 * 60 * 1_000


def encode_records(table: KafkaTable, rows: DataFrame, bridge: Bridge) -> DataFrame:
    """A changelog of the table's persisted columns -> columns `key`, `value` and metadata.

    -D becomes a null value on an upsert table (a tombstone); rows of kind -U are left out, because
    the +U after them says it all. A value that is a change event takes every row with its kind.

    Order: rows are written as they come. What was read from one partition and never shuffled keeps
    the order of the topic, so an upsert topic under the same key ends in the same rows. After a
    shuffle no order of a key's rows is promised, but then an operator has made at most one change
    per key out of each batch, and only the two rows of an update follow each other.
    """
    kept = rows
    if table.is_upsert:
        kept = rows.where(f"{ROW_KIND_COLUMN} <> {RowKind.UPDATE_BEFORE.value}")
    key = _encoded(table.key, bridge) if table.key else F.lit(None).cast("binary")
    value = (
        _event(table.value, bridge) if table.writes.has_before else _encoded(table.value, bridge)
    )
    if table.is_upsert:
        value = F.when(F.col(ROW_KIND_COLUMN) != RowKind.DELETE.value, value)
    metadata = [F.col(quote(c.name)) for c in table.schema.metadata if not c.virtual]
    records = kept.select(key.alias("key"), value.alias("value"), *metadata)
    if is_function(table):
        found = KafkaAdmin(bridge, table.properties).describe(table.topics[0])
        chosen = partition_column(table, int(found["partitions"]))
        records = records.withColumn(_PARTITION, chosen)
    # Whole tasks are put together, so that the order within each of them stays.
    return records if table.sink_tasks is None else records.coalesce(table.sink_tasks)


def _encoded(side: Side, bridge: Bridge) -> Column:
    return bridge.encode(side.encoder(), _row(side))


def _event(side: Side, bridge: Bridge) -> Column:
    return bridge.encode(side.encoder(), F.struct(F.col(ROW_KIND_COLUMN), _row(side)))


def _row(side: Side) -> Column:
    columns = [
        F.col(quote(column.name)).alias(field.name)
        for column, field in zip(side.columns, side.fields, strict=True)
    ]
    return F.struct(*columns)


def transaction_prefix(table: KafkaTable, query: str) -> str | None:
    """What the transactional ids of a query begin with; None where it writes without them."""
    return table.transaction_prefix and f"{table.transaction_prefix}-{query}"


def transaction_timeout_ms(table: KafkaTable) -> str:
    """How long a transaction may last, as the script says; it must outlast a batch."""
    return table.properties.get("transaction.timeout.ms", str(_TRANSACTION_TIMEOUT_MS))


def writer_spec(table: KafkaTable, mode: ExecutionMode, query: str, job: str) -> WriterSpec:
    """What the Java writer needs to know of the table.

    Args:
        table: what is written.
        mode: micro-batch or real-time.
        query: its name, unique in the job.
        job: the id of the job's checkpoint, in which epochs are numbered.
    """
    written = [c.key for c in table.schema.metadata if not c.virtual]
    positions = {key: 2 + i for i, key in enumerate(written)}
    guarantees = {
        DeliveryGuarantee.NONE: "NONE",
        DeliveryGuarantee.AT_LEAST_ONCE: "AT_LEAST_ONCE",
        DeliveryGuarantee.EXACTLY_ONCE: "AT_LEAST_ONCE",
    }
    properties = {**_DEFAULTS[mode], **table.producer_properties()}
    if (chooser := java_class(table)) is not None:
        properties["partitioner.class"] = chooser
    prefix = transaction_prefix(table, query)
    if prefix is not None:
        properties["transaction.timeout.ms"] = transaction_timeout_ms(table)
    return WriterSpec(
        topic=table.topics[0],
        properties=properties,
        guarantee=guarantees[table.delivery],
        transactions=None if prefix is None else TransactionsSpec(prefix, job),
        headers=positions.get("headers", -1),
        timestamp=positions.get("timestamp", -1),
        partition=2 + len(written) if is_function(table) else -1,
        partitions=BUILT_IN.get(table.partitioner, BUILT_IN["default"]),
        buffer_rows=table.buffer.max_rows,
        buffer_interval_ms=table.buffer.interval // timedelta(milliseconds=1),
    )
