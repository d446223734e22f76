"""Run a job: write the reader's rows to Kafka in micro-batches, with a checkpoint for each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from streamtable.connector_api.dataset import Dataset
from streamtable.connector_api.preflight import Notice, Preflight
from streamtable.connectors.kafka.options.options import BOOTSTRAP_SERVERS
from streamtable.connectors.mysql_cdc.reader import TableId, check
from streamtable.connectors.mysql_cdc.server_options import HOSTNAME, PORT
from streamtable.core.options import Settings
from streamtable.core.settings.execution import CHECKPOINT_DIRECTORY
from streamtable.core.settings.reporting import METRIC_LABELS
from streamtable.ingest.file import options as o
from streamtable.ingest.file.job_file import JobFile
from streamtable.ingest.records.known import KnownTable
from streamtable.ingest.records.rules import shared_topics
from streamtable.ingest.run.kept import known_tables, with_tables
from streamtable.ingest.run.progress import Progress, estimated_rows
from streamtable.ingest.run.report import Report
from streamtable.ingest.run.running import RunningIngest
from streamtable.ingest.run.target import QUERY, Target
from streamtable.ingest.spec import ingest_spec
from streamtable.jvm.bridge import Bridge
from streamtable.runtime.checkpoint.checkpoint import begin
from streamtable.runtime.checkpoint.storage.remote import is_remote
from streamtable.runtime.checkpoint.storage.torn_files import check_whole
from streamtable.runtime.lineage.flows import Flow
from streamtable.runtime.lineage.reporter import reported_lineage
from streamtable.runtime.opening import JobOpening
from streamtable.runtime.status.reporter import StatusReporter
from streamtable.runtime.stop_signals import stop_signals
from streamtable.runtime.ui.job_ui import JobUi, job_ui
from streamtable.runtime.ui.server import UiAddress


@dataclass(frozen=True)
class IngestOptions:
    """Options of a run.

    Attributes:
        bounded: whether the job copies the existing rows, then ends.
        checkpoint: the directory of the checkpoint; a temporary directory if neither this option
            nor the setting is set.
        master: Spark's master URL; None is this machine.
        verbose: whether to show Spark's own log.
        ui: where the job serves its page; None for no page.
    """

    bounded: bool = False
    checkpoint: str | None = None
    master: str | None = None
    verbose: bool = False
    ui: UiAddress | None = None


def run_ingest(
    job: JobFile,
    settings: Settings,
    options: IngestOptions,
    notice: Notice,
    show: Callable[[str], None],
    every: float = 10.0,
) -> None:
    """Run a job until a stop is requested or, if bounded, until its end.

    The job writes nothing before the file, the checkpoint, the server and the cluster have been
    checked.

    Args:
        job: the job file.
        settings: the session's settings.
        options: the options of the run.
        notice: called with one line for the user.
        show: called with each progress line.
        every: seconds between two progress lines.

    Raises:
        StreamtableError: any error of the job.
    """
    directory = options.checkpoint or settings.get(CHECKPOINT_DIRECTORY)
    report = Report(QUERY, job.sink.get(o.NAME) or "Kafka")
    with ExitStack() as stack:
        stop = stack.enter_context(stop_signals())
        opening = JobOpening(
            stack, settings, options.master, None, stop, notice, verbose=options.verbose
        )
        checkpoint = opening.checkpoint(directory, {}, bounded=options.bounded)
        reporter = stack.enter_context(
            StatusReporter(
                report.job(
                    settings, described(job), checkpoint.directory, temporary=directory is None
                ),
                report.metrics.values,
                stop,
                notice,
                report.reader,
            )
        )
        labels = settings.get(METRIC_LABELS) or {}
        page = JobUi(report.graph(), reporter.document, report.metrics, labels)
        stack.enter_context(job_ui(page, options.ui, notice))
        status = checkpoint.directory / "reader.json"
        if is_remote(directory):
            # Two processes of this machine write the file, for this run only.
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="streamtable-"))
            status = Path(scratch, "reader.json")
        spec = replace(ingest_spec(job), status=str(status)).without_keyless()
        checked = check(spec.source)
        known = known_tables(checkpoint)
        tables = with_tables(known, checked.tables, spec.records, checkpoint)
        notice(f"{described(job)}: {len(tables)} tables")
        topics = sorted({topic for table in tables.values() for topic in table.topics})
        for line in (*checked.notices, *shared_topics(tables, spec.records)):
            notice(line)
        stack.enter_context(
            reported_lineage(
                reporter.document().name,
                _flows(job, tables),
                settings,
                report.metrics.values,
                stop,
                notice,
                bounded=options.bounded,
            )
        )
        spark = opening.spark()
        spark.settle()
        bridge = Bridge(spark.session)
        query = checkpoint.directory / QUERY
        preflight = Preflight(bridge, settings, notice, options.bounded, not known)
        target = Target(job, checkpoint.id, query, preflight)
        target.make_ready(topics)
        begin(checkpoint, {})
        check_whole(query, notice)
        running = RunningIngest(
            spec.with_known(tables).with_tables(checked.tables),
            tables,
            checkpoint,
            target,
            notice,
            report,
            bounded=options.bounded,
        )
        expected = estimated_rows(spec.source, tables)
        progress = Progress(tables, expected, running.counters, show, every)
        reporter.running()
        running.run(spark.session, topics, stop, progress)
        notice(progress.summary())


def _flows(job: JobFile, tables: Mapping[TableId, KnownTable]) -> dict[str, Flow]:
    """Return a flow per table; types of columns are left to the server."""
    server = f"mysql://{job.source[HOSTNAME]}:{job.source[PORT]}"
    brokers = f"kafka://{job.sink[BOOTSTRAP_SERVERS].split(',')[0].strip()}"
    return {
        str(name): Flow(
            {Dataset(server, str(name)): [(column, None) for column in table.columns]},
            {Dataset(brokers, topic): () for topic in table.topics},
        )
        for name, table in tables.items()
    }


def described(job: JobFile) -> str:
    """Return a short text with the names and addresses of source and sink."""
    source, sink = job.source, job.sink
    first, second = source.get(o.NAME), sink.get(o.NAME)
    server = f"{source[HOSTNAME]}:{source[PORT]}"
    return f"{first or 'MySQL'} ({server}) to {second or 'Kafka'} ({sink[BOOTSTRAP_SERVERS]})"
