"""Metadata columns of Kafka records: keys, types, and the Spark SQL that reads them.

Source: the metadata table of Flink's Kafka page. `headers` and `timestamp` are also writable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamtable.core import types
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.table import MetadataColumn
from streamtable.core.types import DataType


@dataclass(frozen=True)
class MetadataKey:
    """A metadata key of Kafka records.

    Attributes:
        spark_sql: Spark SQL over the columns of Spark's Kafka source and `LEADER_EPOCH`.
        writable: whether an INSERT may set it.
        always_there: whether every record has a value although the type is nullable for INSERTs.
    """

    key: str
    type: DataType
    spark_sql: str
    writable: bool = False
    always_there: bool = False


#: A column that our reader adds, because the rows of Spark's source lack it.
LEADER_EPOCH = "__leader_epoch"

#: Of several headers with the same key, the last one wins. For a record without headers Spark has
#: NULL, and Flink an empty map.
_HEADERS = (
    "coalesce(map_from_entries(transform(array_distinct(transform(headers, h -> h.key)),"
    " k -> struct(k AS key, element_at(filter(headers, h -> h.key = k), -1).value AS value))),"
    " CAST(map() AS MAP<STRING, BINARY>))"
)

METADATA = {
    key.key: key
    for key in (
        MetadataKey("topic", types.STRING.with_nullable(False), "topic"),
        MetadataKey("partition", types.INT.with_nullable(False), "partition"),
        MetadataKey(
            "headers",
            types.map_of(types.STRING, types.BYTES),
            _HEADERS,
            writable=True,
            always_there=True,
        ),
        MetadataKey("leader-epoch", types.INT, LEADER_EPOCH),
        MetadataKey("offset", types.BIGINT.with_nullable(False), "offset"),
        MetadataKey(
            "timestamp", types.timestamp_ltz(3).with_nullable(False), "timestamp", writable=True
        ),
        MetadataKey(
            "timestamp-type",
            types.STRING.with_nullable(False),
            "CASE timestampType WHEN 0 THEN 'CreateTime' WHEN 1 THEN 'LogAppendTime'"
            " ELSE 'NoTimestampType' END",
        ),
    )
}


_NO_KEYS: Mapping[str, DataType] = {}


def check_metadata(
    column: MetadataColumn, connector: str, of_format: Mapping[str, DataType] = _NO_KEYS
) -> None:
    """Check that a metadata column names an existing key, and is nullable if the key is nullable.

    The column may have another type than the key: the planner adds a cast, as Flink does.

    Args:
        column: the declared column.
        connector: the connector's name, for messages.
        of_format: keys that the value's format adds, with their types.

    Raises:
        StreamtableError: UNKNOWN_METADATA, METADATA_TYPE.
    """
    known = METADATA.get(column.key)
    held = known.type if known else of_format.get(column.key)
    if held is None:
        every = (*METADATA, *of_format)
        raise StreamtableError(
            Condition.UNKNOWN_METADATA,
            at=column.at,
            hint=closest(column.key, every) or "known: " + ", ".join(every),
            connector=connector,
            key=column.key,
        )
    if held.nullable and not column.type.nullable and not (known and known.always_there):
        raise StreamtableError(
            Condition.METADATA_TYPE,
            at=column.at,
            hint="declare it without NOT NULL",
            column=column.name,
            found=column.type,
            key=column.key,
            expected=held,
            reason="records can lack it",
        )
