"""A resolved table as the planner sees it: schema, key, time attributes, what its ends can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from streamtable.core.changelog import ChangelogMode
from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.core.types import DataType, Field


@dataclass(frozen=True)
class PhysicalColumn:
    """A column that lives in the record's key or value."""

    name: str
    type: DataType
    at: Span | None = None
    comment: str | None = None


@dataclass(frozen=True)
class MetadataColumn:
    """A column read from (and, unless virtual, written to) the record's envelope.

    Attributes:
        key: the connector's metadata key, e.g. `timestamp`.
        virtual: read only; not part of what an INSERT writes.
    """

    name: str
    type: DataType
    key: str
    virtual: bool = False
    at: Span | None = None
    comment: str | None = None


@dataclass(frozen=True)
class ComputedColumn:
    """A column computed from the others when the table is read; never written.

    Attributes:
        expression: sqlglot expression, bound by the planner (kept opaque here).
    """

    name: str
    expression: Any
    at: Span | None = None
    comment: str | None = None


TableColumn = PhysicalColumn | MetadataColumn | ComputedColumn


@dataclass(frozen=True)
class Watermark:
    """`WATERMARK FOR column AS expression`; the expression is bound by the planner."""

    column: str
    expression: Any
    at: Span | None = None


@dataclass(frozen=True)
class Schema:
    """Columns in declaration order, primary key, watermark.

    Attributes:
        key_name: the name of the key's constraint, where it was given one.
    """

    columns: tuple[TableColumn, ...]
    primary_key: tuple[str, ...] = ()
    watermark: Watermark | None = None
    key_name: str | None = None

    def place_of(self, column: str) -> Span | None:
        """Where a column is declared."""
        return next((c.at for c in self.columns if c.name == column), None)

    @property
    def physical(self) -> tuple[Field, ...]:
        """What lives in key and value, in declaration order."""
        return tuple(Field(c.name, c.type) for c in self.columns if isinstance(c, PhysicalColumn))

    @property
    def metadata(self) -> tuple[MetadataColumn, ...]:
        """What is read from the envelope."""
        return tuple(c for c in self.columns if isinstance(c, MetadataColumn))

    @property
    def computed(self) -> tuple[ComputedColumn, ...]:
        """What is computed on reading."""
        return tuple(c for c in self.columns if isinstance(c, ComputedColumn))

    @property
    def stored(self) -> tuple[Field, ...]:
        """What a record holds: physical and metadata columns, in declared order and types."""
        return tuple(
            Field(c.name, c.type)
            for c in self.columns
            if isinstance(c, PhysicalColumn | MetadataColumn)
        )

    @property
    def persisted(self) -> tuple[Field, ...]:
        """What an INSERT writes: physical and non-virtual metadata columns, in declared order."""
        return tuple(
            Field(c.name, c.type)
            for c in self.columns
            if isinstance(c, PhysicalColumn) or (isinstance(c, MetadataColumn) and not c.virtual)
        )


class Connector(Protocol):
    """What the planner asks of a table's connector; the ends themselves never see plan nodes."""

    @property
    def name(self) -> str:
        """`kafka` or `upsert-kafka`."""

    @property
    def reads(self) -> ChangelogMode:
        """The row kinds a scan gives."""

    @property
    def writes(self) -> ChangelogMode:
        """The row kinds the sink takes."""

    @property
    def writable_metadata(self) -> tuple[str, ...]:
        """Metadata keys that an INSERT may set."""

    def metadata_type(self, key: str) -> DataType:
        """The type of a metadata key that the connector is known to have."""

    def check_sink(self) -> None:
        """Raises where the table can be read but not written, as far as its options tell."""

    def describe(self) -> str:
        """Formats and the like in a few words, secrets left out; for plans and messages."""

    def fingerprint(self) -> dict[str, object]:
        """What a checkpoint depends on; a change of it makes the checkpoint another job's."""


@dataclass(frozen=True)
class Table:
    """A table of the catalog: name, checked schema and a connector bound to its options.

    Attributes:
        options: what its WITH clause holds, `connector` included, as it was written.
    """

    name: str
    schema: Schema
    connector: Connector
    comment: str | None = None
    at: Span | None = None
    options: Mapping[str, Given] = field(default_factory=dict, compare=False)
