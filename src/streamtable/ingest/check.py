"""`streamtable check`: examine source and sink before a job runs; each error names its fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streamtable.connector_api.preflight import Preflight
from streamtable.connectors.mysql_cdc.reader import TableSchema, discover
from streamtable.connectors.mysql_cdc.reader.check import (
    check_grants,
    check_server_ids,
    check_table,
    reader_notices,
    retention_notices,
    variable_faults,
)
from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.core.errors import StreamtableError
from streamtable.core.options import Settings
from streamtable.ingest.file.job_file import JobFile
from streamtable.ingest.file.routes import topics_of
from streamtable.ingest.records.planning import plan_programs
from streamtable.ingest.records.rules import shared_topics
from streamtable.ingest.records.shape import shape_of
from streamtable.ingest.run.target import Target
from streamtable.ingest.spec import IngestSpec, ingest_spec
from streamtable.jvm.bridge import Bridge
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.stop_signals import stop_signals

#: MariaDB's version prefix for old replicas.
_REPLICATION_HACK = "5.5.5-"


@dataclass
class Report:
    """The report of the checks, one line each.

    Attributes:
        show: called with each line of output.
        faults: the number of errors to fix before the job can run.
    """

    show: Callable[[str], None]
    faults: int = 0

    @contextmanager
    def item(self, name: str) -> Iterator[Callable[[str], None]]:
        """Report one check: `ok` if no error is raised.

        Yields a function that takes a line which is not an error.
        """
        notes: list[str] = []
        try:
            yield notes.append
        except StreamtableError as error:
            self.fault(name, error)
        else:
            self.show(f"ok     {name}" + (f": {'; '.join(notes)}" if notes else ""))

    def fault(self, name: str, error: StreamtableError) -> None:
        """Report an error that must be fixed."""
        self.faults += 1
        self.show(f"FAULT  {name}: {error}")


def check_job(
    job: JobFile, settings: Settings, master: str | None, show: Callable[[str], None]
) -> bool:
    """Check whether a job could run now; report every error, and change nothing.

    Args:
        job: the job file.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        show: called with each line of output.
    """
    report = Report(show)
    show(f"ok     job file: {job.file}")
    spec = ingest_spec(job)
    tables = _check_mysql(spec, report)
    topics = {t for table in tables for t in topics_of(table.id, spec.records.routes)}
    _check_kafka(job, sorted(topics), settings, master, report)
    for line in shared_topics((table.id for table in tables), spec.records):
        show(f"note   {line}")
    return report.faults == 0


def _check_mysql(spec: IngestSpec, report: Report) -> list[TableSchema]:
    source = spec.source
    name = f"connection to {source.settings.server}"
    opened = Session(source.settings)
    try:
        version = opened.version
    except StreamtableError as error:
        report.fault(name, error)
        return []
    report.show(f"ok     {name}: {version.removeprefix(_REPLICATION_HACK)}")
    try:
        faults = list(variable_faults(opened))
        for fault in faults:
            report.fault("binlog settings", fault)
        if not faults:
            names = "log_bin, binlog_format, binlog_row_image, binlog_row_metadata"
            report.show(f"ok     binlog settings: {names}")
        with report.item("server-id") as note:
            check_server_ids(opened, source)
            for line in reader_notices(opened, source):
                note(line)
        with report.item("grants"):
            check_grants(opened, source)
        with report.item("binlog retention") as note:
            for line in retention_notices(opened):
                note(line)
        return _check_tables(spec, opened, report)
    finally:
        opened.close()


def _check_tables(spec: IngestSpec, opened: Session, report: Report) -> list[TableSchema]:
    found: list[TableSchema] = []
    wanted = spec.source.tables()
    there = [t for t in discover(spec.source.settings, spec.source.patterns) if wanted(t.id)]
    for table in there:
        with report.item(f"table {table.id}") as note:
            shape = shape_of(table, spec.records)
            if shape is None:
                note("left out, because it has no primary key")
                continue
            check_table(opened, table, spec.source)
            plan_programs([table], spec.records)
            note(f"{len(table.columns)} columns to {', '.join(shape.topics)}")
            found.append(table)
    if not there:
        patterns = ", ".join(spec.source.patterns)
        seen = "the user sees only tables that it may read (GRANT SELECT)"
        report.show(f"note   no table matches {patterns} yet; {seen}")
    return found


def _check_kafka(
    job: JobFile,
    topics: Iterable[str],
    settings: Settings,
    master: str | None,
    report: Report,
) -> None:
    notices: list[str] = []
    with (
        stop_signals() as stop,
        job_spark(settings, master, None, stop, lambda _: None) as spark,
    ):
        spark.settle()
        preflight = Preflight(Bridge(spark.session), settings, notices.append, False, False)
        target = Target(job, "check", Path(), preflight)
        for topic in topics:
            with report.item(f"topic {topic}") as note:
                for line in target.examine(topic):
                    note(line)
                for line in notices:
                    note(line)
            notices.clear()
