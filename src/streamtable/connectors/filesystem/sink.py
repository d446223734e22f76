"""`FilesystemSink`: writes rows to files with Spark's writers, each batch once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.preflight import Preflight, Resource
from streamtable.connector_api.sink import Sink, SinkFacts, WriteContext
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.filesystem.location import exists
from streamtable.connectors.filesystem.partition_timer import (
    PartitionTimer,
    check_commit,
    commit_options,
    no_time,
)
from streamtable.connectors.filesystem.table import FilesystemTable, Lines
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import Field, quote
from streamtable.jvm.literals import null

_FORMAT = "io.streamtable.files.FileSinkProvider"
#: The column of lines.
_LINE = "__line"


@dataclass(frozen=True)
class FilesystemSink(TableEndpoint[FilesystemTable], Sink):
    """Writes inserts to new files of a directory and its partitions."""

    @property
    def target(self) -> str:
        """The directory; queries that write the same directory write separate files."""
        return f"{self.declared.path} of {self.table}"

    def encode(self, rows: DataFrame, context: WriteContext) -> DataFrame:
        """Return the columns of the files, then the partition columns as directory names."""
        table, content = self.declared, self.declared.content
        if isinstance(content, Lines):
            fields = F.struct(*(_column(f) for f in table.data))
            encoder = content.format.encoder(table.data, content.settings)
            columns = [context.bridge.encode(encoder, fields).alias(_LINE)]
            bytes_ = F.col(_LINE)
        else:
            columns = [_column(f) for f in table.data]
            bytes_ = null("binary")
        encoded = rows.select(*columns, *map(self._directory, table.partitions))
        java = context.bridge.java.files.RowMeter
        counters = context.counters_of(self.table).java
        encoded = encoded.where(
            Column(java.counted(counters, context.bridge.java_columns([bytes_])))
        )
        if isinstance(content, Lines):
            encoded = encoded.withColumn(_LINE, F.col(_LINE).cast("string"))
        return self._distributed(encoded)

    def _directory(self, field: Field) -> Column:
        """Return the value of a partition column as a directory name."""
        text = F.nullif(_column(field).cast("string"), F.expr("''"))
        return F.coalesce(text, F.lit(self.declared.default_partition)).alias(field.name)

    def _distributed(self, rows: DataFrame) -> DataFrame:
        """Distribute the rows over the tasks that the table's options require."""
        writing = self.declared.writing
        keys = [quote(f.name) for f in self.declared.partitions]
        if keys and (writing.by_partition or writing.compacts):
            if writing.tasks is None:
                return rows.repartition(*keys)
            return rows.repartition(writing.tasks, *keys)
        if writing.compacts:
            return rows.repartition(1)
        # coalesce merges whole tasks without a shuffle.
        return rows if writing.tasks is None else rows.coalesce(writing.tasks)

    def write(self, writer: DataStreamWriter, facts: SinkFacts, context: WriteContext) -> None:  # noqa: ARG002
        """Configure the query to write files, each batch once."""
        table = self.declared
        lines = isinstance(table.content, Lines)
        query = re.sub(r"[^A-Za-z0-9_.]", "_", facts.query)
        writer.format(_FORMAT)
        writer.options(**self._commits(facts))
        writer.option("writer", "text" if lines else "parquet")
        writer.option("extension", f".{table.content.name}")
        writer.option("id", f"{facts.job}-{query}")
        if not isinstance(table.content, Lines):
            for key, value in table.content.options.items():
                writer.option(f"writer.{key}", value)
        if table.partitions:
            writer.partitionBy(*(f.name for f in table.partitions))

    def _commits(self, facts: SinkFacts) -> dict[str, str]:
        """Return the options of the writer that the timer of the sink needs, too."""
        commit = self.declared.writing.commit
        return {
            "directory": self.declared.path,
            "log": str(facts.directory / "files"),
            **({} if commit is None else commit_options(commit)),
        }

    def timer(self, facts: SinkFacts, context: WriteContext) -> PartitionTimer | None:
        """Return the timer that commits partitions; None if none are committed."""
        if self.declared.writing.commit is None:
            return None
        return PartitionTimer.open(self.declared, self._commits(facts), context.bridge)

    def explain(self, sink: str, text: str) -> StreamtableError | None:  # noqa: ARG002
        """Translate the exception about a partition without a time."""
        return no_time(self.declared, text)

    def examine(self, facts: SinkFacts, preflight: Preflight) -> Sequence[Resource]:  # noqa: ARG002
        """Check path and partition commit; a batch creates the directory."""
        exists(self.declared, self.table, self.at, preflight.bridge)
        commit = self.declared.writing.commit
        if commit is not None:
            check_commit(self.declared, commit, preflight.bridge)
        return ()

    def real_time_obstacle(self) -> StreamtableError | None:
        """Return an error: files are written at the end of a micro-batch."""
        return StreamtableError(
            Condition.NOT_YET,
            at=self.at,
            what=f"writing table {self.table} of connector 'filesystem' in real-time mode",
            hint="SET 'execution.mode' = 'micro-batch'",
        )


def _column(field: Field) -> Column:
    return F.col(quote(field.name))
