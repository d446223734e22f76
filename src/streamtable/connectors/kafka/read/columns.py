"""Columns of a table over the rows of Spark's Kafka source, and options of Spark's consumers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.kafka.read.metadata import LEADER_EPOCH, METADATA
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import DataType, Field, quote
from streamtable.jvm.bridge import Bridge

#: Client settings that Spark's source refuses because it sets them itself. `group.id` names the
#: group that progress is committed to; Spark's consumers use another group.
_NOT_FOR_SPARK = frozenset({"group.id", "auto.offset.reset"})

#: The longest time in ms that the broker waits for the next record, as in `BoundedConsumer`.
_BOUNDED_MAX_WAIT_MS = "10"


def consumer_options(properties: Mapping[str, str]) -> dict[str, str]:
    """Return client settings as options of Spark's source, without settings that it refuses."""
    return {f"kafka.{k}": value for k, value in properties.items() if k not in _NOT_FOR_SPARK}


def bounded_consumer_options(properties: Mapping[str, str]) -> dict[str, str]:
    """Return client settings as options of Spark's source for a read up to known offsets.

    Behind the last record, Spark's consumers ask for further records and then for offsets, and wait
    for both answers.
    """
    return consumer_options({**properties, "fetch.max.wait.ms": _BOUNDED_MAX_WAIT_MS})


def needs_headers(table: KafkaTable) -> bool:
    """Return whether the scan reads headers: dead letters keep the headers of their records."""
    selected = any(c.key == "headers" for c in table.schema.metadata)
    return selected or table.dead_letter_topic is not None


def decoded_fields(table: KafkaTable, fields: Sequence[Field]) -> tuple[Field, ...]:
    """Return the fields that are read from key and value, not from the record's metadata."""
    metadata = _metadata(table)
    return tuple(f for f in fields if f.name not in metadata)


def parts_read(table: KafkaTable, parts: Mapping[str, DataType]) -> Mapping[str, DataType]:
    """Return the parts of ROW columns that are read of the value: column -> type.

    A column that is also in the key is read as a whole.
    """
    if not table.value.projects_rows:
        return {}
    in_key = {c.name for c in table.key.columns} if table.key else set()
    return {name: kind for name, kind in parts.items() if name not in in_key}


def row_columns(table: KafkaTable, fields: Sequence[Field]) -> list[str]:
    """Return Spark SQL of row kind and fields over a record and its decoded `__row`."""
    metadata = _metadata(table)
    columns = [f"__row.{ROW_KIND_COLUMN}"]
    for field in fields:
        name = quote(field.name)
        sql = METADATA[metadata[field.name]].spark_sql if field.name in metadata else None
        columns.append(f"{sql or f'__row.{name}'} AS {name}")
    return columns


def with_leader_epochs(
    table: KafkaTable, fields: Sequence[Field], records: DataFrame, bridge: Bridge
) -> DataFrame:
    """Add the column `LEADER_EPOCH`, which Spark's source lacks, if a field reads it."""
    metadata = _metadata(table)
    read = {METADATA[metadata[f.name]].spark_sql for f in fields if f.name in metadata}
    if LEADER_EPOCH not in read:
        return records
    position = bridge.java_columns(map(F.col, ("topic", "partition", "offset")))
    epochs = bridge.java.kafka.read.LeaderEpochs
    epoch = Column(epochs.column(bridge.java_map(table.properties), position))
    return records.withColumn(LEADER_EPOCH, epoch)


def _metadata(table: KafkaTable) -> dict[str, str]:
    return {c.name: c.key for c in table.schema.metadata if c.key in METADATA}
