"""WITH options of a `blackhole` table; source: Flink's *BlackHole SQL Connector* page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.tables import SinkTable
from streamtable.core.errors import Span
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Given, Option, OptionSet
from streamtable.core.table import Schema

if TYPE_CHECKING:
    from streamtable.connectors.blackhole.sink import BlackholeSink

CONNECTOR = Option("connector", TEXT, required=True, doc="`blackhole`.")

OPTIONS = OptionSet("connector 'blackhole'", (CONNECTOR,))


class BlackholeTable(SinkTable):
    """A table that discards its rows."""

    def sink(self) -> BlackholeSink:
        """Return the sink of the table."""
        from streamtable.connectors.blackhole.sink import BlackholeSink  # a plan needs no Spark

        return BlackholeSink(self)


def create(
    table: str, schema: Schema, given: Mapping[str, Given], at: Span | None
) -> BlackholeTable:
    """Create a checked `blackhole` table.

    Raises:
        StreamtableError: an error in the options, at its position.
    """
    OPTIONS.read(given, table, at)
    return BlackholeTable(name="blackhole", table=table, schema=schema, at=at)


BLACKHOLE = ConnectorFactory(OPTIONS, create, partitioned=True)
