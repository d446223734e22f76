"""Base classes of source-only and sink-only connectors, and of sources and sinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from streamtable.core.changelog import APPEND, RETRACT, ChangelogMode
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.table import Schema
from streamtable.core.types import DataType

if TYPE_CHECKING:
    from streamtable.connector_api.sink import Sink
    from streamtable.connector_api.source import Source


class DeclaredTable(Protocol):
    """The declaration of a table, for messages of its source or sink."""

    @property
    def table(self) -> str:
        """The table's name."""

    @property
    def at(self) -> Span | None:
        """The position of the declaration."""


D = TypeVar("D", bound=DeclaredTable)


@dataclass(frozen=True)
class TableEndpoint(Generic[D]):
    """A `Source` or a `Sink` of one declared table; equal if the declarations are equal.

    Attributes:
        declared: the table's connector.
    """

    declared: D

    @property
    def table(self) -> str:
        """The table's name."""
        return self.declared.table

    @property
    def at(self) -> Span | None:
        """The position of the declaration."""
        return self.declared.at


@dataclass(frozen=True, kw_only=True)
class _PlainTable:
    """A table without metadata columns.

    Attributes:
        name: the connector's name.
        table: the table's name, for messages.
        schema: the table's columns.
        at: the position of the declaration.
    """

    name: str
    table: str
    schema: Schema
    at: Span | None = None

    def __post_init__(self) -> None:
        for column in self.schema.metadata:
            raise StreamtableError(
                Condition.UNKNOWN_METADATA,
                at=column.at,
                hint="it has no metadata columns",
                connector=self.name,
                key=column.key,
            )

    @property
    def writable_metadata(self) -> tuple[str, ...]:
        """No key: the table has no metadata columns."""
        return ()

    def metadata_type(self, key: str) -> DataType:
        """Raise an error: the table has no metadata columns."""
        raise KeyError(key)

    def describe(self) -> str:
        """Return the connector's name."""
        return self.name

    def fingerprint(self) -> dict[str, object]:
        """Return the connector and its physical columns."""
        columns = [f"{field.name} {field.type}" for field in self.schema.physical]
        return {"connector": self.name, "columns": columns}


class SourceTable(_PlainTable):
    """A table that can only be read, and that emits inserts only."""

    @property
    def reads(self) -> ChangelogMode:
        """The row kind insert."""
        return APPEND

    @property
    def writes(self) -> ChangelogMode:
        """No row kind: the table cannot be written."""
        return APPEND

    def check_source(self) -> None:
        """Accept every table: all such tables can be read."""

    def check_sink(self) -> None:
        """Raise NOT_WRITABLE."""
        raise StreamtableError(
            Condition.NOT_WRITABLE, at=self.at, table=self.table, connector=self.name
        )

    def source(self) -> Source:
        """Return the source of the table."""
        raise NotImplementedError


class SinkTable(_PlainTable):
    """A table that can only be written, and that accepts every row kind."""

    @property
    def reads(self) -> ChangelogMode:
        """No row kind: the table cannot be read."""
        return APPEND

    @property
    def writes(self) -> ChangelogMode:
        """Every row kind."""
        return RETRACT

    def check_source(self) -> None:
        """Raise NOT_READABLE."""
        raise StreamtableError(
            Condition.NOT_READABLE, at=self.at, table=self.table, connector=self.name
        )

    def check_sink(self) -> None:
        """Accept every table: all such tables can be written."""

    def sink(self) -> Sink:
        """Return the sink of the table."""
        raise NotImplementedError
