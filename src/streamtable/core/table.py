"""A resolved table for the planner: schema, key, time attributes, and connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from streamtable.core.changelog import ChangelogMode
from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.core.types import DataType, Field


@dataclass(frozen=True)
class PhysicalColumn:
    """A column that is stored in the record's key or value."""

    name: str
    type: DataType
    at: Span | None = None
    comment: str | None = None


@dataclass(frozen=True)
class MetadataColumn:
    """A column read from the record's metadata and, unless virtual, written to it.

    Attributes:
        key: the connector's metadata key, e.g. `timestamp`.
        virtual: whether the column is read-only, so that INSERT does not write it.
    """

    name: str
    type: DataType
    key: str
    virtual: bool = False
    at: Span | None = None
    comment: str | None = None


@dataclass(frozen=True)
class ComputedColumn:
    """A column that is computed when the table is read; never written.

    Attributes:
        expression: sqlglot expression; the planner binds it (opaque here).
    """

    name: str
    expression: Any
    at: Span | None = None
    comment: str | None = None


TableColumn = PhysicalColumn | MetadataColumn | ComputedColumn


@dataclass(frozen=True)
class Watermark:
    """`WATERMARK FOR column AS expression`; the planner binds the expression."""

    column: str
    expression: Any
    at: Span | None = None


@dataclass(frozen=True)
class Schema:
    """Schema of a table: columns in declaration order, primary key, watermark.

    Attributes:
        key_name: name of the key's constraint, if declared.
        partition_keys: the physical columns of PARTITIONED BY, in order.
    """

    columns: tuple[TableColumn, ...]
    primary_key: tuple[str, ...] = ()
    watermark: Watermark | None = None
    key_name: str | None = None
    partition_keys: tuple[str, ...] = ()

    def place_of(self, column: str) -> Span | None:
        """Return the place of a column's declaration."""
        return next((c.at for c in self.columns if c.name == column), None)

    @property
    def physical(self) -> tuple[Field, ...]:
        """Columns in key and value, in declaration order."""
        return tuple(Field(c.name, c.type) for c in self.columns if isinstance(c, PhysicalColumn))

    @property
    def metadata(self) -> tuple[MetadataColumn, ...]:
        """Metadata columns."""
        return tuple(c for c in self.columns if isinstance(c, MetadataColumn))

    @property
    def computed(self) -> tuple[ComputedColumn, ...]:
        """Computed columns."""
        return tuple(c for c in self.columns if isinstance(c, ComputedColumn))

    @property
    def stored(self) -> tuple[Field, ...]:
        """Physical and metadata columns, in declared order and types: the content of a record."""
        return tuple(
            Field(c.name, c.type)
            for c in self.columns
            if isinstance(c, PhysicalColumn | MetadataColumn)
        )

    @property
    def persisted(self) -> tuple[Field, ...]:
        """Physical and non-virtual metadata columns, in declared order: what an INSERT writes."""
        return tuple(
            Field(c.name, c.type)
            for c in self.columns
            if isinstance(c, PhysicalColumn) or (isinstance(c, MetadataColumn) and not c.virtual)
        )


class Connector(Protocol):
    """Connector of a table, as the planner sees it; sources and sinks never see plan nodes."""

    @property
    def name(self) -> str:
        """Value of `'connector'`, such as `kafka`."""

    @property
    def reads(self) -> ChangelogMode:
        """Row kinds that a scan emits."""

    @property
    def writes(self) -> ChangelogMode:
        """Row kinds that the sink accepts."""

    @property
    def writable_metadata(self) -> tuple[str, ...]:
        """Metadata keys that an INSERT may set."""

    def metadata_type(self, key: str) -> DataType:
        """Return the type of a metadata key; the connector must have the key."""

    def check_source(self) -> None:
        """Raise an error if the options show that the table cannot be read."""

    def check_sink(self) -> None:
        """Raise an error if the options show that the table cannot be written."""

    def describe(self) -> str:
        """Describe formats and other details in a few words, secrets omitted.

        The text is used in plans and messages.
        """

    def fingerprint(self) -> dict[str, object]:
        """Return the properties that a checkpoint depends on; a change makes it incompatible."""


@runtime_checkable
class FormattedConnector(Protocol):
    """A connector whose formats have options on which rows depend."""

    def row_options(self, *, written: bool) -> Mapping[str, str]:
        """Return these options, unless they have their default value.

        Args:
            written: whether rows are written, and not read.
        """


@runtime_checkable
class Upserting(Protocol):
    """A connector that may keep only the last row of each key."""

    @property
    def append_connector(self) -> str | None:
        """Name of the connector that keeps all rows in the same place; None if there is none."""


@runtime_checkable
class WaitingConnector(Protocol):
    """A connector whose sink may wait for the watermark of the query that writes it."""

    @property
    def waits_for_watermark(self) -> bool:
        """Whether the sink waits for the watermark."""


@runtime_checkable
class SnapshotConnector(Protocol):
    """A connector whose scan may begin with the rows that exist."""

    @property
    def has_snapshot(self) -> bool:
        """Whether the scan begins with a snapshot: it then adds every row before retracting it."""


@runtime_checkable
class LookupConnector(Protocol):
    """Connector whose tables a lookup join can look up, as the planner sees it."""

    def check_lookup(self, keys: Sequence[str]) -> None:
        """Raise an error if rows cannot be looked up by equality of these columns."""

    def describe_lookup(self) -> str:
        """Describe the cache and other details of lookups in a few words, for plans."""


@dataclass(frozen=True)
class Table:
    """A table of the catalog: name, checked schema and connector.

    Attributes:
        idle_timeout: time without records after which a split is idle; None: the setting's.
        options: the WITH clause as written, including `connector`.
    """

    name: str
    schema: Schema
    connector: Connector
    comment: str | None = None
    at: Span | None = None
    idle_timeout: timedelta | None = None
    options: Mapping[str, Given] = field(default_factory=dict, compare=False)
