"""Shape of a plan: everything that its state depends on, as data. A checkpoint stores its hash.

The shape contains operators, keys, types and conditions by their stable ids (`core.identity`). It
does not contain Python names and EXPLAIN texts: a later release may change both and still continue
from the checkpoint.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.core.errors import Span
from streamtable.core.identity import hashed_fields, identity, member_id
from streamtable.core.table import Table
from streamtable.core.types import DataType

#: Own functions that have replaced functions of Spark -> the names in the shape. Checkpoints from
#: before remain valid.
_REPLACED = {
    "flink_epoch_millis(": "timestamp_millis(",
    "flink_epoch_seconds(": "timestamp_seconds(",
}


def shape(value: object) -> Any:
    """Return a plan, or a part of it, as JSON data.

    Places in script files are omitted. A state TTL is reduced to whether there is one. A table is
    reduced to its connector's fingerprint.
    """
    match value:
        case None | bool() | int():
            return value
        case str():
            return stable_sql(value)
        case Enum():
            return member_id(value)
        case timedelta():
            return "expires"
        case DataType():
            return str(value)
        case Table():
            schema = value.schema
            watermark = schema.watermark.column if schema.watermark else None
            key = list(schema.primary_key)
            return [value.name, key, watermark, value.connector.fingerprint()]
        case tuple() | list():
            return [shape(part) for part in value]
        case frozenset():
            return sorted(shape(part) for part in value)
    if is_dataclass(value):
        parts = hashed_fields(value).items()
        named = {id_: shape(part) for id_, part in parts if not isinstance(part, Span)}
        return {identity(type(value)).id: named}
    message = f"a plan holds no {type(value).__name__}"
    raise TypeError(message)


def stable_sql(sql: str) -> str:
    """Return Spark SQL with the names that functions had in earlier releases."""
    for now, before in _REPLACED.items():
        sql = sql.replace(now, before)
    return sql
