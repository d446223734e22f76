"""The `protobuf-confluent` format: messages with the id of their schema in a schema registry.

Flink has no such format. The records are those of Confluent's protobuf serializers, and the options
are those of Flink's formats `protobuf` and `avro-confluent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.connector_api.registered import RegisteredColumns
from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import NOT_EMPTY
from streamtable.core.options import Option, OptionSet
from streamtable.formats.protobuf.columns import proto_columns
from streamtable.formats.protobuf.protobuf import (
    IGNORE_PARSE_ERRORS,
    READ_DEFAULT_VALUES,
    WRITE_NULL_STRING_LITERAL,
    check_columns,
)
from streamtable.formats.protobuf.schema import proto_schema
from streamtable.formats.schema_registry.client import REGISTRY_RULES, prefixed_connection
from streamtable.formats.schema_registry.options import (
    CONNECTION,
    PROPERTIES,
    SUBJECT,
    needed_subject,
)

if TYPE_CHECKING:
    from streamtable.connector_api.registered import RegisteredSchema
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import Field

SCHEMA = Option(
    "schema",
    NOT_EMPTY,
    doc="Text of the .proto file with a sink's message. It may import the files that come with"
    " protobuf, and the known types of Confluent's serializers. Default: derived from the columns.",
    encodes=True,
)
MESSAGE_CLASS_NAME = Option(
    "message-class-name",
    NOT_EMPTY,
    doc="Name of a sink's message in `schema`. Default: the first message.",
    encodes=True,
)


def _name_of_schema(settings: Settings, table: str) -> None:
    if settings.has(MESSAGE_CLASS_NAME) and not settings.has(SCHEMA):
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(MESSAGE_CLASS_NAME),
            reason=f"table {table} sets '{settings.written(MESSAGE_CLASS_NAME.key)}' without"
            f" '{settings.written(SCHEMA.key)}'",
            hint="the schema of a source's records is in the registry",
        )


_OPTIONS = OptionSet(
    "format 'protobuf-confluent'",
    (
        *CONNECTION,
        PROPERTIES,
        SUBJECT,
        SCHEMA,
        MESSAGE_CLASS_NAME,
        IGNORE_PARSE_ERRORS,
        READ_DEFAULT_VALUES,
        WRITE_NULL_STRING_LITERAL,
    ),
    passthrough="properties.",
    rules=(*REGISTRY_RULES, _name_of_schema),
)


@dataclass(frozen=True)
class ProtobufConfluentFormat:
    """Messages with a schema id in front; insert-only, because they have no row kind."""

    identifier: str = "protobuf-confluent"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = True
    schema_type: str = "PROTOBUF"

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from messages of any schema; columns are found by name."""
        check_columns(fields)
        defaults = {"readDefaults": str(settings[READ_DEFAULT_VALUES]).lower()}
        secrets = prefixed_connection(settings)
        return Codec("protobuf.ProtobufConfluentDecoder", fields, defaults, secrets)

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to messages; creating the encoder registers the schema."""
        check_columns(fields)
        name = settings.get(MESSAGE_CLASS_NAME)
        parameters = {
            "text": settings.get(SCHEMA) or proto_schema(fields),
            "subject": needed_subject(settings, self.identifier),
            "nullLiteral": settings[WRITE_NULL_STRING_LITERAL],
            **({} if name is None else {"message": name}),
        }
        return Codec(
            "protobuf.ProtobufConfluentEncoder",
            fields,
            parameters,
            prefixed_connection(settings),
            registers=True,
        )

    def skips_errors(self, settings: Settings) -> bool:
        """Return the value of `ignore-parse-errors`."""
        return settings[IGNORE_PARSE_ERRORS]

    def columns(self, schema: RegisteredSchema, message: str | None) -> RegisteredColumns:
        """Return the columns of a message; a sink writes the schema if it is whole."""
        found = proto_columns(schema, message)
        return RegisteredColumns(found, {} if schema.references else {SCHEMA.key: schema.text})


PROTOBUF_CONFLUENT = ProtobufConfluentFormat()
