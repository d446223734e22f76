"""Metadata columns of Kafka records: which exist, their types, where Spark's rows hold them.

Source: the metadata table of Flink's Kafka page; `headers` and `timestamp` can also be written.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from streamtable.core import types
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.table import MetadataColumn
from streamtable.core.types import DataType


@dataclass(frozen=True)
class MetadataKey:
    """One part of a record's envelope.

    Attributes:
        spark_sql: Spark SQL over the columns of Spark's Kafka source, and `LEADER_EPOCH`.
        writable: whether an INSERT may set it.
    """

    key: str
    type: DataType
    spark_sql: str
    writable: bool = False


#: A column of ours, there where it is read: Spark's rows lack it.
LEADER_EPOCH = "__leader_epoch"

_HEADERS = (
    "map_from_entries(transform(array_distinct(transform(headers, h -> h.key)),"
    " k -> struct(k AS key, element_at(filter(headers, h -> h.key = k), -1).value AS value)))"
)

METADATA = {
    key.key: key
    for key in (
        MetadataKey("topic", types.STRING.with_nullable(False), "topic"),
        MetadataKey("partition", types.INT.with_nullable(False), "partition"),
        MetadataKey("headers", types.map_of(types.STRING, types.BYTES), _HEADERS, writable=True),
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


def check_metadata(column: MetadataColumn, connector: str, of_format: Collection[str] = ()) -> None:
    """A metadata column names a key that there is; UNKNOWN_METADATA otherwise.

    The column's own type may differ: the planner casts, as Flink does.

    Args:
        column: as declared.
        connector: its name, for messages.
        of_format: keys that the value's format adds.
    """
    if column.key in of_format:
        return
    known = METADATA.get(column.key)
    if known is None:
        every = (*METADATA, *of_format)
        raise StreamtableError(
            Condition.UNKNOWN_METADATA,
            at=column.at,
            hint=closest(column.key, every) or "known: " + ", ".join(every),
            connector=connector,
            key=column.key,
        )
