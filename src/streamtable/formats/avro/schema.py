"""Flink's Avro schema of a row; `fastavro` also uses it to read our topics.

It follows Flink's `AvroSchemaConverter.convertToSchema`, with its names and its order of union
branches. Topics and registries therefore get the same schema that Flink would write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamtable.core.types import CHARACTER, INT, MICROSECOND_DIGITS, Root
from streamtable.formats.types import unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamtable.core.types import DataType, Field

RECORD_NAME = "record"
NAMESPACE = "org.apache.flink.avro.generated"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLAIN = {
    Root.BOOLEAN: "boolean",
    Root.TINYINT: "int",
    Root.SMALLINT: "int",
    Root.INT: "int",
    Root.BIGINT: "long",
    Root.FLOAT: "float",
    Root.DOUBLE: "double",
    Root.CHAR: "string",
    Root.VARCHAR: "string",
    Root.BINARY: "bytes",
    Root.VARBINARY: "bytes",
}


def avro_schema(
    fields: tuple[Field, ...],
    *,
    legacy_timestamps: bool = True,
    ways_out: Mapping[Root, str] | None = None,
) -> dict[str, Any]:
    """Return the schema of a record with these columns.

    Args:
        fields: the columns; nullable columns become `["null", T]` with default null.
        legacy_timestamps: Flink's `timestamp_mapping.legacy`: TIMESTAMP as `timestamp-millis` (3
            digits at most) and no TIMESTAMP_LTZ; otherwise TIMESTAMP as `local-timestamp-*` and
            TIMESTAMP_LTZ as `timestamp-*`.
        ways_out: what to do about a timestamp that the legacy mapping refuses, by its type.

    Raises:
        StreamtableError: UNSUPPORTED_TYPE, with the column.
    """
    schema = _Converter(legacy_timestamps, ways_out or {}).record(fields, RECORD_NAME, ())
    return {"type": "record", "name": RECORD_NAME, "namespace": NAMESPACE} | schema


@dataclass
class _Converter:
    """Converts one schema; keeps the record names, which must be unique in a schema."""

    legacy: bool
    ways_out: Mapping[Root, str]
    names: set[str] = field(default_factory=set)

    def record(self, fields: tuple[Field, ...], name: str, path: tuple[str, ...]) -> dict[str, Any]:
        self.names.add(name)
        converted = []
        for part in fields:
            inner = (*path, part.name)
            if not _NAME.match(part.name):
                raise unsupported(
                    part.type,
                    ".".join(inner),
                    "avro names consist of letters, digits and underscores",
                )
            schema = self.convert(part.type, f"{name}_{part.name}", inner)
            converted.append({"name": part.name, "type": schema})
            if part.type.nullable:
                converted[-1]["default"] = None
        return {"type": "record", "name": name, "fields": converted}

    def convert(self, found: DataType, name: str, path: tuple[str, ...]) -> Any:
        schema = self._present(found, name, path)
        nullable = found.nullable and found.root is not Root.NULL
        return ["null", schema] if nullable else schema

    def _present(self, found: DataType, name: str, path: tuple[str, ...]) -> Any:
        column = ".".join(path)
        match found.root:
            case root if root in _PLAIN:
                return _PLAIN[root]
            case Root.NULL:
                return "null"
            case Root.DATE:
                return {"type": "int", "logicalType": "date"}
            case Root.TIME:
                if (found.precision or 0) > 3:
                    raise unsupported(
                        found, column, "avro keeps at most three fractional digits of a TIME"
                    )
                return {"type": "int", "logicalType": "time-millis"}
            case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
                return {"type": "long", "logicalType": self._timestamp(found, column)}
            case Root.DECIMAL:
                return {
                    "type": "bytes",
                    "logicalType": "decimal",
                    "precision": found.precision,
                    "scale": found.scale,
                }
            case Root.ROW:
                if name in self.names:
                    raise unsupported(found, column, f"two records would be named '{name}'")
                return self.record(found.fields, name, path)
            case Root.ARRAY if found.element is not None:
                return {"type": "array", "items": self.element(found.element, name, path)}
            case Root.MAP | Root.MULTISET:
                return {"type": "map", "values": self._map_value(found, name, path)}
            case _:
                raise unsupported(found, column, "avro does not support this type")

    def element(self, found: DataType, name: str, path: tuple[str, ...]) -> Any:
        """Convert an element of an ARRAY or MAP; Flink always uses legacy timestamps there."""
        inner = _Converter(legacy=True, ways_out={}, names=self.names)
        return inner.convert(found, name, path)

    def _map_value(self, found: DataType, name: str, path: tuple[str, ...]) -> Any:
        counted = found.root is Root.MULTISET
        key, value = (found.element, INT) if counted else (found.key, found.element)
        if key is None or value is None or key.root not in CHARACTER:
            raise unsupported(found, ".".join(path), "avro supports only string keys")
        return self.element(value, name, path)

    def _timestamp(self, found: DataType, column: str) -> str:
        precision = found.precision or 0
        zoned = found.root is Root.TIMESTAMP_LTZ
        if self.legacy:
            hint = self.ways_out.get(found.root)
            way_out = f"; {hint}" if hint else ""
            if zoned:
                raise unsupported(found, column, f"avro does not support this type{way_out}")
            if precision > 3:
                reason = f"avro keeps at most three fractional digits{way_out}"
                raise unsupported(found, column, reason)
            return "timestamp-millis"
        if precision > MICROSECOND_DIGITS:
            raise unsupported(found, column, "avro keeps at most six fractional digits")
        unit = "millis" if precision <= 3 else "micros"
        return f"timestamp-{unit}" if zoned else f"local-timestamp-{unit}"
