"""The columns of a protobuf schema in a registry.

The types are those in which Flink's format `protobuf` reads the fields. The nullability is that of
Confluent's *Data Type Mappings* page for Flink SQL: a scalar field that always has a value is NOT
NULL. Arrays and maps may be NULL, because an absent one is read as NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streamtable.connector_api.registered import RegisteredSchema
from streamtable.core import types as t
from streamtable.core.types import DataType, Field
from streamtable.formats.protobuf.known import KNOWN_FILES
from streamtable.formats.protobuf.text import ProtoField, ProtoFile, parse_proto

_SCALARS: Mapping[str, DataType] = {
    **dict.fromkeys(("int32", "uint32", "sint32", "fixed32", "sfixed32"), t.INT),
    **dict.fromkeys(("int64", "uint64", "sint64", "fixed64", "sfixed64"), t.BIGINT),
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "bool": t.BOOLEAN,
    "string": t.STRING,
    "bytes": t.BYTES,
}
_TIMESTAMP = "google.protobuf.Timestamp"


def proto_columns(schema: RegisteredSchema, message: str | None) -> tuple[Field, ...]:
    """Return the fields of a message: of the first one, or of a named one.

    Raises:
        ValueError: there is no such message, or a field has a type that no column supports.
    """
    main = parse_proto(schema.text)
    others = [parse_proto(one.text) for _, one in schema.all_references()]
    if not main.messages:
        msg = "it has no message"
        raise ValueError(msg)
    name = next(iter(main.messages)) if message is None else _named(main, message)
    return _Reader([*KNOWN_FILES, *others, main]).fields(name, ())


def _named(file: ProtoFile, message: str) -> str:
    """Return the full name of a message, given by that name or by its Java class."""
    wanted = message.replace("$", ".")
    for name in file.messages:
        inside = name.removeprefix(f"{file.package}.")
        if name == wanted or wanted.endswith(f".{inside}") or inside == wanted:
            return name
    msg = f"it has no message '{message}'"
    raise ValueError(msg)


class _Reader:
    def __init__(self, files: Iterable[ProtoFile]) -> None:
        self._messages: dict[str, tuple[ProtoFile, list[ProtoField]]] = {}
        self._enums: set[str] = set()
        for file in files:
            self._messages |= {name: (file, found) for name, found in file.messages.items()}
            self._enums |= file.enums

    def fields(self, message: str, outer: tuple[str, ...]) -> tuple[Field, ...]:
        """Return the fields of a message; `outer` are the messages that contain it."""
        if message in outer:
            msg = f"message '{message}' contains itself, and a column cannot"
            raise ValueError(msg)
        file, fields = self._messages[message]
        if not fields:
            msg = f"message '{message}' has no fields"
            raise ValueError(msg)
        return tuple(
            Field(one.name, self._field(one, file, message, (*outer, message))) for one in fields
        )

    def _field(
        self, field: ProtoField, file: ProtoFile, message: str, outer: tuple[str, ...]
    ) -> DataType:
        try:
            found = self._type(field.type, message, outer)
            key = None if field.key is None else self._type(field.key, message, outer)
        except ValueError as error:
            msg = f"field '{field.name}': {error}"
            raise ValueError(msg) from error
        if key is not None:
            return t.map_of(key.with_nullable(True), found.with_nullable(True))
        if field.label == "repeated":
            return t.array(found.with_nullable(True))
        if field.label == "required":
            return found.with_nullable(False)
        implicit = file.syntax == "proto3" and not field.label and not field.in_oneof
        return found if implicit else found.with_nullable(True)

    def _type(self, name: str, message: str, outer: tuple[str, ...]) -> DataType:
        """Return the type of a field of a message; a message may be absent, a scalar may not."""
        if name in _SCALARS:
            return _SCALARS[name].with_nullable(False)
        for full in _candidates(name, message):
            if full == _TIMESTAMP:
                return t.timestamp_ltz()
            if full in self._enums:
                return t.STRING.with_nullable(False)
            if full in self._messages:
                return t.row(*self.fields(full, outer))
        msg = f"the type '{name}' is not in the schema, its references, or supported of protobuf's"
        raise ValueError(msg)


def _candidates(name: str, message: str) -> Iterable[str]:
    """Yield the full names that a name may mean inside a message, the innermost scope first."""
    if name.startswith("."):
        yield name[1:]
        return
    scope = message.split(".")
    for length in range(len(scope), -1, -1):
        yield ".".join((*scope[:length], name))
