"""One job: the INSERTs of a script as streaming queries that start, run and end together."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FrameType

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamtable.connectors.kafka.sink import writer_spec
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.options import Settings
from streamtable.core.settings import CHECKPOINT_DIRECTORY, ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import job_fault
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink import lower_sink, sink_table
from streamtable.plan.nodes import Sink
from streamtable.runtime.checkpoint import Checkpoint, begin, open_checkpoint, query_names
from streamtable.runtime.counts import left_out
from streamtable.runtime.modes import (
    check_real_time,
    check_slots,
    chosen_mode,
    ends,
    needed_slots,
    with_trigger,
)
from streamtable.runtime.preflight import Notice, preflight
from streamtable.runtime.spark import start_spark
from streamtable.runtime.transactions import abort_orphans, check_transactions

#: How often the queries are looked at, in seconds.
_POLL_S = 0.2


@dataclass(frozen=True)
class RunOptions:
    """How a job is to run.

    Attributes:
        bounded: process what the topics hold now, then end.
        checkpoint: its directory; wins over the setting. None of both: a temporary one.
        master: Spark's master URL; None is this machine.
        verbose: whether Spark's own log is shown.
    """

    bounded: bool = False
    checkpoint: str | None = None
    master: str | None = None
    verbose: bool = False


def run_job(
    plans: Sequence[Sink],
    settings: Settings,
    options: RunOptions,
    notice: Notice,
    spark: SparkSession | None = None,
) -> None:
    """Runs a job to its end: of its input where it is bounded, else until it is asked to stop.

    Nothing is written before the script, the checkpoint and the cluster have been checked.

    Args:
        plans: one per INSERT.
        settings: the session's settings.
        options: how to run.
        notice: takes one line for the user.
        spark: a session to run in, which is left running; None starts one and stops it.

    Raises:
        StreamtableError: whatever the job meets; the other queries are stopped first.
    """
    if all(map(ends, plans)):
        options = replace(options, bounded=True)
    real_time = chosen_mode(settings, bounded=options.bounded) is ExecutionMode.REAL_TIME
    if real_time:
        check_real_time(plan for plan in plans if not ends(plan))
    named = query_names(plans)
    with _checkpoint(named, settings, options, notice) as checkpoint:
        own = spark or start_spark(settings, options.master, verbose=options.verbose)
        if real_time:
            own = _with_room(own, plans, settings, options, fixed=spark is not None)
        try:
            with _stop_signals() as stop:
                _run(named, own, settings, options, checkpoint, notice, stop)
        finally:
            if spark is None:
                own.stop()


def _with_room(
    spark: SparkSession,
    plans: Sequence[Sink],
    settings: Settings,
    options: RunOptions,
    *,
    fixed: bool,
) -> SparkSession:
    """A session with a slot for every task of real-time mode.

    On this machine Spark is started again with as many as are needed: slots are threads there. A
    cluster, or a session that someone else made, must have them.
    """
    bridge = Bridge(spark)

    def partitions_of(table: KafkaTable) -> int:
        admin = KafkaAdmin(bridge, table.properties)
        return sum(int(admin.describe(topic).get("partitions", 0)) for topic in table.topics)

    parallelism = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    needed = needed_slots(plans, partitions_of, parallelism)
    available = spark.sparkContext.defaultParallelism
    if needed > available and options.master is None and not fixed:
        spark.stop()
        return start_spark(settings, f"local[{needed}]", verbose=options.verbose)
    check_slots(needed, available)
    return spark


def _run(
    plans: Mapping[str, Sink],
    spark: SparkSession,
    settings: Settings,
    options: RunOptions,
    checkpoint: Checkpoint,
    notice: Notice,
    stop: threading.Event,
) -> None:
    bridge = Bridge(spark)
    mode = chosen_mode(settings, bounded=options.bounded)
    context = LoweringContext(
        spark, bridge, settings, options.bounded, mode, directory=checkpoint.directory
    )
    missing = preflight(
        plans.values(),
        bridge,
        notice,
        bounded=options.bounded,
        first_run=checkpoint.is_new,
    )
    check_transactions(plans, bridge)
    for topic in missing:
        topic.create(bridge)
    abort_orphans(plans, bridge, notice)
    # Lowered after the topics exist: a query may read what another one of the script writes.
    contexts = {name: _context_of(plan, context) for name, plan in plans.items()}
    records = {name: lower_sink(plan, contexts[name]) for name, plan in plans.items()}
    begin(checkpoint, plans)
    queries: dict[str, StreamingQuery] = {}
    try:
        for name, plan in plans.items():
            queries[name] = _start(name, plan, records[name], contexts[name], checkpoint)
        notice(
            f"running {', '.join(queries)}"
            + (" to the end of the input" if options.bounded else "")
        )
        _wait(queries, context, notice, stop)
    finally:
        for query in queries.values():
            with suppress(StreamingQueryException):
                query.stop()
    for line in left_out(context.counters):
        notice(line)


def _context_of(plan: Sink, job: LoweringContext) -> LoweringContext:
    """The job's choices for one query: one that ends by itself runs as in a bounded job."""
    return replace(job, bounded=True, mode=ExecutionMode.MICRO_BATCH) if ends(plan) else job


def _start(
    name: str, plan: Sink, records: DataFrame, context: LoweringContext, checkpoint: Checkpoint
) -> StreamingQuery:
    table = sink_table(plan)
    writer = (
        with_trigger(records, context.mode, context.settings, bounded=context.bounded)
        .queryName(name)
        .option("checkpointLocation", checkpoint.query_directory(name))
    )
    spec = writer_spec(table, context.mode, name, checkpoint.id)
    context.bridge.set_writer(writer, spec, context.counters_of(table.table))
    return writer.start()


def _wait(
    queries: Mapping[str, StreamingQuery],
    context: LoweringContext,
    notice: Notice,
    stop: threading.Event,
) -> None:
    """Returns when every query has ended or a stop was asked for; raises what ended one."""
    told: set[str] = set()
    while not stop.wait(_POLL_S):
        # Asked before the exceptions: a query that fails in between is seen by the next round.
        running = any(query.isActive for query in queries.values())
        for name, query in queries.items():
            failure = query.exception()
            if failure is not None:
                raise job_fault(name, str(failure))
        for line in left_out(context.counters):
            reason = line.split(" records ", 1)[1]
            if reason not in told:
                told.add(reason)
                notice(line)
        if not running:
            return


@contextmanager
def _checkpoint(
    plans: Mapping[str, Sink], settings: Settings, options: RunOptions, notice: Notice
) -> Iterator[Checkpoint]:
    directory = options.checkpoint or settings.get(CHECKPOINT_DIRECTORY)
    with tempfile.TemporaryDirectory(prefix="streamtable-") as scratch:
        if directory is None and not options.bounded:
            notice("no --checkpoint: a restart will begin anew")
        checkpoint = open_checkpoint(directory or scratch, plans)
        try:
            yield checkpoint
        finally:
            checkpoint.close()


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """SIGINT and SIGTERM ask for a stop; a second one ends the process at once.

    Handlers are set after Spark has started, because PySpark sets one of its own.
    """
    stop = threading.Event()

    def ask(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
