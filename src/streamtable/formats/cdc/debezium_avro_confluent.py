"""The `debezium-avro-confluent` format: Debezium's change events in Avro, with a schema registry.

Debezium's connectors write such events with Confluent's Avro converter. Flink's
`DebeziumAvroFormatFactory` has the same options and rows, and no metadata in Flink 2.2.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from streamtable.connector_api.registered import RegisteredColumns
from streamtable.core import types as t
from streamtable.core.changelog import RETRACT
from streamtable.core.codec import Codec
from streamtable.core.types import CHARACTER, Field, Root
from streamtable.formats.avro.avro_confluent import (
    AVRO_CONFLUENT,
    SCHEMA,
    AvroConfluentFormat,
    derived_schema,
    fields_of,
    fits,
    named,
    parameters_of,
)
from streamtable.formats.schema_registry.client import connection
from streamtable.formats.schema_registry.options import needed_subject, unusable_schema

if TYPE_CHECKING:
    from streamtable.connector_api.registered import RegisteredSchema
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import OptionSet, Settings

_ROWS = ("before", "after")
_WRITTEN = (*_ROWS, "op")
_EVENT = frozenset(_WRITTEN)

_OPTIONS = replace(AVRO_CONFLUENT.options, owner="format 'debezium-avro-confluent'")


@dataclass(frozen=True)
class DebeziumAvroConfluent(AvroConfluentFormat):
    """Avro records with `before`, `after` and `op`; a key is a record of avro-confluent."""

    identifier: str = "debezium-avro-confluent"
    mode: ChangelogMode = RETRACT
    options: OptionSet = _OPTIONS
    metadata: tuple[Field, ...] = ()

    def change_decoder(
        self,
        fields: tuple[Field, ...],
        metadata: tuple[str, ...],  # noqa: ARG002
        settings: Settings,
    ) -> Codec:
        """Return the codec from events with any schema that resolves to that of the columns."""
        parameters = parameters_of(_schema(fields, settings, written=False), settings)
        return Codec("changeevents.DebeziumAvroDecoder", fields, parameters, connection(settings))

    def change_encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from changes to events; creating the encoder registers the schema."""
        subject = needed_subject(settings, self.identifier)
        parameters = parameters_of(_schema(fields, settings, written=True), settings)
        return Codec(
            "changeevents.DebeziumAvroEncoder",
            fields,
            {**parameters, "subject": subject},
            connection(settings),
            registers=True,
        )

    def columns(self, schema: RegisteredSchema, message: str | None) -> RegisteredColumns:
        """Return the columns of the rows in an event, or those of a key, which is no event."""
        found = super().columns(schema, message)
        rows = {field.name: field.type for field in found.fields}
        if not rows.keys() >= _EVENT or rows["after"].root is not Root.ROW:
            return found
        return RegisteredColumns(rows["after"].fields, found.options)


def _schema(fields: tuple[Field, ...], settings: Settings, *, written: bool) -> str:
    """Return the schema of events; one that is only read may have more fields (`source`)."""
    given = settings.get(SCHEMA)
    if given is None:
        row = t.row(*fields)
        event = (Field("before", row), Field("after", row), Field("op", t.STRING))
        return json.dumps(["null", derived_schema(event, settings)])  # nullable, as in Flink
    text = given if written else _needed(given)
    found = fields_of(text, settings)
    rows = {field.name: field.type for field in found}
    if (
        rows.keys() != _EVENT
        or (written and tuple(rows) != _WRITTEN)
        or not all(rows[name].nullable and fits(fields, rows[name].fields) for name in _ROWS)
        or rows["op"].root not in CHARACTER
    ):
        expected = (
            f"a schema of events with {', '.join(_WRITTEN)}, whose rows may be null and have the"
            f" columns {named(fields)}, but one of {named(found)}"
        )
        raise unusable_schema(settings, SCHEMA.key, expected)
    return text


def _needed(schema: str) -> str:
    """Return the schema of an event without the fields that are not read."""
    try:
        parsed = json.loads(schema)
    except ValueError:
        return schema  # refused where its fields are read
    for record in parsed if isinstance(parsed, list) else [parsed]:
        if isinstance(record, dict) and isinstance(record.get("fields"), list):
            record["fields"] = [f for f in record["fields"] if not _is_unread(f)]
    return json.dumps(parsed)


def _is_unread(field: Any) -> bool:
    name = field.get("name") if isinstance(field, dict) else None
    return isinstance(name, str) and name not in _EVENT


DEBEZIUM_AVRO_CONFLUENT = DebeziumAvroConfluent()
