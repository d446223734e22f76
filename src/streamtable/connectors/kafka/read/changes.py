"""Values that are change events: the `kafka` connector with a format such as `debezium-json`."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from streamtable.connector_api.format import ChangelogFormat, Codec
from streamtable.connectors.kafka.options.options import ValueFields
from streamtable.connectors.kafka.options.sides import ChosenFormat, Side, checked, value_side
from streamtable.core.table import MetadataColumn, Schema
from streamtable.core.types import DataType

#: The prefix of a format's metadata keys, as in Flink's connector.
METADATA_PREFIX = "value."


@dataclass(frozen=True, kw_only=True)
class ChangeSide(Side):
    """A value that is a change event.

    Attributes:
        metadata: columns that are read from the event's envelope.
    """

    format: ChangelogFormat
    metadata: tuple[MetadataColumn, ...] = ()

    def read(self, wanted: Container[str]) -> ChangeSide:
        """Return the side that must be decoded for some columns."""
        metadata = tuple(c for c in self.metadata if c.name in wanted)
        return replace(self, columns=super().read(wanted).columns, metadata=metadata)

    def decoder(self) -> Codec:
        """Return the codec that decodes bytes into changes of `fields`, then the metadata."""
        keys = tuple(c.key.removeprefix(METADATA_PREFIX) for c in self.metadata)
        return self.format.change_decoder(self.fields, keys, self.settings)

    def encoder(self) -> Codec:
        """Return the codec that encodes changes of `fields` into bytes."""
        return self.format.change_encoder(self.fields, self.settings)


def event_metadata(side: Side | ChosenFormat) -> Mapping[str, DataType]:
    """Return the metadata keys of a value's format with their types; most formats have none."""
    if not isinstance(side.format, ChangelogFormat):
        return {}
    return {METADATA_PREFIX + field.name: field.type for field in side.format.metadata}


def value_of(
    chosen: ChosenFormat, key_columns: tuple[str, ...], schema: Schema, include: ValueFields
) -> Side:
    """Build the value, with or without change events, depending on its format."""
    side = value_side(chosen, key_columns, schema, include)
    if isinstance(chosen.format, ChangelogFormat):
        read = event_metadata(chosen)
        side = ChangeSide(
            format=chosen.format,
            settings=chosen.settings,
            columns=side.columns,
            metadata=tuple(c for c in schema.metadata if c.key in read),
        )
    return checked(side, schema)
