"""`PrintSink`: prints rows to the standard output of their task."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.sink import Sink, SinkFacts, WriteContext
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.print.factory import PrintTable
from streamtable.core.types import Root, quote


@dataclass(frozen=True)
class PrintSink(TableEndpoint[PrintTable], Sink):
    """Prints one line per row, as Flink does: `+I[1, Ada]`."""

    @property
    def target(self) -> str:
        """A unique target, because print tables share nothing."""
        return f"print {self.table}"

    def encode(self, rows: DataFrame, context: WriteContext) -> DataFrame:  # noqa: ARG002
        """Return the rows, bitmaps as texts, in at most as many tasks as the table allows."""
        bitmaps = {
            field.name: F.expr(f"flink_bitmap_to_string({quote(field.name)})")
            for field in self.declared.schema.persisted
            if field.type.root is Root.BITMAP
        }
        shown = rows.withColumns(bitmaps) if bitmaps else rows
        tasks = self.declared.parallelism
        return shown if tasks is None else shown.coalesce(tasks)

    def write(self, writer: DataStreamWriter, facts: SinkFacts, context: WriteContext) -> None:  # noqa: ARG002
        """Configure the query to print its rows."""
        bridge, counters = context.bridge, context.counters_of(self.table)
        stream = _standard_error() if self.declared.standard_error else None
        make = bridge.java.console.PrintWriter
        bridge.for_each(writer, make(self.declared.identifier, stream, counters.java))


def _standard_error() -> str:
    """Return the file of this process's standard error; Spark's JVM writes its own to a log."""
    return f"/proc/{os.getpid()}/fd/2"
