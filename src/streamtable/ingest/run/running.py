"""The query of a job, from its start to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pyspark.sql import SparkSession

from streamtable.connector_api.preflight import Notice
from streamtable.connectors.mysql_cdc.reader import TableId, TableSchema, discover
from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.file.routes import topics_of
from streamtable.ingest.records.known import KnownTable
from streamtable.ingest.records.unplanned import unplanned_table
from streamtable.ingest.run.computing import computed
from streamtable.ingest.run.kept import keep_tables, with_tables
from streamtable.ingest.run.new_tables import answer, asked_tables, forget
from streamtable.ingest.run.progress import Progress
from streamtable.ingest.run.report import Report
from streamtable.ingest.run.source import source_class
from streamtable.ingest.run.status import ReaderStatus, read_status
from streamtable.ingest.run.target import QUERY, Target
from streamtable.ingest.spec import IngestSpec
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.query.query_run import QueryRun

_SOURCE = f"streamtable_{QUERY}"
_LOOK_S = 0.1
#: The longest outage of a server before the job fails, and the retry interval, in seconds.
_PATIENCE_S, _AGAIN_S = 600.0, 3.0
#: The minimum duration of a run that counts as connected to its server, in seconds.
_WELL_S = 60.0
#: The longest wait for the end of a batch after a stop was requested, in seconds.
_STOP_S = 20.0


class RunningIngest:
    """A running job.

    Args:
        spec: the spec with the original columns of the tables.
        tables: the known tables.
        checkpoint: the checkpoint of the job.
        target: the sink, whose topics exist.
        notice: called with one line for the user.
        report: takes metrics and the reader's status.
        bounded: whether to end at the end of the binlog at startup.
    """

    def __init__(
        self,
        spec: IngestSpec,
        tables: Mapping[TableId, KnownTable],
        checkpoint: Checkpoint,
        target: Target,
        notice: Notice,
        report: Report,
        *,
        bounded: bool,
    ) -> None:
        self._spec = spec
        self._tables = dict(tables)
        self._checkpoint = checkpoint
        self._target = target
        self._notice = notice
        self._report = report
        self._bounded = bounded
        self._told: set[str] = set()
        self._versions: list[TableSchema] = []
        self.counters = target.bridge.counters()

    def run(
        self,
        spark: SparkSession,
        topics: Sequence[str],
        stop: threading.Event,
        progress: Progress,
    ) -> None:
        """Run the query until its input ends or a stop is requested.

        Raises:
            StreamtableError: the error that ended the query.
        """
        keep_tables(self._checkpoint, self._tables)
        forget(self._spec.status)
        Path(self._spec.status).unlink(missing_ok=True)
        # Transactions store their epochs under the name of one topic, which must not change.
        ledger = self._ledger(topics)
        self._target.make_ready([ledger])
        self._target.recover(ledger)
        self._notice("running" + (" to the end of what is there now" if self._bounded else ""))
        lost: float | None = None
        while True:
            begun = time.monotonic()
            try:
                self._run_once(spark, ledger, stop, progress)
            except StreamtableError as error:
                if error.condition is Condition.TABLE_UNREADABLE and self._planned_anew(error):
                    continue
                now = time.monotonic()
                if lost is None or now - begun > _WELL_S:
                    lost = now
                unreachable = (
                    error.condition is Condition.DATABASE_UNREACHABLE and not self._bounded
                )
                if not unreachable or stop.is_set() or now - lost > _PATIENCE_S:
                    raise
                self._notice(f"{error}; trying again")
                if not stop.wait(_AGAIN_S):
                    continue
            return

    def _run_once(
        self, spark: SparkSession, ledger: str, stop: threading.Event, progress: Progress
    ) -> None:
        spark.dataSource.register(source_class(self._spec, _SOURCE, bounded=self._bounded))
        found = spark.readStream.format(_SOURCE).load()
        records = computed(found, self._spec.records.programs, self._target.bridge)
        rows = self._target.bridge.for_writers(self._target.together(records, ledger))
        writer = rows.writeStream.queryName(QUERY)
        writer = writer.option("checkpointLocation", str(self._checkpoint.directory / QUERY))
        self._target.write(writer, ledger, self.counters)
        run = QueryRun(QUERY, writer)
        try:
            while not (run.has_ended() or stop.is_set()):
                self._checkpoint.check()
                status = read_status(self._spec.status)
                self._tell(status)
                if status is not None and status.ended:
                    break
                self._make_new_topics()
                progress.look(status)
                self._report.look(status, run, self.counters)
                run.wait_for_end(stop, _LOOK_S)
            if stop.is_set():
                run.wait_for_batch(time.monotonic() + _STOP_S)
                if (failure := run.failure()) is not None:
                    raise failure
            self._report.take(run, self.counters)
        finally:
            run.stop()

    def _tell(self, status: ReaderStatus | None) -> None:
        """Show the reader's notices, each once."""
        for line in status.notices if status is not None else ():
            if line not in self._told:
                self._told.add(line)
                self._notice(line)

    def _planned_anew(self, error: StreamtableError) -> bool:
        """Bind transforms to the tables as they are now; False if that changes nothing.

        Spark's plan has the columns and types of the query's start. A task that meets a table
        without a program, or a column that does not fit its program, ends the query. The table may
        be gone, or have other columns now, so the query is also planned for the task's version.
        """
        source = self._spec.source
        wanted = source.tables()
        there = [t for t in discover(source.settings, source.patterns) if wanted(t.id)]
        if (version := unplanned_table(error)) is not None:
            self._versions.append(version)
        spec = self._spec.with_tables([*there, *self._versions])
        if spec.records.programs == self._spec.records.programs:
            return False
        self._spec = spec
        self._notice("tables have changed: transforms are planned anew")
        return True

    def _ledger(self, topics: Sequence[str]) -> str:
        """Return the topic that stores the epochs of transactions, the same in every run."""
        path = self._checkpoint.directory / "ledger"
        with suppress(FileNotFoundError):
            return path.read_text(encoding="utf-8")
        found = topics[0] if topics else f"streamtable-{self._checkpoint.id}"
        self._checkpoint.write("ledger", found)
        return found

    def _make_new_topics(self) -> None:
        """Create the topics of new tables that the reader has found."""
        path, rules = self._spec.status, self._spec.records
        asked = asked_tables(path)
        if not asked:
            return
        there = discover(self._spec.source.settings, self._spec.source.patterns)
        new = [table for table in there if table.id in asked]
        tables = with_tables(self._tables, new, rules, self._checkpoint)
        left_out = {table.id for table in new} - tables.keys()
        copied = [table for table in asked if table not in left_out]
        self._target.make_ready(t for name in copied for t in topics_of(name, rules.routes))
        self._tables = tables
        keep_tables(self._checkpoint, self._tables)
        for table in sorted(copied):
            self._notice(f"{table} is copied, too")
        for table in sorted(left_out):
            self._notice(f"{table} is left out until it has a primary key")
        self._spec = self._spec.with_known(self._tables)  # for the query that an outage restarts
        answer(path, asked, self._tables)
