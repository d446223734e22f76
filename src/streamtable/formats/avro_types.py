"""The columns of an Avro schema, for checking a schema that the user gives.

They follow Flink's `AvroSchemaConverter.convertToDataType` with the default, the legacy mapping of
timestamps. A schema therefore fits the same tables as in Flink.
"""

from __future__ import annotations

from typing import Any

from streamtable.core import types as t
from streamtable.core.types import DataType, Field, Root

_PLAIN = {
    "boolean": t.BOOLEAN,
    "int": t.INT,
    "long": t.BIGINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "string": t.STRING,
    "bytes": t.BYTES,
    "enum": t.STRING,
    "null": t.NULL,
}
_LOGICAL = {
    ("int", "date"): t.DATE,
    ("int", "time-millis"): t.time(3),
    ("long", "time-micros"): t.time(6),
    ("long", "timestamp-millis"): t.timestamp(3),
    ("long", "timestamp-micros"): t.timestamp(6),
}


def columns_of(schema: Any) -> tuple[Field, ...]:
    """Return the fields of a record schema, given as parsed JSON.

    Raises:
        ValueError: the schema is not a record, or has a type that no column supports.
    """
    found = _Reader().read(schema)
    if found.root is not Root.ROW:
        msg = "it is not a record"
        raise ValueError(msg)
    return found.fields


class _Reader:
    """Reads one schema; keeps its named types, which the schema may reference again."""

    def __init__(self) -> None:
        self._named: dict[str, DataType] = {}

    def read(self, schema: Any) -> DataType:
        if isinstance(schema, list):
            return self._union(schema)
        if isinstance(schema, str):
            return self._by_name(schema)
        if not isinstance(schema, dict) or "type" not in schema:
            msg = f"it has {schema!r} instead of a type"
            raise ValueError(msg)
        if isinstance(schema["type"], dict | list):
            return self.read(schema["type"])
        found = self._complex(schema)
        if "name" in schema and schema["type"] in ("record", "enum", "fixed"):
            self._named[str(schema["name"]).rpartition(".")[2]] = found
        return found

    def _by_name(self, name: str) -> DataType:
        plain = _PLAIN.get(name)
        if plain is not None and name != "enum":
            return plain.with_nullable(name == "null")
        found = self._named.get(name.rpartition(".")[2])
        if found is None:
            msg = f"it names the type '{name}', which does not exist or contains itself"
            raise ValueError(msg)
        return found

    def _complex(self, schema: dict[str, Any]) -> DataType:
        kind, logical = str(schema["type"]), str(schema.get("logicalType"))
        if kind in ("bytes", "fixed") and logical == "decimal":
            return t.decimal(schema["precision"], schema.get("scale", 0)).with_nullable(False)
        if (kind, logical) in _LOGICAL:
            return _LOGICAL[kind, logical].with_nullable(False)
        match kind:
            case "record":
                fields = (Field(f["name"], self.read(f["type"])) for f in schema["fields"])
                found = t.row(*fields)
            case "array":
                found = t.array(self.read(schema["items"]))
            case "map":
                found = t.map_of(t.STRING.with_nullable(False), self.read(schema["values"]))
            case "fixed":
                found = DataType(Root.VARBINARY, precision=schema["size"])
            case "enum":
                found = t.STRING
            case _:
                return self._by_name(kind)
        return found.with_nullable(False)

    def _union(self, branches: list[Any]) -> DataType:
        present = [branch for branch in branches if branch != "null"]
        if len(present) != 1 or len(branches) > 2:
            msg = f"it has a union of {len(branches)} types other than null and one type"
            raise ValueError(msg)
        return self.read(present[0]).with_nullable(len(branches) == 2)
