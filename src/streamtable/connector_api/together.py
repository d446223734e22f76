"""Tables that one query can write together: what their connectors declare."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from streamtable.core.table import Table


@dataclass(frozen=True)
class CommonWriter:
    """What tables must have in common to be written by one query.

    Attributes:
        connector: name of the implementation, the same for equal `JointSink` classes.
        exactly_once: whether a task writes all sinks in one transaction.
        settings: everything else that must be equal.
    """

    connector: str
    exactly_once: bool
    settings: Hashable


@runtime_checkable
class WrittenTogether(Protocol):
    """A connector of which one query can write several tables; its sinks are `JointSink`s."""

    @property
    def common_writer(self) -> CommonWriter | None:
        """What the other tables must have in common with this one; None for a query of its own."""

    @property
    def writer_id(self) -> str | None:
        """The name under which a transaction keeps its progress in the external system, or None.

        The first table of a query decides, and the checkpoint keeps the name.
        """


def common_writer_of(table: Table) -> CommonWriter | None:
    """Return what other tables must have in common with a table to be written by its query."""
    connector = table.connector
    return connector.common_writer if isinstance(connector, WrittenTogether) else None


def writer_id_of(table: Table) -> str | None:
    """Return `WrittenTogether.writer_id` of a table."""
    connector = table.connector
    return connector.writer_id if isinstance(connector, WrittenTogether) else None
