"""The columns of an Avro schema: of a schema that the user gives, or of one in a registry.

They follow Flink's `AvroSchemaConverter.convertToDataType` with the default, the legacy mapping of
timestamps. A schema therefore fits the same tables as in Flink.
"""

from __future__ import annotations

import json
import math
from typing import Any

import fastavro

from streamtable.connector_api.registered import NotARecordError, RegisteredSchema
from streamtable.core import types as t
from streamtable.core.types import DataType, Field, Root
from streamtable.formats.types import inferred_decimal

_PLAIN = {
    "boolean": t.BOOLEAN,
    "int": t.INT,
    "long": t.BIGINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "string": t.STRING,
    "bytes": t.BYTES,
    "null": t.NULL,
}
_LOGICAL = {
    ("int", "date"): t.DATE,
    ("int", "time-millis"): t.time(3),
    ("long", "time-micros"): t.time(6),
    ("long", "timestamp-millis"): t.timestamp(3),
    ("long", "timestamp-micros"): t.timestamp(6),
}
_NAMED = ("record", "enum", "fixed", "error")


def columns_of(schema: Any) -> tuple[Field, ...]:
    """Return the fields of a record schema, given as parsed JSON.

    Raises:
        ValueError: the schema is not a record, or has a type that no column supports.
    """
    found = _Reader().read(schema, "")
    if found.root is not Root.ROW:
        msg = "it is not a record"
        raise NotARecordError(msg)
    return found.fields


def whole_schema(schema: RegisteredSchema) -> str:
    """Return a schema without references: each referenced type is defined where it is first used.

    Raises:
        ValueError: a reference does not exist.
    """
    if not schema.references:
        return schema.text
    named: dict[str, Any] = {}
    try:
        for _, referenced in schema.all_references():
            parse_registered(json.loads(referenced.text), named)
        parsed = parse_registered(json.loads(schema.text), named)
    except (fastavro.schema.SchemaParseException, fastavro.schema.UnknownType) as error:
        msg = f"its references are incomplete: {error}"
        raise ValueError(msg) from error
    return json.dumps(_inlined(parsed, named, set()))


def parse_registered(schema: Any, named: dict[str, Any]) -> Any:
    """Return fastavro's form of a registered schema, whose defaults need not fit their fields.

    Args:
        schema: the parsed JSON.
        named: the named types so far; those of the schema are added.
    """
    return fastavro.parse_schema(schema, named_schemas=named, _ignore_default_error=True)


def _inlined(schema: Any, named: dict[str, Any], defined: set[str]) -> Any:
    """Replace the first use of each name by its definition."""
    if isinstance(schema, str):
        if schema not in named or schema in defined:
            return schema
        return _inlined(named[schema], named, defined)
    if isinstance(schema, list):
        return [_inlined(branch, named, defined) for branch in schema]
    found = {key: value for key, value in schema.items() if not key.startswith("__")}
    if found["type"] in _NAMED:
        defined.add(found["name"])
    for part in ("items", "values"):
        if part in found:
            found[part] = _inlined(found[part], named, defined)
    if "fields" in found:
        found["fields"] = [
            {**one, "type": _inlined(one["type"], named, defined)} for one in found["fields"]
        ]
    return found


class _Reader:
    """Reads one schema; keeps its named types, which the schema may reference again."""

    def __init__(self) -> None:
        self._named: dict[str, DataType | None] = {}  # None: the definition is being read

    def read(self, schema: Any, space: str) -> DataType:
        """Return the type of a schema in a namespace."""
        if isinstance(schema, list):
            return self._union(schema, space)
        if isinstance(schema, str):
            return self._by_name(schema, space)
        if not isinstance(schema, dict) or "type" not in schema:
            msg = f"it has {schema!r} instead of a type"
            raise ValueError(msg)
        if isinstance(schema["type"], dict | list):
            return self.read(schema["type"], space)
        if schema["type"] not in _NAMED or "name" not in schema:
            return self._complex(schema, space)
        prefix, _, short = str(schema["name"]).rpartition(".")
        inside = prefix or str(schema.get("namespace", space))
        name = f"{inside}.{short}"
        self._named[name] = None
        found = self._named[name] = self._complex(schema, inside)
        return found

    def _by_name(self, name: str, space: str) -> DataType:
        plain = _PLAIN.get(name)
        if plain is not None:
            return plain.with_nullable(name == "null")
        full = name if "." in name else f"{space}.{name}"
        full = full if full in self._named else f".{name}"
        if full not in self._named:
            msg = f"it names the type '{name}', which does not exist"
            raise ValueError(msg)
        found = self._named[full]
        if found is None:
            msg = f"the type '{name}' contains itself, and a column cannot"
            raise ValueError(msg)
        return found

    def _complex(self, schema: dict[str, Any], space: str) -> DataType:
        kind, logical = str(schema["type"]), str(schema.get("logicalType"))
        if kind in ("bytes", "fixed") and logical == "decimal" and _is_decimal(schema):
            number = inferred_decimal(schema["precision"], schema.get("scale", 0))
            return number.with_nullable(False)
        if (kind, logical) in _LOGICAL:
            return _LOGICAL[kind, logical].with_nullable(False)
        match kind:
            case "record":
                found = t.row(*(self._field(part, space) for part in schema["fields"]))
            case "array":
                found = t.array(self.read(schema["items"], space))
            case "map":
                value = self.read(schema["values"], space)
                found = t.map_of(t.STRING.with_nullable(False), value)
            case "fixed":
                found = DataType(Root.VARBINARY, precision=schema["size"])
            case "enum":
                found = t.STRING
            case _:
                return self._by_name(kind, space)
        return found.with_nullable(False)

    def _field(self, part: dict[str, Any], space: str) -> Field:
        try:
            return Field(part["name"], self.read(part["type"], space))
        except ValueError as error:
            msg = f"field '{part['name']}': {error}"
            raise ValueError(msg) from error

    def _union(self, branches: list[Any], space: str) -> DataType:
        present = [branch for branch in branches if branch != "null"]
        if len(present) != 1 or len(branches) > 2:
            msg = f"it has a union of {len(branches)} types other than null and one type"
            raise ValueError(msg)
        return self.read(present[0], space).with_nullable(len(branches) == 2)


def _is_decimal(schema: dict[str, Any]) -> bool:
    """Return whether a decimal is valid; Avro ignores it otherwise, and has bytes or a fixed."""
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision:
        return False
    bits = 8 * schema["size"] - 1 if schema["type"] == "fixed" else math.inf
    return 0 < precision <= math.log10(2) * bits
