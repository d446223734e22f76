"""Infer the columns of a table from the subjects of its topic in a schema registry.

The value's format must have a schema registry. A key format with one gives the columns of the key;
the columns of another key format are columns of the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamtable.connector_api.inferred import InferredColumns, WithoutColumns
from streamtable.connector_api.registered import (
    RegisteredColumns,
    RegisteredSchema,
    RegistryFormat,
)
from streamtable.connectors.kafka.options.options import (
    KEY_FIELDS,
    KEY_PREFIX,
    VALUE_FIELDS,
    ValueFields,
)
from streamtable.connectors.kafka.options.sides import ChosenFormat, TableOptions
from streamtable.connectors.kafka.schemas.client import SchemaRegistry
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given, Settings
from streamtable.core.types import Field
from streamtable.formats.schema_registry.options import SUBJECT, unusable_schema

_DECLARE = "declare the columns that the statements need: CREATE TABLE {table} (id BIGINT, ...)"


@dataclass(frozen=True)
class InferredSides:
    """The columns of key and value.

    Attributes:
        key: the columns of the key with their prefix; None if the key has no schema.
        fields: all columns.
        options: the options of the formats with which a sink writes the registered schemas.
    """

    key: tuple[str, ...] | None
    fields: tuple[Field, ...]
    options: Mapping[str, Given]


def infer_sides(
    declared: WithoutColumns, options: TableOptions, client: SchemaRegistry | None = None
) -> InferredSides | None:
    """Return the columns of the latest schemas; None if the value's format has no registry.

    Args:
        declared: the declaration.
        options: the options of the table.
        client: the client to ask; None for one with the settings of each format.

    Raises:
        StreamtableError: SUBJECT_MISSING, COLUMNS_NOT_INFERRED, COLUMNS_NOT_DECLARED,
            OPTION_CONFLICT, SERVER_NEEDED, or an error of the registry.
    """
    if not isinstance(options.value.format, RegistryFormat):
        return None
    table, at = declared.table, declared.at
    asked = _Asked(declared, client)
    value = asked.columns(options.value)
    given = asked.given(options.value, value)
    key = options.key
    settings = options.settings
    if key is None:
        return InferredSides(None, value.fields, given)
    if not isinstance(key.format, RegistryFormat):
        _check_key_in_value(table, key, settings, at)
        return InferredSides(None, value.fields, given)
    found = asked.columns(key)
    prefix = settings[KEY_PREFIX]
    fields = tuple(Field(prefix + field.name, field.type) for field in found.fields)
    names = tuple(field.name for field in fields)
    given |= asked.given(key, found)
    if settings[VALUE_FIELDS] is ValueFields.ALL:
        _check_all(table, fields, value.fields, settings, at)
        return InferredSides(names, _merged(fields, value.fields), given)
    _check_except(table, names, value.fields, settings, at)
    return InferredSides(names, (*fields, *value.fields), given)


def inferred_append(table: str, sides: InferredSides, settings: Settings) -> InferredColumns:
    """Return the columns of a `kafka` table; without `key.fields` the whole key is read.

    Raises:
        StreamtableError: OPTION_CONFLICT if `key.fields` are not the fields of the key's schema.
    """
    if sides.key is None:
        return InferredColumns(sides.fields, options=sides.options)
    if settings.has(KEY_FIELDS):
        fields = settings[KEY_FIELDS]
        if sorted(fields) != sorted(sides.key):
            reason = f"'{KEY_FIELDS.key}' of {table} are not the fields of the key's schema"
            raise _conflict(
                settings.at(KEY_FIELDS), reason, f"write '{';'.join(sides.key)}', or remove it"
            )
        return InferredColumns(sides.fields, options=sides.options)
    key = Given(";".join(sides.key))
    return InferredColumns(sides.fields, options={**sides.options, KEY_FIELDS.key: key})


def inferred_upsert(
    table: str, sides: InferredSides, declared: tuple[str, ...], at: Span | None
) -> InferredColumns:
    """Return the columns of an `upsert-kafka` table; its primary key is that of the key's schema.

    Raises:
        StreamtableError: INVALID_PRIMARY_KEY if the declared key is another one.
    """
    if sides.key is not None and declared and sorted(declared) != sorted(sides.key):
        raise StreamtableError(
            Condition.INVALID_PRIMARY_KEY,
            at=at,
            table=table,
            reason=f"the key's schema has the columns ({', '.join(sides.key)})",
            hint="declare these columns, or no primary key",
        )
    key = () if declared or sides.key is None else sides.key
    return InferredColumns(sides.fields, key, sides.options)


class _Asked:
    """The answers of registries for one table."""

    def __init__(self, declared: WithoutColumns, client: SchemaRegistry | None) -> None:
        self._declared = declared
        self._table = declared.table
        self._at = declared.at
        self._client = client

    def columns(self, chosen: ChosenFormat) -> RegisteredColumns:
        """Return the columns of a side: of the schema in its options, or of its latest schema."""
        format_ = chosen.format
        assert isinstance(format_, RegistryFormat), "the caller has checked it"  # noqa: S101
        given = chosen.settings.given
        schema, message = given.get("schema"), given.get("message-class-name")
        if schema is not None:
            name = None if message is None else message.text
            try:
                return format_.columns(RegisteredSchema(schema.text), name)
            except ValueError as error:
                expected = f"a schema with columns: {error}"
                raise unusable_schema(chosen.settings, "schema", expected) from error
        subject = self._subject(chosen)
        self._check_online(subject)
        try:
            client = self._client or SchemaRegistry(chosen.settings)
            latest = client.latest(subject)
        except StreamtableError as error:
            raise error.located(self._at) from None
        if latest is None:
            raise StreamtableError(
                Condition.SUBJECT_MISSING,
                at=self._at,
                url=client.url,
                subject=subject,
                hint=f"name the subject with '{chosen.settings.written(SUBJECT.key)}', or"
                f" {_DECLARE.format(table=self._table)}",
            )
        if latest.type != format_.schema_type:
            raise self._not_inferred(
                subject,
                f"its schema is of the type {latest.type}, which format '{format_.identifier}'"
                " does not read",
                "choose the format of this type",
            )
        try:
            return format_.columns(latest.schema, None)
        except ValueError as error:
            hint = _DECLARE.format(table=self._table)
            raise self._not_inferred(subject, str(error), hint) from error

    def given(self, chosen: ChosenFormat, found: RegisteredColumns) -> dict[str, Given]:
        """Return the options of a side with which a sink writes the registered schema."""
        return {
            chosen.settings.written(key): Given(text, inferred=True)
            for key, text in found.options.items()
            if key not in chosen.settings.given
        }

    def _subject(self, chosen: ChosenFormat) -> str:
        subject = chosen.settings.get(SUBJECT)
        if subject is None:
            raise StreamtableError(
                Condition.COLUMNS_NOT_DECLARED,
                at=self._at,
                table=self._table,
                reason="several topics have no single subject",
                hint=f"set '{chosen.settings.written(SUBJECT.key)}', or declare the columns",
            )
        return subject

    def _check_online(self, subject: str) -> None:
        if self._declared.offline:
            raise StreamtableError(
                Condition.SERVER_NEEDED,
                at=self._at,
                what=f"table {self._table} takes its columns from subject '{subject}', which",
                hint="`streamtable explain` asks the schema registry; or"
                f" {_DECLARE.format(table=self._table)}",
            )

    def _not_inferred(self, subject: str, reason: str, hint: str) -> StreamtableError:
        return StreamtableError(
            Condition.COLUMNS_NOT_INFERRED, at=self._at, subject=subject, reason=reason, hint=hint
        )


def _check_key_in_value(table: str, key: ChosenFormat, settings: Settings, at: Span | None) -> None:
    if settings[VALUE_FIELDS] is ValueFields.ALL:
        return
    name = key.format.identifier
    raise StreamtableError(
        Condition.COLUMNS_NOT_DECLARED,
        at=at,
        table=table,
        reason=f"the key's format '{name}' has no schema registry",
        hint=f"declare the columns, or set '{VALUE_FIELDS.key}' = '{ValueFields.ALL.value}' if the"
        " value contains the key",
    )


def _check_all(
    table: str,
    key: tuple[Field, ...],
    value: tuple[Field, ...],
    settings: Settings,
    at: Span | None,
) -> None:
    """Check that the value has every column of the key, with the same type."""
    types = {field.name: field.type for field in value}
    set_except = f"set '{VALUE_FIELDS.key}' = '{ValueFields.EXCEPT_KEY.value}'"
    place = settings.at(VALUE_FIELDS) or at
    for field in key:
        found = types.get(field.name)
        if found is None:
            reason = f"the key of {table} has the field '{field.name}', which the value lacks"
            raise _conflict(place, reason, set_except)
        if not found.same_shape(field.type):
            reason = (
                f"'{field.name}' of {table} is {field.type} in the key and {found} in the value"
            )
            hint = f"{set_except} and '{KEY_PREFIX.key}' = 'key_'"
            raise _conflict(place, reason, hint)


def _merged(key: tuple[Field, ...], value: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the columns of the value; a column of the key is NOT NULL if it is so in either."""
    required = {field.name for field in key if not field.type.nullable}
    return tuple(
        Field(one.name, one.type.with_nullable(one.type.nullable and one.name not in required))
        for one in value
    )


def _check_except(
    table: str,
    key: tuple[str, ...],
    value: tuple[Field, ...],
    settings: Settings,
    at: Span | None,
) -> None:
    """Check that no column of the key is in the value, too."""
    for field in value:
        if field.name in key:
            reason = f"'{field.name}' of {table} is a field of the key and of the value"
            hint = (
                f"set '{KEY_PREFIX.key}' = 'key_', or '{VALUE_FIELDS.key}' ="
                f" '{ValueFields.ALL.value}' if the value contains the whole key"
            )
            raise _conflict(settings.at(VALUE_FIELDS) or at, reason, hint)


def _conflict(at: Span | None, reason: str, hint: str) -> StreamtableError:
    return StreamtableError(Condition.OPTION_CONFLICT, at=at, reason=reason, hint=hint)
