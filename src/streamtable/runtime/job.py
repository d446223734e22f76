"""A job: the INSERTs of a script as streaming queries that start, run and end together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.sink import SinkFacts
from streamtable.core.options import Settings
from streamtable.core.settings.execution import CHECKPOINT_DIRECTORY, MAX_LEAD, ExecutionMode
from streamtable.core.settings.job import PARALLELISM
from streamtable.core.settings.reporting import METRIC_LABELS
from streamtable.core.settings.session import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.install.installed_spark import installed_spark
from streamtable.jvm.streaming.planned_batches import Stage
from streamtable.jvm.streaming.watermarks import Watermarks
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.checkpoint.checkpoint import Checkpoint, begin
from streamtable.runtime.checkpoint.identities import IdentityMonitor
from streamtable.runtime.checkpoint.partition_watermarks import read_watermarks
from streamtable.runtime.checkpoint.rescale import parallelism_notice
from streamtable.runtime.checkpoint.scan_ends import ScanEnds
from streamtable.runtime.endpoints import sink_facts, sources_of
from streamtable.runtime.lineage.flows import flow_of
from streamtable.runtime.lineage.reporter import reported_lineage
from streamtable.runtime.opening import JobOpening
from streamtable.runtime.outline import job_name, reported_job
from streamtable.runtime.preflight.cluster import make_ready
from streamtable.runtime.preflight.rollback import rollback_obstacles, target_rollback_obstacles
from streamtable.runtime.query.end_of_input import check_not_ended
from streamtable.runtime.query.job_query import JobQuery, job_queries
from streamtable.runtime.query.joint_rollback import of_all_sinks
from streamtable.runtime.query.modes import (
    crash_warning,
    is_bounded,
    mode_of,
    mode_warning,
    plan_for_modes,
)
from streamtable.runtime.query.running import RunningQuery
from streamtable.runtime.query.slots import TaskSlots, with_enough_slots
from streamtable.runtime.query.source_alignment import (
    align_sources,
    alignment_gaps,
)
from streamtable.runtime.repeated_proof.repeated import ProofOptions, repeated_proofs
from streamtable.runtime.run_queries import JobObserver, run_queries
from streamtable.runtime.session.spark import set_up_state
from streamtable.runtime.session.user_functions import register
from streamtable.runtime.status.reporter import StatusReporter
from streamtable.runtime.stop_signals import stop_signals
from streamtable.runtime.ui.graph import graph_of
from streamtable.runtime.ui.job_ui import JobUi, job_ui
from streamtable.runtime.ui.server import UiAddress


@dataclass(frozen=True)
class RunOptions:
    """Options of a job's run.

    Attributes:
        bounded: process the current content of the topics, then end.
        checkpoint: checkpoint directory; overrides the setting. If neither is set, the job uses a
            temporary directory.
        master: Spark's master URL; None runs Spark on this machine.
        verbose: whether Spark's own log is shown.
        ui: where the job serves its page; None for no page.
        proofs: how the job repeats its proof; None for no proofs.
    """

    bounded: bool = False
    checkpoint: str | None = None
    master: str | None = None
    verbose: bool = False
    ui: UiAddress | None = None
    proofs: ProofOptions | None = None


def run_job(
    plans: Sequence[Sink],
    settings: Settings,
    options: RunOptions,
    notice: Notice,
    spark: SparkSession | None = None,
    functions: Sequence[UserFunction] = (),
    observer: JobObserver | None = None,
) -> None:
    """Run a job until it ends: at the end of bounded input, else after a stop request.

    The job writes nothing before it has checked the script, the checkpoint and the cluster.

    Args:
        plans: one per INSERT.
        settings: the settings of the job as a whole; each plan has its own as well.
        options: options of the run.
        notice: takes one line for the user.
        spark: an existing session, which is neither changed nor stopped; None starts a session and
            stops it at the end.
        functions: the user's functions that plans may call.
        observer: observer of the job.

    Raises:
        StreamtableError: any error of the job; the other queries are stopped first.
    """
    patient = not options.bounded
    if all(map(is_bounded, plans)):
        options = replace(options, bounded=True)
    observer = observer or JobObserver()
    directory = options.checkpoint or settings.get(CHECKPOINT_DIRECTORY)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_signals(observer.stop))
        opening = JobOpening(
            stack, settings, options.master, spark, stop, notice, verbose=options.verbose
        )
        version = spark.version if spark else installed_spark().version
        plans = [plan_for_modes(p, version, bounded=options.bounded) for p in plans]
        checkpoint = opening.checkpoint(directory, query_names(plans), bounded=options.bounded)
        named = checkpoint.plans
        reporter = stack.enter_context(
            StatusReporter(
                reported_job(named, settings, checkpoint.directory, temporary=directory is None),
                observer.metrics.values,
                stop,
                notice,
            )
        )
        stack.enter_context(
            reported_lineage(
                job_name(plans, settings),
                {query: flow_of(plan) for query, plan in named.items()},
                settings,
                observer.metrics.values,
                stop,
                notice,
                bounded=options.bounded,
            )
        )
        labels = settings.get(METRIC_LABELS) or {}
        page = JobUi(graph_of(named), reporter.document, observer.metrics, labels)
        ui = stack.enter_context(job_ui(page, options.ui, notice))
        observer = observer.also_after(reporter.running)
        stack.enter_context(
            repeated_proofs(
                named,
                options.proofs,
                checkpoint.directory,
                functions,
                notice,
                observer,
                temporary=directory is None,
                bounded=options.bounded,
            )
        )
        if settings.has(PARALLELISM):
            folders = [checkpoint.query_directory(name) for name in named]
            for line in parallelism_notice(checkpoint.directory, folders, settings[PARALLELISM]):
                notice(line)
        facts = sink_facts(
            named, checkpoint.id_of, checkpoint.query_directory, checkpoint.record_of
        )
        queries = job_queries(checkpoint.queries)
        obstacles = rollback_obstacles(named, facts)
        modes = _modes(named, obstacles, version, notice, bounded=options.bounded)
        job = opening.spark()
        by_query = {query.name: query.mode(modes) for query in queries}
        own, possible = with_enough_slots(job.session, queries, by_query, notice, job.restart)
        job.settle()
        context = LoweringContext(
            own,
            Bridge(own),
            settings,
            options.bounded,
            patient,
            directory=checkpoint.directory,
            watermarks=Watermarks(read_watermarks(checkpoint)),
        )
        register(functions, python_files(settings), own)
        with ui.rows_of(named, context.bridge):
            _run(queries, facts, possible, obstacles, context, checkpoint, notice, observer)


def _modes(
    plans: Mapping[str, Sink],
    obstacles: Mapping[str, str | None],
    spark: str,
    notice: Notice,
    *,
    bounded: bool,
) -> dict[str, ExecutionMode]:
    """Choose the execution mode of each query, and report sinks that may keep rows after a crash.

    `obstacles` are the reasons, in words, why a sink cannot be rolled back to a checkpoint. `spark`
    is the version of Spark.
    """
    modes = {}
    for name, plan in plans.items():
        why = obstacles[name]
        modes[name] = mode_of(plan, spark, bounded=bounded, rolls_back=why is None)
        line = mode_warning(name, plan, spark, bounded=bounded)
        if line is None and why:
            line = crash_warning(name, plan, why, spark, bounded=bounded)
        if line:
            notice(line)
    return modes


def _run(
    job: Sequence[JobQuery],
    facts: Mapping[str, SinkFacts],
    modes: Mapping[str, ExecutionMode],
    obstacles: Mapping[str, str | None],
    context: LoweringContext,
    checkpoint: Checkpoint,
    notice: Notice,
    observer: JobObserver,
) -> None:
    """Run the queries of a job. `modes` are by query; `facts` and `obstacles` are by INSERT."""
    inserts = checkpoint.plans
    of_inserts = check_not_ended(inserts, checkpoint, context.bridge, bounded=context.bounded)
    topic_ids = make_ready(inserts, facts, context, checkpoint, notice)
    plans = {query.name: query.plan for query in job}
    stages = {query.name: of_inserts[query.first] for query in job}
    settings, bounded, spark = context.settings, context.bounded, context.spark.version
    # From here on, all topics exist and all permissions are known.
    alone = {
        name: plan
        for query in job
        if modes[query.name] is not ExecutionMode.MICRO_BATCH
        for name, plan in query.inserts.items()
        if obstacles[name] is None
    }
    found = target_rollback_obstacles(alone, facts, context)
    again = {name: inserts[name] for name in found}
    changed = _modes(again, found, spark, notice, bounded=bounded)
    of_all = {name: modes[query.name] for query in job for name in query.inserts} | changed
    modes = {query.name: query.mode(of_all) for query in job}
    # A query whose input ended in an earlier run reads nothing; no other query waits for it.
    # No query of earlier runs waits for a new query, which may have to read the whole history.
    starting = frozenset() if checkpoint.is_new else checkpoint.queries.starting
    behind = frozenset(query.name for query in job if query.inserts.keys() <= starting)
    reading = {
        name: plan
        for name, plan in plans.items()
        if stages[name] is Stage.OPEN and name not in behind
    }
    alignment = align_sources(reading, modes, checkpoint.id, context.bridge)
    for line in alignment_gaps(reading, modes, alignment, settings):
        notice(line)
    slots = TaskSlots(context.spark, plans, modes)
    # A new query has not written yet, so this start still rolls back a topic that it will share.
    earlier = rollback_obstacles(inserts, _without(facts, starting))
    ends = ScanEnds(checkpoint.directory, context.bridge)
    queries = []
    for query in job:
        name = query.name
        own = replace(
            context,
            settings=query.plan.settings,
            mode=modes[name],
            query=name,
            source_of=ends.source_of,
            alignments=alignment.of(name),
        )
        rollbacks = [
            sink_of(plan.table).rollback(
                facts[insert],
                context,
                notice,
                keeps=obstacles[insert] is None and insert not in found,
            )
            for insert, plan in query.inserts.items()
            if earlier[insert] is None and not facts[insert].replays
        ]
        rollback = of_all_sinks([each for each in rollbacks if each is not None])
        of_query = facts[query.first]
        queries.append(
            RunningQuery(query, own, checkpoint, notice, of_query, slots, rollback, stages[name])
        )
    set_up_state(context.spark, settings)
    # Lower the plans after the topics exist: a query may read a topic that another query writes.
    try:
        for running in queries:
            running.prepare()
        begin(checkpoint, topic_ids)
        ends.keep()
        if observer.stop.is_set():
            notice("stopped before the queries were started")
            return
        alignment.begin(settings[MAX_LEAD])
        try:
            ids = IdentityMonitor(sources_of(plans.values()), context.bridge, notice, topic_ids)
            run_queries(inserts, queries, context, checkpoint, notice, observer, alignment, ids)
        finally:
            alignment.end()
    finally:
        context.watermarks.close()


def _without(facts: Mapping[str, SinkFacts], queries: frozenset[str]) -> dict[str, SinkFacts]:
    """Return the facts of the sinks of a job that lacks some queries."""
    return {
        name: replace(own, targets={n: t for n, t in own.targets.items() if n not in queries})
        for name, own in facts.items()
    }
