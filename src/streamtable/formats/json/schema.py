"""JSON schema of a row as the format json writes it.

The schema is a closed one (`additionalProperties` is false), as Confluent's serializers derive it:
a registry then accepts a further column that may be NULL as a compatible change.
"""

from __future__ import annotations

from typing import Any

from streamtable.core.types import BYTES_ROOTS, INTEGERS, INTERVALS, DataType, Field, Root

_DRAFT = "http://json-schema.org/draft-07/schema#"

#: Kafka Connect's names of number types, which JSON does not tell apart.
_CONNECT = {
    Root.TINYINT: "int8",
    Root.SMALLINT: "int16",
    Root.INT: "int32",
    Root.BIGINT: "int64",
    Root.FLOAT: "float32",
    Root.DOUBLE: "float64",
}


def json_schema(fields: tuple[Field, ...]) -> dict[str, Any]:
    """Return the schema (draft 7) of an object with these columns.

    Columns that may be NULL are `oneOf` null and their type. Other columns are required.
    """
    return {"$schema": _DRAFT, **_object(fields)}


def _object(fields: tuple[Field, ...]) -> dict[str, Any]:
    required = [field.name for field in fields if not field.type.nullable]
    return {
        "type": "object",
        "properties": {field.name: _of(field.type) for field in fields},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _of(found: DataType) -> dict[str, Any]:
    schema = _present(found)
    return {"oneOf": [{"type": "null"}, schema]} if found.nullable else schema


def _present(found: DataType) -> dict[str, Any]:
    """Return the schema of the values other than NULL."""
    root = found.root
    if root in _CONNECT:
        name = "integer" if root in INTEGERS else "number"
        return {"type": name, "connect.type": _CONNECT[root]}
    if root in BYTES_ROOTS:
        return {"type": "string", "contentEncoding": "base64"}
    if root in INTERVALS:
        return {"type": "integer"}
    match root:
        case Root.BOOLEAN:
            return {"type": "boolean"}
        case Root.DECIMAL:
            return {"type": "number"}
        case Root.DATE:
            return {"type": "string", "format": "date"}
        case Root.ROW:
            return _object(found.fields)
        case Root.ARRAY if found.element is not None:
            return {"type": "array", "items": _of(found.element)}
        case Root.MAP if found.element is not None:
            return {"type": "object", "additionalProperties": _of(found.element)}
        case Root.MULTISET:
            return {"type": "object", "additionalProperties": {"type": "integer"}}
        case Root.NULL:
            return {"type": "null"}
    return {"type": "string"}
