"""Values that are change events: the `kafka` connector with a format such as `debezium-json`."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from streamtable.connectors.kafka.options import ValueFields
from streamtable.connectors.kafka.sides import ChosenFormat, Side, value_side
from streamtable.core.table import MetadataColumn, Schema
from streamtable.core.types import DataType
from streamtable.formats.base import ChangelogFormat, Codec

#: Before the names of a format's metadata, as Flink's connector has it.
METADATA_PREFIX = "value."


@dataclass(frozen=True, kw_only=True)
class ChangeSide(Side):
    """A value that tells which rows changed and how.

    Attributes:
        metadata: columns that are read from the event's envelope.
    """

    format: ChangelogFormat
    metadata: tuple[MetadataColumn, ...] = ()

    def read(self, wanted: Container[str]) -> ChangeSide:
        """What must be decoded to get some of the columns."""
        return replace(
            self,
            columns=tuple(c for c in self.columns if c.name in wanted),
            metadata=tuple(c for c in self.metadata if c.name in wanted),
        )

    def decoder(self) -> Codec:
        """Bytes -> changes of `fields`, then the metadata."""
        keys = tuple(c.key.removeprefix(METADATA_PREFIX) for c in self.metadata)
        return self.format.change_decoder(self.fields, keys, self.settings)

    def encoder(self) -> Codec:
        """Changes of `fields` -> bytes."""
        return self.format.change_encoder(self.fields, self.settings)


def event_metadata(side: Side | ChosenFormat) -> Mapping[str, DataType]:
    """The metadata keys of a value's format with their types; none for most formats."""
    if not isinstance(side.format, ChangelogFormat):
        return {}
    return {METADATA_PREFIX + field.name: field.type for field in side.format.metadata}


def value_of(
    chosen: ChosenFormat, key_columns: tuple[str, ...], schema: Schema, include: ValueFields
) -> Side:
    """The value, whichever kind of format it has."""
    side = value_side(chosen, key_columns, schema, include)
    if not isinstance(chosen.format, ChangelogFormat):
        return side
    read = event_metadata(chosen)
    return ChangeSide(
        format=chosen.format,
        settings=chosen.settings,
        columns=side.columns,
        metadata=tuple(c for c in schema.metadata if c.key in read),
    )
