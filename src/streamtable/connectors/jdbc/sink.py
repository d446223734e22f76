"""`JdbcSink`: writes a changelog to a table of a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.preflight import Preflight, Resource
from streamtable.connector_api.sink import Sink, SinkFacts, WriteContext
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.jdbc.java import checked, explain, java_table
from streamtable.connectors.jdbc.table import JdbcTable
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.durations import milliseconds
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import spark_ddl
from streamtable.jvm.bridge import Bridge


@dataclass(frozen=True)
class JdbcSink(TableEndpoint[JdbcTable], Sink):
    """Writes upserts and deletes by the primary key, or inserts without one."""

    @property
    def target(self) -> str:
        """The table and its database."""
        return f"{self.declared.name_there} at {self.declared.access.shown_url}"

    @property
    def target_noun(self) -> str:
        """What messages call the target."""
        return "table"

    def encode(self, rows: DataFrame, context: WriteContext) -> DataFrame:  # noqa: ARG002
        """Return the rows without update-before rows, which the following rows replace."""
        if self.declared.schema.primary_key:
            rows = rows.where(f"{ROW_KIND_COLUMN} <> {RowKind.UPDATE_BEFORE.value}")
        tasks = self.declared.writing.tasks
        # coalesce merges whole tasks, so the order within each task is kept.
        return rows if tasks is None else rows.coalesce(tasks)

    @property
    def names_tasks_by_split(self) -> bool:
        """Whether the sink is exactly-once: the rows of a task carry the name of its split."""
        return self.declared.writing.exactly_once

    def write(self, writer: DataStreamWriter, facts: SinkFacts, context: WriteContext) -> None:
        """Configure the query to write its rows over JDBC."""
        bridge, table = context.bridge, self.declared
        writing = table.writing
        java = bridge.java.jdbc
        spec = java.SinkSpec(
            java_table(table, bridge),
            spark_ddl(table.schema.physical),
            bridge.java_list(table.schema.primary_key),
            writing.max_rows,
            milliseconds(writing.interval),
            writing.max_retries,
            f"{facts.job}-{facts.query}" if writing.exactly_once else None,
        )
        counters = context.counters_of(self.table)
        bridge.for_each(writer, java.JdbcWriter(spec, str(facts.directory), counters.java))

    def real_time_obstacle(self) -> StreamtableError | None:
        """Return an error for `sink.parallelism` and for exactly-once."""
        writing = self.declared.writing
        if writing.tasks is not None:
            return StreamtableError(
                Condition.NOT_YET,
                at=self.at,
                what=f"'sink.parallelism' of {self.table} in real-time mode",
                hint="remove it, or SET 'execution.mode' = 'micro-batch'",
            )
        if not writing.exactly_once:
            return None
        return StreamtableError(
            Condition.OPTION_CONFLICT,
            at=self.at,
            reason=f"{self.table} uses exactly-once, which real-time mode does not support, because"
            " the end of a batch is not known when the batch starts",
            hint="SET 'execution.mode' = 'micro-batch', or use 'at-least-once'",
        )

    def examine(self, facts: SinkFacts, preflight: Preflight) -> Sequence[Resource]:
        """Check columns and key in the database; return the table of epochs for exactly-once."""
        bridge, table = preflight.bridge, self.declared
        check = bridge.java.jdbc.TableCheck
        names = bridge.java_list(f.name for f in table.schema.physical)
        checked(table, bridge, lambda java: check.columns(java, names))
        if key := table.schema.primary_key:
            columns = bridge.java_list(key)
            checked(table, bridge, lambda java: check.uniqueKey(java, columns))
        if not table.writing.exactly_once:
            return ()
        self._check_tasks(facts)
        return (EpochTable(table, bridge),)

    def _check_tasks(self, facts: SinkFacts) -> None:
        """Refuse tasks that may have other rows when a batch runs again."""
        reason = facts.merge_obstacle(self.declared.writing.tasks)
        if reason is None and not facts.reads_splits_alone:
            reason = "a task of the source may read other rows when a batch runs again"
        if reason is not None:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=self.at,
                reason=f"{reason}, but {self.table} uses exactly-once, which recognizes the rows of"
                " a task by its partition",
                hint="use 'at-least-once' with a PRIMARY KEY",
            )

    def explain(self, sink: str, text: str) -> StreamtableError | None:  # noqa: ARG002
        """Translate an error of the database."""
        return explain(self.declared, text)

    def rollback_obstacle(self, facts: SinkFacts) -> str | None:  # noqa: ARG002
        """Return an obstacle: a database keeps no earlier rows."""
        return f"the database of {self.table} keeps no earlier rows to roll back to"


@dataclass(frozen=True)
class EpochTable:
    """The table of epochs in the database of an exactly-once sink."""

    table: JdbcTable
    bridge: Bridge

    @property
    def name(self) -> str:
        """The name of the table and its database."""
        return f"streamtable_epochs at {self.table.access.shown_url}"

    @property
    def place(self) -> str:
        """The whole url, which is never shown."""
        return self.table.access.url

    def check(self) -> None:
        """Check nothing: only the creation shows whether the user may create a table."""

    def create(self) -> None:
        """Create the table unless it exists."""
        create = self.bridge.java.jdbc.TableCheck.createEpochs
        checked(self.table, self.bridge, create)
