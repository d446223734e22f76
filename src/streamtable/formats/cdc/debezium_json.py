"""The `debezium-json` format: JSON change events as Debezium's connectors write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from streamtable.core import types as t
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import BOOLEAN, TEXT
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import Field, Root
from streamtable.formats.cdc.change_events import JSON_OPTIONS, ChangeEvents
from streamtable.formats.json.json import check_columns, reading, writing
from streamtable.formats.types import unsupported

if TYPE_CHECKING:
    from streamtable.core.options import Settings

SCHEMA_INCLUDE = Option(
    "schema-include",
    BOOLEAN,
    default=False,
    doc="Whether records contain their schema beside the payload, as with `schemas.enable` of"
    " Kafka Connect.",
)
SCHEMA_NAME = Option(
    "schema-name",
    TEXT,
    doc="Schema name of written keys; Debezium uses `<topic>.Key`. Not in Flink.",
    encodes=True,
)

#: Kafka Connect's types of values that the json format writes; times and dates are text.
_CONNECT_TYPES = {
    Root.BOOLEAN: "boolean",
    Root.TINYINT: "int8",
    Root.SMALLINT: "int16",
    Root.INT: "int32",
    Root.BIGINT: "int64",
    Root.FLOAT: "float",
    Root.DOUBLE: "double",
    Root.CHAR: "string",
    Root.VARCHAR: "string",
    Root.BINARY: "bytes",
    Root.VARBINARY: "bytes",
    Root.DATE: "string",
    Root.TIME: "string",
    Root.TIMESTAMP: "string",
    Root.TIMESTAMP_LTZ: "string",
}


class DebeziumJson(ChangeEvents):
    """Envelopes with `before`, `after` and `op`."""

    def reading_more(self, settings: Settings) -> dict[str, str]:
        """Return the location of the envelope in the record."""
        return {"schemaInclude": str(settings[SCHEMA_INCLUDE]).lower()}

    def change_encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from changes to events without a schema, as in Flink."""
        if settings[SCHEMA_INCLUDE]:
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=settings.at(SCHEMA_INCLUDE),
                option=settings.written(SCHEMA_INCLUDE.key),
                reason="debezium-json writes events without their schema",
                hint="remove it from the sink table",
            )
        return super().change_encoder(fields, settings)

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec of a key, or of the payload of a key that includes its schema."""
        check_columns(fields)
        payload = str(settings[SCHEMA_INCLUDE]).lower()
        return Codec("json.JsonDecoder", fields, {**reading(settings), "payload": payload})

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec to keys of Kafka Connect's converter, optionally with their schema."""
        if not settings[SCHEMA_INCLUDE]:
            return super().encoder(fields, settings)
        frame = {"opening": f'{{"schema":{_connect_schema(fields, settings)},"payload":{{'}
        return Codec("json.JsonEncoder", fields, {**writing(settings), **frame, "closing": "}"})


def _connect_schema(fields: tuple[Field, ...], settings: Settings) -> str:
    """Return the schema of a struct, with its members in the order of Connect's converter."""
    parts = [
        {"type": _connect_type(f), "optional": f.type.nullable, "field": f.name} for f in fields
    ]
    schema: dict[str, object] = {"type": "struct", "fields": parts, "optional": False}
    name = settings.get(SCHEMA_NAME)
    if name is not None:
        schema["name"] = name
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def _connect_type(field: Field) -> str:
    found = _CONNECT_TYPES.get(field.type.root)
    if found is None:
        raise unsupported(
            field.type, field.name, "a key with its schema does not support this type"
        )
    return found


DEBEZIUM_JSON = DebeziumJson(
    identifier="debezium-json",
    options=OptionSet("format 'debezium-json'", (SCHEMA_INCLUDE, *JSON_OPTIONS, SCHEMA_NAME)),
    metadata=(
        Field("schema", t.STRING),
        Field("ingestion-timestamp", t.timestamp_ltz(3)),
        Field("source.timestamp", t.timestamp_ltz(3)),
        Field("source.database", t.STRING),
        Field("source.schema", t.STRING),
        Field("source.table", t.STRING),
        Field("source.properties", t.map_of(t.STRING, t.STRING)),
    ),
    style="debezium",
    java_decoder="changeevents.DebeziumJsonDecoder",
)
