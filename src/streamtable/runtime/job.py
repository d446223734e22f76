"""One job: the INSERTs of a script as streaming queries that start, run and end together."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import SparkSession

from streamtable.catalog.functions import PythonFunction
from streamtable.core.options import Settings
from streamtable.core.session_settings import python_files
from streamtable.core.settings import (
    CHECKPOINT_DIRECTORY,
    MAX_LEAD,
    STATE_ROWS,
    ExecutionMode,
)
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.planned_batches import Stage
from streamtable.jvm.watermarks import Watermarks
from streamtable.operators.context import LoweringContext
from streamtable.plan.nodes import Sink
from streamtable.runtime.checkpoint import Checkpoint, begin, open_checkpoint, query_names
from streamtable.runtime.cluster import make_ready
from streamtable.runtime.ending import check_not_ended
from streamtable.runtime.metrics import JobMetrics
from streamtable.runtime.modes import (
    ends,
    mode_of,
    told_of_crashes,
)
from streamtable.runtime.pace import Pace, pace_of, unheld
from streamtable.runtime.partition_watermarks import keep_watermarks, read_watermarks
from streamtable.runtime.preflight import Notice
from streamtable.runtime.python_functions import register
from streamtable.runtime.restoring import RestoredSink, obstacle, obstacles_there
from streamtable.runtime.running import RunningQuery
from streamtable.runtime.slots import with_room
from streamtable.runtime.spark import jvm_has_ended, set_up_state, start_spark, stop_spark
from streamtable.runtime.stop_signals import stop_signals
from streamtable.runtime.watch import Watch

#: How long queries may take to come to a clean end once a stop was asked for, in seconds.
_STOP_S = 6.0


@dataclass(frozen=True)
class Watcher:
    """Who looks at a job while it runs.

    Attributes:
        metrics: filled while it does.
        after: called in the job's thread after every look at the queries, some times a second.
        stop: set, it asks the job for a clean end.
    """

    metrics: JobMetrics = field(default_factory=JobMetrics)
    after: Callable[[], None] = lambda: None
    stop: threading.Event = field(default_factory=threading.Event)


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
    functions: Sequence[PythonFunction] = (),
    watcher: Watcher | None = None,
) -> None:
    """Runs a job to its end: of its input where it is bounded, else until it is asked to stop.

    Nothing is written before the script, the checkpoint and the cluster have been checked.

    Args:
        plans: one per INSERT.
        settings: the session's settings.
        options: how to run.
        notice: takes one line for the user.
        spark: a session to run in, which is left running; None starts one and stops it.
        functions: the user's, which plans may call.
        watcher: who looks at the job while it runs.

    Raises:
        StreamtableError: whatever the job meets; the other queries are stopped first.
    """
    patient = not options.bounded
    if all(map(ends, plans)):
        options = replace(options, bounded=True)
    named = query_names(plans)
    obstacles = {name: obstacle(name, named, settings) for name in named}
    modes = _modes(named, obstacles, settings, notice, bounded=options.bounded)
    with _checkpoint(named, settings, options, notice) as checkpoint:
        own = spark or start_spark(settings, options.master, verbose=options.verbose)
        fixed = spark is not None or options.master is not None

        def restart(master: str) -> SparkSession:
            return start_spark(settings, master, verbose=options.verbose)

        own, possible = with_room(own, named, modes, notice, None if fixed else restart)
        context = LoweringContext(
            own,
            Bridge(own),
            settings,
            options.bounded,
            patient,
            directory=checkpoint.directory,
            watermarks=Watermarks(read_watermarks(checkpoint)),
        )
        watched = watcher or Watcher()
        try:
            register(functions, python_files(settings), own)
            with stop_signals(watched.stop):
                _run(named, possible, obstacles, context, checkpoint, notice, watched)
        except Exception:
            if not (watched.stop.is_set() and jvm_has_ended()):
                raise
            notice("stopped, and Spark with it: the next start does what is not committed")
        finally:
            if spark is None:
                stop_spark(own)


def _modes(
    plans: Mapping[str, Sink],
    obstacles: Mapping[str, str | None],
    settings: Settings,
    notice: Notice,
    *,
    bounded: bool,
) -> dict[str, ExecutionMode]:
    """What each query is asked to run in, told where a crash might leave rows behind.

    `obstacles` are what keeps its sink from being taken back to a checkpoint, in words.
    """
    modes = {}
    for name, plan in plans.items():
        why = obstacles[name]
        modes[name] = mode_of(plan, settings, bounded=bounded, restored=why is None)
        line = why and told_of_crashes(name, plan, settings, why, bounded=bounded)
        if line:
            notice(line)
    return modes


def _run(
    plans: Mapping[str, Sink],
    modes: Mapping[str, ExecutionMode],
    obstacles: Mapping[str, str | None],
    context: LoweringContext,
    checkpoint: Checkpoint,
    notice: Notice,
    watcher: Watcher,
) -> None:
    stages = check_not_ended(plans, checkpoint, context.bridge, bounded=context.bounded)
    topic_ids = make_ready(plans, context, checkpoint, notice)
    settings, bounded = context.settings, context.bounded
    # Only now is every topic there, and known who may do what with it.
    may_run = {name for name, mode in modes.items() if mode is not ExecutionMode.MICRO_BATCH}
    alone = {name: plans[name] for name in may_run if obstacles[name] is None}
    found = obstacles_there(alone, checkpoint, context)
    again = {name: plans[name] for name in found}
    modes = {**modes, **_modes(again, found, settings, notice, bounded=bounded)}
    # One whose input has ended in an earlier run reads nothing, and nobody waits for it.
    reading = {name: plan for name, plan in plans.items() if stages[name] is Stage.OPEN}
    pace = pace_of(reading, modes, checkpoint.id, context.bridge)
    for line in unheld(reading, modes, pace, settings):
        notice(line)
    queries = []
    for name, plan in plans.items():
        own = replace(context, mode=modes[name], query=name, paces=pace.of(name))
        sink = RestoredSink(
            name,
            plan,
            Path(checkpoint.query_directory(name)),
            context,
            notice,
            possible=obstacles[name] is None,
            keeps=name not in found,
        )
        queries.append(RunningQuery(name, plan, own, checkpoint, notice, sink, stages[name]))
    set_up_state(context.spark, settings)
    # Lowered after the topics exist: a query may read what another one of the script writes.
    for query in queries:
        query.prepare()
    begin(checkpoint, plans, topic_ids)
    pace.begin(settings[MAX_LEAD])
    try:
        _watch(plans, queries, context, checkpoint, notice, watcher, pace)
    finally:
        pace.end()


def _watch(
    plans: Mapping[str, Sink],
    queries: Sequence[RunningQuery],
    context: LoweringContext,
    checkpoint: Checkpoint,
    notice: Notice,
    watcher: Watcher,
    pace: Pace,
) -> None:
    """The queries from their start to their end."""
    marks = context.watermarks

    def after_look() -> None:
        keep_watermarks(checkpoint, marks.seen())
        watcher.after()

    bridge, counters, metrics = context.bridge, context.counters, watcher.metrics
    watch = Watch(
        plans,
        queries,
        bridge,
        counters,
        notice,
        metrics,
        marks.of_partitions,
        after_look,
        context.settings[STATE_ROWS],
    )
    try:
        for query in queries:
            query.start()
        notice(
            f"running {', '.join(plans)}" + (" to the end of the input" if context.bounded else "")
        )
        watch.until_end(watcher.stop)
        if watcher.stop.is_set():
            pace.end()
            _finish(queries)
    finally:
        for query in queries:
            query.stop()
        keep_watermarks(checkpoint, marks.seen())
        watch.close()


def _finish(queries: Sequence[RunningQuery]) -> None:
    """Ends every query within the time that a stop may take."""
    deadline = time.monotonic() + _STOP_S
    for query in queries:
        query.finish(deadline - time.monotonic())


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
