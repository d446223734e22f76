"""`BlackholeSink`: counts and discards rows."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.sink import Sink, SinkFacts, WriteContext
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.blackhole.factory import BlackholeTable


@dataclass(frozen=True)
class BlackholeSink(TableEndpoint[BlackholeTable], Sink):
    """Computes and counts every row, and discards it."""

    @property
    def target(self) -> str:
        """A unique target, because blackhole tables share nothing."""
        return f"blackhole {self.table}"

    def write(self, writer: DataStreamWriter, facts: SinkFacts, context: WriteContext) -> None:  # noqa: ARG002
        """Configure the query to count its rows."""
        bridge = context.bridge
        counting = bridge.java.console.CountingWriter(context.counters_of(self.table).java)
        bridge.for_each(writer, counting)
