"""The key and the value of a record: their columns, format and format options."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from streamtable.connector_api.format import Codec, Format, NestedFormat, row_options
from streamtable.connectors.kafka.options.options import (
    FORMAT,
    KEY_FORMAT,
    TOPIC,
    VALUE_FORMAT,
    ValueFields,
)
from streamtable.core.errors import Condition, InternalError, Span, StreamtableError, closest
from streamtable.core.options import Given, Option, OptionSet, Settings
from streamtable.core.table import Schema
from streamtable.core.types import DataType, Field
from streamtable.formats.registry import find_format
from streamtable.formats.schema_registry.options import SUBJECT


@dataclass(frozen=True, kw_only=True)
class Side:
    """The key or the value of a record.

    Attributes:
        format: the format of the bytes.
        settings: the format's own options.
        columns: the table columns in this side, in the order of the bytes.
        prefix: the prefix of column names that the format does not see.
    """

    format: Format
    settings: Settings
    columns: tuple[Field, ...]
    prefix: str = ""

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns with the names that the format uses."""
        return tuple(Field(c.name.removeprefix(self.prefix), c.type) for c in self.columns)

    def read(self, wanted: Container[str]) -> Side:
        """Return the side that must be decoded for some columns: those columns, or all of them."""
        if not self.format.projectable:
            return self
        return replace(self, columns=tuple(c for c in self.columns if c.name in wanted))

    def in_parts(self, parts: Mapping[str, DataType]) -> Self:
        """Return the side whose decoder gives parts of some ROW columns: column -> type."""
        columns = (Field(c.name, parts.get(c.name, c.type)) for c in self.columns)
        return replace(self, columns=tuple(columns))

    @property
    def projects_rows(self) -> bool:
        """Whether the decoder can decode some of the fields of a ROW."""
        return isinstance(self.format, NestedFormat) and self.format.projects_rows

    def decoder(self) -> Codec:
        """Return the codec that decodes bytes into `fields`."""
        return self.format.decoder(self.fields, self.settings)

    def encoder(self) -> Codec:
        """Return the codec that encodes `fields` into bytes."""
        return self.format.encoder(self.fields, self.settings)

    def row_options(self, *, written: bool) -> Mapping[str, str]:
        """Return the format's options on which rows depend, unless they have their default."""
        return row_options(self.format, self.settings, written=written)

    @property
    def skips_errors(self) -> bool:
        """Whether bytes that do not parse are counted and skipped."""
        return self.format.skips_errors(self.settings)


@dataclass(frozen=True)
class ChosenFormat:
    """A format with the options that the script sets."""

    format: Format
    settings: Settings


@dataclass(frozen=True)
class TableOptions:
    """All options of a table, after reading.

    Attributes:
        settings: the connector's own options.
        key: the key format; None if the script names no key format.
    """

    settings: Settings
    key: ChosenFormat | None
    value: ChosenFormat


def read_options(
    options: OptionSet, table: str, given: Mapping[str, Given], at: Span | None
) -> TableOptions:
    """Read a WITH clause: the connector's options and those of its formats.

    The options of a format named by `key.format` have the prefix `key.<format>.`, by `value.format`
    the prefix `value.<format>.`, and by `format` the prefix `<format>.` (Flink's `FactoryUtil`).
    """
    chosen = {
        option: _FormatOptions(
            find_format(given[option.key].text, table, given[option.key].at),
            prefix,
            subject=_subject(given, "key" if option is KEY_FORMAT else "value"),
        )
        for option, prefix in _PREFIXES.items()
        if option.key in given
    }
    foreign = tuple(own.forwarded for own in chosen.values() if own.forwarded)
    formats = [option for own in chosen.values() for option in own.declared]
    extended = replace(options, options=(*options.options, *formats))
    settings = extended.read(
        {k: v for k, v in given.items() if not k.startswith(foreign)}, table, at
    )

    def own(option: Option[str]) -> ChosenFormat | None:
        return chosen[option].read(given, table) if option in chosen else None

    value = own(VALUE_FORMAT) or own(FORMAT)
    if value is None:
        msg = "the rules of every connector demand a value format"
        raise InternalError(msg)
    return TableOptions(settings, own(KEY_FORMAT), value)


_PREFIXES: dict[Option[str], str] = {KEY_FORMAT: "key.", VALUE_FORMAT: "value.", FORMAT: ""}


@dataclass(frozen=True)
class _FormatOptions:
    """A format and the prefix of its options in a WITH clause.

    Attributes:
        subject: the default subject in a schema registry, if the script names none.
    """

    format: Format
    before: str
    subject: Given | None

    @property
    def prefix(self) -> str:
        return f"{self.before}{self.format.identifier}."

    @property
    def declared(self) -> tuple[Option[Any], ...]:
        return self.format.options.under(self.prefix).options

    @property
    def forwarded(self) -> str | None:
        """The prefix of keys that the format reads without declaring them."""
        passthrough = self.format.options.passthrough
        return self.prefix + passthrough if passthrough else None

    def read(self, given: Mapping[str, Given], table: str) -> ChosenFormat:
        inside = {
            key.removeprefix(self.prefix): value
            for key, value in given.items()
            if key.startswith(self.prefix)
        }
        options = self.format.options
        if self.subject and SUBJECT in options.options:
            keys = (SUBJECT.key, *SUBJECT.fallback_keys)
            if not any(key in inside for key in keys):
                inside[SUBJECT.key] = self.subject
        return ChosenFormat(self.format, options.read(inside, table, prefix=self.prefix))


def _subject(given: Mapping[str, Given], part: str) -> Given | None:
    """Return `<topic>-key` or `<topic>-value`: Flink's default subject for a single topic."""
    topic = given.get(TOPIC.key)
    if topic is None or ";" in topic.text:
        return None
    return Given(f"{topic.text}-{part}", topic.at)


def key_side(chosen: ChosenFormat, columns: tuple[str, ...], schema: Schema, prefix: str) -> Side:
    """Build the key from the named physical columns, in that order."""
    physical = {f.name: f for f in schema.physical}
    side = Side(
        format=chosen.format,
        settings=chosen.settings,
        columns=tuple(physical[name] for name in columns),
        prefix=prefix,
    )
    return checked(side, schema)


def value_side(
    chosen: ChosenFormat, key_columns: tuple[str, ...], schema: Schema, include: ValueFields
) -> Side:
    """Build the value: every physical column, or those that are not in the key."""
    kept = tuple(
        f for f in schema.physical if include is ValueFields.ALL or f.name not in key_columns
    )
    return Side(format=chosen.format, settings=chosen.settings, columns=kept)


def checked(side: Side, schema: Schema) -> Side:
    """Return the side after its format has checked every type; an error names the column."""
    try:
        side.decoder()
    except StreamtableError as error:
        for column in side.columns:
            if _fault_of(replace(side, columns=(column,))) == str(error):
                raise error.located(schema.place_of(column.name)) from error
        raise
    return side


def _fault_of(side: Side) -> str | None:
    try:
        side.decoder()
    except StreamtableError as error:
        return str(error)
    return None


def check_key_columns(
    columns: tuple[str, ...], prefix: str, schema: Schema, table: str, at: Span | None
) -> None:
    """Check that key columns are physical, distinct and have the key prefix (Flink's rule)."""
    physical = {f.name for f in schema.physical}
    for number, name in enumerate(columns):
        if name in columns[:number]:
            raise StreamtableError(
                Condition.DUPLICATE_COLUMN, at=at, column=name, table=f"'key.fields' of {table}"
            )
        if name not in physical:
            raise StreamtableError(
                Condition.UNKNOWN_COLUMN,
                at=at,
                column=name,
                hint=closest(name, physical) or f"'key.fields' of {table} lists physical columns",
            )
        if not name.startswith(prefix):
            raise StreamtableError(
                Condition.KEY_FIELDS_PREFIX,
                at=at,
                table=table,
                reason=f"key column '{name}' lacks the prefix '{prefix}'",
                hint=f"name it '{prefix}{name}' or change 'key.fields-prefix'",
            )
