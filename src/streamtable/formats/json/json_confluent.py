"""The `json-confluent` format: JSON objects with the id of their JSON schema in a schema registry.

Flink has no such format. The records are those of Confluent's JSON Schema serializers, and the
options are those of Flink's formats `json` and `avro-confluent`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.connector_api.registered import RegisteredColumns
from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Option, OptionSet
from streamtable.formats.json.columns import json_columns
from streamtable.formats.json.json import IGNORE_PARSE_ERRORS, JSON, check_columns, reading, writing
from streamtable.formats.json.schema import json_schema
from streamtable.formats.schema_registry.client import REGISTRY_RULES, prefixed_connection
from streamtable.formats.schema_registry.options import (
    CONNECTION,
    PROPERTIES,
    SUBJECT,
    needed_subject,
    unusable_schema,
)

if TYPE_CHECKING:
    from streamtable.connector_api.registered import RegisteredSchema
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import Field

SCHEMA = Option(
    "schema",
    TEXT,
    doc="JSON schema of a sink's objects. Default: derived from the columns.",
    encodes=True,
)

_OPTIONS = OptionSet(
    "format 'json-confluent'",
    (*CONNECTION, PROPERTIES, SUBJECT, SCHEMA, *JSON.options.options),
    passthrough="properties.",
    rules=(*REGISTRY_RULES, *JSON.options.rules),
)


@dataclass(frozen=True)
class JsonConfluentFormat:
    """JSON objects with a schema id in front; insert-only, because they have no row kind."""

    identifier: str = "json-confluent"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = True
    projects_rows: bool = True
    schema_type: str = "JSON"

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from objects with any JSON schema; the columns decide what is read."""
        check_columns(fields)
        parameters = reading(settings)
        return Codec("json.JsonConfluentDecoder", fields, parameters, prefixed_connection(settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to objects; creating the encoder registers the schema."""
        check_columns(fields)
        subject = needed_subject(settings, self.identifier)
        parameters = {"schema": _schema(fields, settings), "subject": subject, **writing(settings)}
        secrets = prefixed_connection(settings)
        return Codec("json.JsonConfluentEncoder", fields, parameters, secrets, registers=True)

    def skips_errors(self, settings: Settings) -> bool:
        """Return the value of `ignore-parse-errors`."""
        return settings[IGNORE_PARSE_ERRORS]

    def columns(self, schema: RegisteredSchema, message: str | None) -> RegisteredColumns:  # noqa: ARG002
        """Return the columns of an object's schema; a sink writes the schema if it is whole."""
        found = json_columns(schema)
        return RegisteredColumns(found, {} if schema.references else {SCHEMA.key: schema.text})


def _schema(fields: tuple[Field, ...], settings: Settings) -> str:
    given = settings.get(SCHEMA)
    if given is None:
        return json.dumps(json_schema(fields))
    try:
        names = json.loads(given)["properties"].keys()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise unusable_schema(settings, SCHEMA.key, "a JSON schema with 'properties'") from error
    lacking = [field.name for field in fields if field.name not in names]
    if lacking:
        raise unusable_schema(
            settings, SCHEMA.key, f"a JSON schema with the property '{lacking[0]}'"
        )
    return given


JSON_CONFLUENT = JsonConfluentFormat()
