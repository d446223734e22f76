"""The `avro-confluent` format: Avro records with the id of their schema in a schema registry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamtable.connector_api.registered import RegisteredColumns
from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import Root
from streamtable.formats.avro.schema import avro_schema
from streamtable.formats.avro.types import columns_of, whole_schema
from streamtable.formats.schema_registry.client import REGISTRY_RULES, connection
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
    doc="Avro schema in JSON. It must match the columns. Default: derived from the columns.",
    fallback_keys=("schema-registry.schema",),
    encodes=True,
)

_OPTIONS = OptionSet(
    "format 'avro-confluent'",
    (*CONNECTION, PROPERTIES, SUBJECT, SCHEMA),
    passthrough="properties.",
    rules=REGISTRY_RULES,
)


@dataclass(frozen=True)
class AvroConfluentFormat:
    """Avro records with a schema id in front; insert-only, because they have no row kind."""

    identifier: str = "avro-confluent"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = False  # the user's schema has all columns
    schema_type: str = "AVRO"

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from records with any schema that resolves to the columns' schema."""
        parameters = _parameters(fields, settings)
        return Codec("avro.AvroConfluentDecoder", fields, parameters, connection(settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to records; creating the encoder registers the schema."""
        subject = needed_subject(settings, self.identifier)
        parameters = {**_parameters(fields, settings), "subject": subject}
        return Codec(
            "avro.AvroConfluentEncoder", fields, parameters, connection(settings), registers=True
        )

    def skips_errors(self, settings: Settings) -> bool:  # noqa: ARG002
        """Return false: Flink's avro-confluent has no such option."""
        return False

    def columns(self, schema: RegisteredSchema, message: str | None) -> RegisteredColumns:  # noqa: ARG002
        """Return the columns of a record schema; a sink writes the schema itself."""
        text = whole_schema(schema)
        try:
            found = columns_of(json.loads(text))
        except (KeyError, TypeError) as error:
            msg = f"it is no valid Avro schema: {type(error).__name__} {error}"
            raise ValueError(msg) from error
        return RegisteredColumns(found, {SCHEMA.key: text})


def parameters_of(schema: str, settings: Settings) -> dict[str, str]:
    """Return the parameters of codecs with a schema."""
    parameters = {"schema": schema}
    given = settings.given.get(SCHEMA.key)
    if given is not None and given.inferred:
        parameters["registered"] = "true"  # defaults that do not fit their fields are accepted
    return parameters


def derived_schema(fields: tuple[Field, ...], settings: Settings) -> dict[str, Any]:
    """Return the schema of columns without the option `schema`."""
    own = settings.written(SCHEMA.key)
    ways_out = {
        Root.TIMESTAMP: f"declare TIMESTAMP(3), or '{own}' with the field as timestamp-micros",
        Root.TIMESTAMP_LTZ: "declare TIMESTAMP(3), which has the time in UTC",
    }
    return avro_schema(fields, ways_out=ways_out)


def fields_of(schema: str, settings: Settings) -> tuple[Field, ...]:
    """Return the fields of a record that the option `schema` describes.

    Raises:
        StreamtableError: INVALID_OPTION.
    """
    try:
        return columns_of(json.loads(schema))
    except (ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__} {error}" if isinstance(error, KeyError) else str(error)
        raise unusable_schema(
            settings, SCHEMA.key, f"an Avro schema of a record: {reason}"
        ) from error


def fits(columns: tuple[Field, ...], schema: tuple[Field, ...]) -> bool:
    """Return whether columns are those of the schema; a column of a key is NOT NULL regardless."""
    return len(columns) == len(schema) and all(
        column.name == field.name
        and (
            column.type == field.type
            or (not column.type.nullable and column.type.same_shape(field.type))
        )
        for column, field in zip(columns, schema, strict=True)
    )


def named(fields: tuple[Field, ...]) -> str:
    """Return the names and types of columns for a message."""
    return ", ".join(f"{f.name} {f.type}" for f in fields)


def _parameters(fields: tuple[Field, ...], settings: Settings) -> dict[str, str]:
    return parameters_of(_schema(fields, settings), settings)


def _schema(fields: tuple[Field, ...], settings: Settings) -> str:
    given = settings.get(SCHEMA)
    if given is None:
        return json.dumps(derived_schema(fields, settings))
    found = fields_of(given, settings)
    if not fits(fields, found):
        expected = f"a schema of the columns {named(fields)}, but one of {named(found)}"
        raise unusable_schema(settings, SCHEMA.key, expected)
    return given


AVRO_CONFLUENT = AvroConfluentFormat()
