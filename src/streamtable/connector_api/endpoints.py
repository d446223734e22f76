"""Source, lookup and sink of a table in a plan."""

from __future__ import annotations

from streamtable.connector_api.connector import Lookable, Readable, Writable
from streamtable.connector_api.lookup import Lookup
from streamtable.connector_api.sink import Sink
from streamtable.connector_api.source import Source
from streamtable.core.errors import InternalError
from streamtable.core.table import Table


def source_of(table: Table) -> Source:
    """Return the source of a table; the planner has refused tables without a source."""
    connector = table.connector
    if not isinstance(connector, Readable):
        msg = f"table {table.name} of connector '{connector.name}' has no source"
        raise InternalError(msg)
    return connector.source()


def lookup_of(table: Table) -> Lookup:
    """Return the lookup of a table; the planner has refused tables without a lookup."""
    connector = table.connector
    if not isinstance(connector, Lookable):
        msg = f"table {table.name} of connector '{connector.name}' has no lookup"
        raise InternalError(msg)
    return connector.lookup()


def sink_of(table: Table) -> Sink:
    """Return the sink of a table; the planner has refused tables without a sink."""
    connector = table.connector
    if not isinstance(connector, Writable):
        msg = f"table {table.name} of connector '{connector.name}' has no sink"
        raise InternalError(msg)
    return connector.sink()
