"""The `protobuf` format: one message per record, with a schema in a file or in the table."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import BOOLEAN, NOT_EMPTY, TEXT
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import CHARACTER, Root
from streamtable.formats.types import walk

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import DataType, Field

MESSAGE_CLASS_NAME = Option(
    "message-class-name",
    NOT_EMPTY,
    doc="Name of the message: of its Java class (`com.example.Orders$Order`), as in Flink, or its"
    " name in the schema (`com.example.Order`).",
    required=True,
)
SCHEMA = Option(
    "schema",
    NOT_EMPTY,
    doc="Text of the .proto file with the message. It may import the files that come with"
    " protobuf, such as `google/protobuf/timestamp.proto`. Not an option of Flink, which finds the"
    " message's Java class on the class path.",
)
DESCRIPTOR_FILE = Option(
    "descriptor-file",
    NOT_EMPTY,
    doc="File with the message, instead of `schema`: a .proto file, or a descriptor set that"
    " `protoc --include_imports --descriptor_set_out=FILE` writes. Not an option of Flink.",
)
IGNORE_PARSE_ERRORS = Option(
    "ignore-parse-errors",
    BOOLEAN,
    default=False,
    doc="Whether records that cannot be parsed are skipped and counted.",
)
READ_DEFAULT_VALUES = Option(
    "read-default-values",
    BOOLEAN,
    default=False,
    doc="Whether absent fields are read as their default values instead of null. Scalar fields of"
    " proto3 always are.",
    decodes=True,
)
WRITE_NULL_STRING_LITERAL = Option(
    "write-null-string-literal",
    TEXT,
    default="",
    doc="Text that is written for a null string in an array or a map.",
    encodes=True,
)

_SUPPORTED = {
    *CHARACTER,
    *(Root.BOOLEAN, Root.BINARY, Root.VARBINARY, Root.INT, Root.BIGINT, Root.FLOAT, Root.DOUBLE),
    *(Root.TIMESTAMP, Root.TIMESTAMP_LTZ, Root.ARRAY, Root.MAP, Root.ROW),
}


def _one_schema(settings: Settings, table: str) -> None:
    if settings.has(SCHEMA) == settings.has(DESCRIPTOR_FILE):
        given = "both" if settings.has(SCHEMA) else "neither"
        schema, file = (settings.written(option.key) for option in (SCHEMA, DESCRIPTOR_FILE))
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(MESSAGE_CLASS_NAME),
            reason=f"table {table} sets {given} of '{schema}' and '{file}'",
            hint="set one of them; Flink's class path does not exist here",
        )


_OPTIONS = OptionSet(
    "format 'protobuf'",
    (
        MESSAGE_CLASS_NAME,
        SCHEMA,
        DESCRIPTOR_FILE,
        IGNORE_PARSE_ERRORS,
        READ_DEFAULT_VALUES,
        WRITE_NULL_STRING_LITERAL,
    ),
    rules=(_one_schema,),
)


@dataclass(frozen=True)
class ProtobufFormat:
    """Protobuf messages; insert-only, because they have no row kind."""

    identifier: str = "protobuf"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = True

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from messages to columns, by the names of the message's fields."""
        defaults = {"readDefaults": str(settings[READ_DEFAULT_VALUES]).lower()}
        return _codec("protobuf.ProtobufDecoder", fields, settings, defaults)

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to messages; a null column is absent."""
        literal = {"nullLiteral": settings[WRITE_NULL_STRING_LITERAL]}
        return _codec("protobuf.ProtobufEncoder", fields, settings, literal)

    def skips_errors(self, settings: Settings) -> bool:
        """Return the value of `ignore-parse-errors`."""
        return settings[IGNORE_PARSE_ERRORS]


def _codec(
    java_class: str, fields: tuple[Field, ...], settings: Settings, more: dict[str, str]
) -> Codec:
    check_columns(fields)
    parameters = {"message": settings[MESSAGE_CLASS_NAME], **_schema(settings), **more}
    return Codec(java_class, fields, parameters, external_schema=True)


def _schema(settings: Settings) -> dict[str, str]:
    if settings.has(SCHEMA):
        return {"text": settings[SCHEMA]}
    path = Path(settings[DESCRIPTOR_FILE])
    try:
        content = path.read_bytes()
        if path.suffix == ".proto":
            return {"text": content.decode()}
    except (OSError, ValueError) as error:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(DESCRIPTOR_FILE),
            option=settings.written(DESCRIPTOR_FILE.key),
            value=str(path),
            expected=f"a readable file ({type(error).__name__})",
        ) from None
    return {"descriptors": base64.b64encode(content).decode()}


def check_columns(fields: tuple[Field, ...]) -> None:
    """Raise UNSUPPORTED_TYPE for a column that protobuf cannot represent."""
    walk(fields, _check)


def _check(found: DataType) -> str | None:
    return None if found.root in _SUPPORTED else "protobuf has no such type"


PROTOBUF = ProtobufFormat()
