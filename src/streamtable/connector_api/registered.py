"""Schemas of a schema registry, and formats that tell the columns of such a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from streamtable.connector_api.format import Format
from streamtable.core.types import Field


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema with the schemas that it references.

    Attributes:
        text: the schema in the language of its format.
        references: name of the reference in `text` -> referenced schema.
    """

    text: str
    references: Mapping[str, RegisteredSchema] = field(default_factory=dict)

    def all_references(self) -> Iterator[tuple[str, RegisteredSchema]]:
        """Yield names and schemas of all references; a referenced schema precedes its users."""
        for name, schema in self.references.items():
            yield from schema.all_references()
            yield name, schema


@dataclass(frozen=True)
class RegisteredColumns:
    """The columns of a registered schema.

    Attributes:
        fields: the columns with names, types and nullability.
        options: options of the format with which a sink writes this schema instead of one that is
            derived from the columns; empty if the format cannot do this.
    """

    fields: tuple[Field, ...]
    options: Mapping[str, str] = field(default_factory=dict)


class NotARecordError(ValueError):
    """The schema is of a single value, such as a string, so that it has no columns."""


@runtime_checkable
class RegistryFormat(Format, Protocol):
    """A format whose records name a schema in a schema registry."""

    @property
    def schema_type(self) -> str:
        """The registry's name of the schema language: `AVRO`, `JSON` or `PROTOBUF`."""

    def columns(self, schema: RegisteredSchema, message: str | None) -> RegisteredColumns:
        """Return the columns of a registered schema.

        Args:
            schema: the schema.
            message: name of the message, of a schema with several; None for the first one.

        Raises:
            NotARecordError: the schema is of a single value.
            ValueError: no table has such columns; the text is the reason, with the path of the
                field.
        """
