"""`Lookup`: finds rows of a table by key, for lookup joins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from streamtable.connector_api.preflight import Preflight
from streamtable.core.errors import Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.types import Field
from streamtable.jvm.bridge import Bridge


@dataclass(frozen=True)
class LookupCache:
    """A cache of looked-up keys in each task; None: no limit.

    Attributes:
        max_rows: the largest number of keys.
        expire_after_write: the lifetime of a key after its rows were read.
        expire_after_access: the lifetime of a key after its last use.
        missing_keys: whether keys without rows are cached.
    """

    max_rows: int | None
    expire_after_write: timedelta | None
    expire_after_access: timedelta | None
    missing_keys: bool


class Lookup(Protocol):
    """Looks up rows of one table. A task has a connection and a cache of its own."""

    @property
    def table(self) -> str:
        """The table's name, for messages, counters and metrics."""

    @property
    def at(self) -> Span | None:
        """The position of the table's declaration."""

    @property
    def cache(self) -> LookupCache | None:
        """The cache of looked-up keys; None for no cache."""
        return None

    def reader(self, key: tuple[Field, ...], row: tuple[Field, ...], bridge: Bridge) -> Any:
        """Return the Java `LookupTable`.

        Args:
            key: the columns to look up by, in the types of the table.
            row: the columns to read.
            bridge: the JVM side.
        """

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:
        """Return why the lookup does not support real-time mode; None if it does."""
        return None

    def examine(self, preflight: Preflight) -> None:
        """Check the connection, the rights, and that the table has its declared columns.

        Raises:
            StreamtableError: the table cannot be looked up.
        """
        return

    def explain(self, sink: str, text: str) -> StreamtableError | None:
        """Translate the exception that ended a query; None if the lookup does not know it.

        Args:
            sink: the table that the query writes.
            text: the exception with all its causes, as Spark prints it.
        """
        return None
