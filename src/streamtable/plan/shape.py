"""What a plan's state depends on, as data: operators, keys, types, conditions; no words for people.

A checkpoint records a hash of it, so that EXPLAIN may be worded otherwise by a later version, which
then still goes on with the state. A field that a node has as by default is left out, so that a
later version may add one.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.core.errors import Span
from streamtable.core.table import Table
from streamtable.core.types import DataType

#: What the SQL of a node already says: which of its input's fields that reads.
_DERIVED = frozenset({"source", "reads", "constant", "condition_fields", "reads_fields"})


def shape(value: object) -> Any:
    """A plan, or a part of one, as json holds it.

    Where a script stands in a file is left out; of how long state is kept only whether that has an
    end; of a table what its connector calls its fingerprint.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case Enum():
            return value.name
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
        parts = {f.name: getattr(value, f.name) for f in fields(value) if not _left_out(f, value)}
        named = {name: shape(part) for name, part in parts.items() if not isinstance(part, Span)}
        return {type(value).__name__: named}
    message = f"a plan holds no {type(value).__name__}"
    raise TypeError(message)


def _left_out(field: Field[Any], owner: object) -> bool:
    usual = field.default is not MISSING and getattr(owner, field.name) == field.default
    return usual or field.name in _DERIVED or not field.compare
