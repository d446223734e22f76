"""Write a changelog into a table: encode rows into keys and values, and write them as records."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.kafka.cluster.admin import KNOWN_WITHIN_MS, KafkaAdmin
from streamtable.connectors.kafka.options.options import DeliveryGuarantee
from streamtable.connectors.kafka.options.sides import Side
from streamtable.connectors.kafka.read.metadata import METADATA
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.kafka.write.partitioners import (
    BUILT_IN,
    is_function,
    java_class,
    partition_column,
)
from streamtable.connectors.kafka.write.producer import TransactionsSpec, WriterSpec
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.table import MetadataColumn
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.literals import null

#: Producer settings of each mode; settings of the script override them. A micro-batch is flushed at
#: its end, so waiting until a request is full costs no latency. In real-time mode every wait adds
#: latency: a request contains the records that arrived during the previous request, and waits for
#: no others.
_DEFAULTS = {
    ExecutionMode.MICRO_BATCH: {"linger.ms": "5", "batch.size": "131072"},
    ExecutionMode.REAL_TIME: {"linger.ms": "0"},
}

_PARTITION = "__partition"

#: The brokers' default limit. The producer's default of one minute is shorter than the batches of a
#: backlog.
_TRANSACTION_TIMEOUT_MS = 15 * 60 * 1_000


def encode_records(table: KafkaTable, rows: DataFrame, bridge: Bridge) -> DataFrame:
    """Encode a changelog of the persisted columns into columns `key`, `value` and metadata.

    On an upsert table, -D becomes a null value (a tombstone). Rows of kind -U are dropped, because
    the following +U replaces the row. A value that is a change event encodes every row with its
    kind.

    Order: the writer keeps the order of the rows within a task. Rows that were read from one
    partition and not shuffled keep the order of the topic. An upsert topic with the same key
    therefore has the same final rows. A shuffle does not preserve the order of a key's rows. After
    a shuffle, however, an operator has produced at most one change per key and batch, and only the
    two rows of an update follow each other.
    """
    kept = rows
    if table.is_upsert:
        kept = rows.where(f"{ROW_KIND_COLUMN} <> {RowKind.UPDATE_BEFORE.value}")
    key = _encoded(table.key, bridge) if table.key else null("binary")
    value = (
        _event(table.value, bridge) if table.writes.has_before else _encoded(table.value, bridge)
    )
    if table.is_upsert:
        value = F.when(F.col(ROW_KIND_COLUMN) != RowKind.DELETE.value, value)
    metadata = [F.col(quote(c.name)) for c in _written(table)]
    records = kept.select(key.alias("key"), value.alias("value"), *metadata)
    if is_function(table):
        found = KafkaAdmin(bridge, table.properties).describe(table.topics[0], KNOWN_WITHIN_MS)
        chosen = partition_column(table, int(found["partitions"]))
        records = records.withColumn(_PARTITION, chosen)
    # coalesce merges whole tasks, so the order within each task is kept.
    return records if table.sink_tasks is None else records.coalesce(table.sink_tasks)


def encode_records_together(table: KafkaTable, rows: DataFrame, bridge: Bridge) -> DataFrame:
    """Encode a changelog as `encode_records` does, into the columns of every table.

    Returns:
        `key` and `value` (BINARY), then all writable metadata, NULL if the table does not write it.
    """
    written = [column.key for column in _written(table)]
    metadata = [
        f"CAST({quote(key.key) if key.key in written else 'NULL'} AS {key.type.spark_sql()})"
        for key in METADATA.values()
        if key.writable
    ]
    records = encode_records(table, rows, bridge).toDF("key", "value", *written)
    return records.selectExpr("key", "value", *metadata)


def _written(table: KafkaTable) -> list[MetadataColumn]:
    return [column for column in table.schema.metadata if not column.virtual]


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
    """Return the prefix of a query's transactional ids; None if it writes without transactions."""
    return table.transaction_prefix and f"{table.transaction_prefix}-{query}"


def transaction_timeout_ms(table: KafkaTable) -> str:
    """Return the transaction timeout of the script, in ms; a transaction must outlast a batch."""
    return table.properties.get("transaction.timeout.ms", str(_TRANSACTION_TIMEOUT_MS))


def writer_spec(
    table: KafkaTable, mode: ExecutionMode, query: str, job: str, *, together: bool = False
) -> WriterSpec:
    """Return the settings of the Java writer.

    Args:
        table: the table to write.
        mode: micro-batch or real-time.
        query: the name of the query, unique in the job.
        job: the id of the job's checkpoint, in which epochs are numbered.
        together: whether the rows have the columns of `encode_records_together`.
    """
    written = [c.key for c in _written(table)]
    columns = [key.key for key in METADATA.values() if key.writable] if together else written
    positions = {key: 2 + i for i, key in enumerate(columns)}
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
