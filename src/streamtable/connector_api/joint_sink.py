"""`JointSink`: a sink that one query can write together with others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.sink import SinkFacts, WriteContext
from streamtable.core.errors import InternalError
from streamtable.core.table import Table


@runtime_checkable
class JointSink(Protocol):
    """A `Sink` that one query can write together with others of an equal `CommonWriter`."""

    def encode_together(self, rows: DataFrame, context: WriteContext) -> DataFrame:
        """Encode rows as `Sink.encode` does, into columns that all of these sinks have."""

    def write_together(
        self,
        sinks: Sequence[JointSink],
        writer: DataStreamWriter,
        facts: SinkFacts,
        context: WriteContext,
    ) -> None:
        """Configure a streaming query to write the rows of several sinks.

        Args:
            sinks: all sinks, this one first; the last column of a row (INT) is the place of its
                sink.
            writer: the query, with trigger and checkpoint.
            facts: facts about the query.
            context: the context of the job.
        """


def joint_sink_of(table: Table) -> JointSink:
    """Return the sink of a table with a `CommonWriter`."""
    found = sink_of(table)
    if not isinstance(found, JointSink):
        msg = f"{table.name} needs a query of its own"
        raise InternalError(msg)
    return found
