"""The `debezium-json` format: change events as Debezium's connectors write them, as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from streamtable.core import types as t
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import BOOLEAN, TEXT, Option, OptionSet
from streamtable.core.types import Field, Root
from streamtable.formats.change_events import JSON_OPTIONS, ChangeEvents
from streamtable.formats.json import check_columns, reading, writing
from streamtable.formats.types import unsupported

if TYPE_CHECKING:
    from streamtable.core.options import Settings

SCHEMA_INCLUDE = Option(
    "schema-include",
    BOOLEAN,
    default=False,
    doc="Whether records hold their schema beside the payload, as Kafka Connect's"
    " `schemas.enable` makes them.",
)
SCHEMA_NAME = Option(
    "schema-name",
    TEXT,
    doc="Name in the schema of keys that are written; Debezium's is `<topic>.Key`. Ours.",
)

#: Connect's types for what the json format writes; times and dates are texts there.
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
    """Envelopes of `before`, `after` and `op`."""

    def reading_more(self, settings: Settings) -> dict[str, str]:
        """Where the envelope stands."""
        return {"schemaInclude": str(settings[SCHEMA_INCLUDE]).lower()}

    def change_encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Changes -> events; without their schema, as in Flink."""
        if settings[SCHEMA_INCLUDE]:
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=settings.at(SCHEMA_INCLUDE),
                option=SCHEMA_INCLUDE.key,
                reason="debezium-json writes events without their schema",
                hint="remove it from the table that is written to",
            )
        return super().change_encoder(fields, settings)

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """A key, or the payload of one that holds its schema."""
        check_columns(fields)
        payload = str(settings[SCHEMA_INCLUDE]).lower()
        return Codec("JsonDecoder", fields, {**reading(settings), "payload": payload})

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Keys as Kafka Connect's converter writes them, with their schema where asked for."""
        if not settings[SCHEMA_INCLUDE]:
            return super().encoder(fields, settings)
        frame = {"opening": f'{{"schema":{_connect_schema(fields, settings)},"payload":{{'}
        return Codec("JsonEncoder", fields, {**writing(settings), **frame, "closing": "}"})


def _connect_schema(fields: tuple[Field, ...], settings: Settings) -> str:
    """The schema of a struct, its members in the order of Connect's converter."""
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
        raise unsupported(field.type, field.name, "a key with its schema has no type for it")
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
    java_decoder="DebeziumJsonDecoder",
)
