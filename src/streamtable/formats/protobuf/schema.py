"""Schema of a row as a .proto text, for sinks that do not name one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamtable.core.types import CHARACTER, TIMESTAMPS, DataType, Field, Root
from streamtable.formats.types import unsupported

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_SCALARS = {
    Root.BOOLEAN: "bool",
    Root.INT: "int32",
    Root.BIGINT: "int64",
    Root.FLOAT: "float",
    Root.DOUBLE: "double",
    Root.BINARY: "bytes",
    Root.VARBINARY: "bytes",
    **dict.fromkeys(CHARACTER, "string"),
}
_KEYS = {"bool", "int32", "int64", "string"}
_TIMESTAMP = "google.protobuf.Timestamp"


def proto_schema(fields: tuple[Field, ...]) -> str:
    """Return a proto3 schema whose first message, `Row`, has these columns, numbered from 1.

    Scalar columns that may be NULL are `optional`. TIMESTAMP and TIMESTAMP_LTZ are
    `google.protobuf.Timestamp`, and a ROW is a nested message.

    Raises:
        StreamtableError: UNSUPPORTED_TYPE, with the column.
    """
    message = "\n".join(_message("Row", fields, ""))
    imported = 'import "google/protobuf/timestamp.proto";\n' if _TIMESTAMP in message else ""
    return f'syntax = "proto3";\n{imported}\n{message}\n'


def _message(name: str, fields: tuple[Field, ...], path: str) -> Iterator[str]:
    """Yield the lines of a message; `path` is its place in the table, for errors."""
    yield f"message {name} {{"
    lines = []
    for number, part in enumerate(fields, 1):
        where = f"{path}{part.name}"
        if not _NAME.match(part.name):
            reason = "names of protobuf consist of letters, digits and underscores"
            raise unsupported(part.type, where, reason)
        nested, kind = _field(part.type, part.name, where)
        yield from (f"  {line}" for line in nested)
        lines.append(f"  {kind} {part.name} = {number};")
    yield from lines
    yield "}"


def _field(found: DataType, name: str, where: str) -> tuple[list[str], str]:
    """Return nested messages, and the label and type of a field."""
    if found.root is Root.ARRAY and found.element is not None:
        nested, kind = _single(found.element, name, where)
        return nested, f"repeated {kind}"
    if found.root is Root.MAP and found.key is not None and found.element is not None:
        _, key = _single(found.key, name, where)
        if key not in _KEYS:
            raise unsupported(found.key, where, "protobuf has no map with such a key")
        nested, kind = _single(found.element, name, where)
        return nested, f"map<{key}, {kind}>"
    nested, kind = _single(found, name, where)
    is_scalar = found.root in _SCALARS
    return nested, f"optional {kind}" if is_scalar and found.nullable else kind


def _single(found: DataType, name: str, where: str) -> tuple[list[str], str]:
    if found.root in _SCALARS:
        return [], _SCALARS[found.root]
    if found.root in TIMESTAMPS:
        return [], _TIMESTAMP
    if found.root is Root.ROW:
        inner = f"{name[0].upper()}{name[1:]}Row"
        return list(_message(inner, found.fields, f"{where}.")), inner
    raise unsupported(found, where, "protobuf has no such type here")
