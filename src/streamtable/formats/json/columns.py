"""The columns of a JSON Schema in a registry.

The types are those of Confluent's *Data Type Mappings* page for Flink SQL, as far as a JSON text
tells them apart: a value has the type in which the format `json` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from streamtable.connector_api.registered import NotARecordError, RegisteredSchema
from streamtable.core import types as t
from streamtable.core.types import MAX_DECIMAL_PRECISION, DataType, Field, Root
from streamtable.formats.types import inferred_decimal

_INTEGERS = {"int8": t.TINYINT, "int16": t.SMALLINT, "int32": t.INT, "int64": t.BIGINT}
_NUMBERS = {**_INTEGERS, "float32": t.FLOAT, "float64": t.DOUBLE}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_PATH_ESCAPES = (("~1", "/"), ("~0", "~"))


def json_columns(schema: RegisteredSchema) -> tuple[Field, ...]:
    """Return the properties of an object's schema; required ones without null are NOT NULL.

    Raises:
        NotARecordError: the schema is not of an object with properties.
        ValueError: a property has a type that no column supports.
    """
    documents = {name: _document(one.text) for name, one in schema.all_references()}
    whole = _document(schema.text)
    reader = _Reader(documents | {"": whole})
    found = reader.read(whole, _Place(""))
    if found.root is not Root.ROW:
        msg = "it is not a schema of an object with properties"
        raise NotARecordError(msg)
    return found.fields


def _document(text: str) -> Any:
    found = json.loads(text)
    if not isinstance(found, dict):
        msg = "it accepts any value"
        raise NotARecordError(msg)
    return found


@dataclass(frozen=True)
class _Place:
    """Where a schema stands: its document, and the references that led to it."""

    document: str
    through: tuple[tuple[str, str], ...] = ()


class _Reader:
    """Reads schemas; `documents` has the referenced ones by name, and the schema itself as ''."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self._documents = documents

    def read(self, schema: Any, at: _Place) -> DataType:
        """Return the type of a schema, with its nullability."""
        if not isinstance(schema, dict):
            msg = "it accepts any value, and a column has one type"
            raise ValueError(msg)  # noqa: TRY004 - a fault of the schema
        if "$ref" in schema:
            return self._referenced(str(schema["$ref"]), at)
        if "allOf" in schema:
            return self._single(schema["allOf"], "allOf", at)
        for word in ("oneOf", "anyOf"):
            if word in schema:
                return self._choice(schema[word], at)
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._choice([{**schema, "type": one} for one in kind], at)
        if kind is None:
            return _enumerated(schema)
        return self._of(str(kind), schema, at).with_nullable(kind == "null")

    def _of(self, kind: str, schema: dict[str, Any], at: _Place) -> DataType:
        connect = schema.get("connect.type")
        match kind:
            case "null":
                return t.NULL
            case "boolean":
                return t.BOOLEAN
            case "integer":
                return _INTEGERS.get(str(connect), t.BIGINT)
            case "number":
                return _decimal(schema) or _NUMBERS.get(str(connect), t.DOUBLE)
            case "string":
                return _string(schema)
            case "array":
                return self._array(schema, at)
            case "object":
                return self._object(schema, at)
        msg = f"JSON Schema has no type '{kind}'"
        raise ValueError(msg)

    def _array(self, schema: dict[str, Any], at: _Place) -> DataType:
        if not isinstance(schema.get("items"), dict):
            msg = "the elements of an array need one type in 'items'"
            raise ValueError(msg)  # noqa: TRY004 - a fault of the schema
        return t.array(self.read(schema["items"], at))

    def _object(self, schema: dict[str, Any], at: _Place) -> DataType:
        properties = schema.get("properties")
        if properties:
            required = schema.get("required") or ()
            return t.row(
                *(self._field(name, one, name in required, at) for name, one in properties.items())
            )
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            return t.map_of(t.STRING.with_nullable(False), self.read(values, at))
        msg = "an object needs 'properties', or the type of its values in 'additionalProperties'"
        raise ValueError(msg)

    def _field(self, name: str, schema: Any, required: bool, at: _Place) -> Field:
        try:
            found = self.read(schema, at)
        except ValueError as error:
            msg = f"property '{name}': {error}"
            raise ValueError(msg) from error
        return Field(name, found if required else found.with_nullable(True))

    def _choice(self, branches: list[Any], at: _Place) -> DataType:
        present = [one for one in branches if one != {"type": "null"} and _kind(one) != "null"]
        found = self._single(present, "oneOf", at)
        return found.with_nullable(True) if len(present) < len(branches) else found

    def _single(self, branches: list[Any], word: str, at: _Place) -> DataType:
        if len(branches) != 1:
            msg = f"{word} has {len(branches)} types besides null, and a column has one type"
            raise ValueError(msg)
        return self.read(branches[0], at)

    def _referenced(self, reference: str, at: _Place) -> DataType:
        name, _, path = reference.partition("#")
        document = name or at.document
        whole = self._documents.get(document)
        target = None if whole is None else _find(whole, path)
        if target is None:
            msg = f"it references '{reference}', which does not exist"
            raise ValueError(msg)
        if (document, path) in at.through or (document, path) == ("", ""):
            msg = f"'{reference}' contains itself, and a column cannot"
            raise ValueError(msg)
        return self.read(target, _Place(document, (*at.through, (document, path))))


def _kind(schema: Any) -> Any:
    return schema.get("type") if isinstance(schema, dict) else None


def _find(document: Any, path: str) -> Any:
    """Return what a JSON pointer names, or the definition with the anchor or `$id` `#name`."""
    if path and not path.startswith("/"):
        inside = {**document.get("definitions", {}), **document.get("$defs", {})}
        names = (path, f"#{path}")
        return next(
            (s for s in inside.values() if s.get("$anchor") in names or s.get("$id") in names),
            None,
        )
    found = document
    for part in path.split("/")[1:]:
        key = unquote(part)
        for escaped, plain in _PATH_ESCAPES:
            key = key.replace(escaped, plain)
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found


def _enumerated(schema: dict[str, Any]) -> DataType:
    """Return the type of a schema that lists its values: strings."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    strings = [value for value in values if value is not None]
    if not strings or not all(isinstance(value, str) for value in strings):
        msg = "it has no 'type'"
        raise ValueError(msg)
    return t.STRING.with_nullable(len(strings) < len(values))


def _decimal(schema: dict[str, Any]) -> DataType | None:
    """Return DECIMAL for Kafka Connect's logical type."""
    if schema.get("title") != _DECIMAL:
        return None
    parameters = schema.get("connect.parameters") or {}
    precision = int(parameters.get("connect.decimal.precision", MAX_DECIMAL_PRECISION))
    return inferred_decimal(precision, int(parameters.get("scale", 0)))


def _string(schema: dict[str, Any]) -> DataType:
    if schema.get("contentEncoding") == "base64" or schema.get("connect.type") == "bytes":
        return t.BYTES
    return t.DATE if schema.get("format") == "date" else t.STRING
