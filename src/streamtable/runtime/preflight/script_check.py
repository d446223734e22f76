"""`streamtable check` of a SQL script: all checks of a start, without a start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.findings import Finding, ScanFacts, Severity
from streamtable.connector_api.preflight import Notice, Preflight, Resource
from streamtable.connector_api.source import Source
from streamtable.core.errors import Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import EXECUTION_MODE, ExecutionMode
from streamtable.core.settings.session import python_files
from streamtable.core.settings.table import IDLE_TIMEOUT
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import not_enough_slots
from streamtable.plan.rules.real_time import obstacle
from streamtable.plan.rules.tree import every
from streamtable.plan.rules.watermarks import waits
from streamtable.plan.sink.sink import Root, Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.checkpoint.shared_queries import new_queries
from streamtable.runtime.endpoints import lookups_of, sink_facts, sources_of
from streamtable.runtime.preflight.preflight import check_places
from streamtable.runtime.preflight.rollback import rollback_obstacles
from streamtable.runtime.preflight.samples import Sampler
from streamtable.runtime.query.job_query import job_queries
from streamtable.runtime.query.modes import crash_warning, mode_of, mode_warning
from streamtable.runtime.query.slots import needed_slots
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.session.user_functions import register
from streamtable.runtime.stop_signals import stop_signals

T = TypeVar("T")


def check_script(
    plans: Sequence[Sink],
    others: Sequence[Root],
    settings: Settings,
    master: str | None,
    notice: Notice,
    functions: Sequence[UserFunction] = (),
    *,
    samples: bool = True,
) -> list[Finding]:
    """Check whether a script could run now. Changes nothing, and reads only samples.

    Args:
        plans: one per INSERT.
        others: one per SELECT.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        notice: takes one line for the user.
        functions: the user's functions.
        samples: whether to read the newest records of the sources.

    Raises:
        StreamtableError: Spark cannot be used.
    """
    with (
        stop_signals() as stop,
        job_spark(settings, master, None, stop, notice) as job,
    ):
        job.settle()
        register(functions, python_files(settings), job.session)
        found = _ScriptCheck(query_names(plans), others, settings, job.session, master)
        found.run()
        if samples and not found.has_errors:
            found.findings += Sampler(job.session, settings).findings([*plans, *others])
        return found.findings


@dataclass
class _ScriptCheck:
    """The checks of one script.

    Attributes:
        plans: by the names of their queries.
        findings: the results so far.
    """

    plans: Mapping[str, Sink]
    others: Sequence[Root]
    settings: Settings
    spark: SparkSession
    master: str | None
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._bridge = Bridge(self.spark)
        self._preflight = Preflight(
            self._bridge, self.settings, print, bounded=False, first_run=True, read_only=True
        )
        self._roots: list[Root] = [*self.plans.values(), *self.others]
        # The checkpoint of the later job is unknown; nothing is read from this directory.
        queries = new_queries(self.plans, Path("check"))
        self._queries = job_queries(queries)
        self._facts = sink_facts(
            self.plans,
            lambda _: "check",
            Path,
            queries.records.__getitem__,
        )

    @property
    def has_errors(self) -> bool:
        """Whether a check has failed."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def run(self) -> None:
        """Run all checks; the errors of one do not stop the next."""
        missing = self._examine_sinks()
        self._preflight = replace(self._preflight, to_create=frozenset(missing))
        for source in sources_of(self._roots):
            self._check_source(source, missing)
        for lookup in lookups_of(self._roots):
            self._try("lookup", lookup.table, lookup.at, lookup.examine, "can be looked up")
        to_create = self._preflight.to_create | missing.keys()
        self._preflight = replace(self._preflight, to_create=to_create)
        self._check_sinks(missing)
        self._check_modes()

    def _examine_sinks(self) -> dict[str, Resource]:
        missing: dict[str, Resource] = {}
        for name, plan in self.plans.items():
            sink = sink_of(plan.table)
            examine = partial(sink.examine, self._facts[name])
            found = self._try("target", sink.table, sink.at, examine, f"writes {sink.target}")
            missing.update({resource.place: resource for resource in found or ()})
        if not self.has_errors:
            self._try("target", None, None, lambda _: check_places(self.plans, self._bridge))
        return missing

    def _check_source(self, source: Source, missing: dict[str, Resource]) -> None:
        table, at = source.table, source.at
        found = self._try("source", table, at, source.examine, "exists")
        if found is None:
            return
        for resource in found:
            missing.setdefault(resource.place, resource)
        self._try("access", table, at, source.check_access, "the user may read it")
        facts = self._scan_facts(source)

        def look(_: Preflight) -> list[Finding]:
            return list(source.findings(facts, self._bridge))

        self.findings += self._try("topic", table, at, look) or ()

    def _check_sinks(self, missing: Mapping[str, Resource]) -> None:
        for resource in missing.values():
            check = partial(_check_resource, resource)
            self._try("creation", None, None, check, f"the job creates {resource.name}")
        for name, plan in self.plans.items():
            sink = sink_of(plan.table)
            accept = partial(sink.check, self._facts[name])
            self._try("access", sink.table, sink.at, accept, "the user may write it")

    def _check_modes(self) -> None:
        obstacles = rollback_obstacles(self.plans, self._facts)
        modes: dict[str, ExecutionMode] = {}
        for name, plan in self.plans.items():
            choose = partial(self._mode, name, plan, obstacles[name])
            mode = self._try("mode", name, plan.at, choose, partial(self._mode_text, plan))
            modes[name] = mode or ExecutionMode.MICRO_BATCH
        real_time: list[Sink] = []
        in_batches: list[Sink] = []
        for query in self._queries:
            in_batch = query.mode(modes) is ExecutionMode.MICRO_BATCH
            (in_batches if in_batch else real_time).append(query.plan)
        if real_time and not self.has_errors:
            count = partial(self._slots, real_time, in_batches)
            self._try("slots", None, None, count, self._slots_text)

    def _mode(self, name: str, plan: Sink, why: str | None, preflight: Preflight) -> ExecutionMode:
        version = self.spark.version
        mode = mode_of(plan, version, bounded=False, rolls_back=why is None)
        line = mode_warning(name, plan, version, bounded=False)
        if line is None and why:
            line = crash_warning(name, plan, why, version, bounded=False)
        if line:
            preflight.notice(line)
        return mode

    def _mode_text(self, plan: Sink, mode: ExecutionMode) -> str:
        if mode is not ExecutionMode.MICRO_BATCH:
            return f"runs in mode {mode.value}"
        reason = obstacle(plan.input)
        if plan.settings[EXECUTION_MODE] is ExecutionMode.AUTO and reason:
            return f"stays in micro-batches, because {reason}"
        return "runs in micro-batches"

    def _slots(
        self, real_time: Sequence[Sink], in_batches: Sequence[Sink], preflight: Preflight
    ) -> int:
        splits: dict[str, int] = {}
        for plan in self.plans.values():
            splits.update(sink_of(plan.table).new_splits(self._bridge))
        parallelism = int(str(self.spark.conf.get("spark.sql.shuffle.partitions")))

        def tasks_of(source: Source) -> int:
            return source.parallelism(self._bridge, splits)

        needed = needed_slots(real_time, in_batches, tasks_of, parallelism)
        available = self.spark.sparkContext.defaultParallelism
        if self.master is not None and needed > available:
            preflight.notice(str(not_enough_slots(needed=needed, available=available)))
        return needed

    def _slots_text(self, needed: int) -> str:
        text = f"real-time mode needs {needed} task slots"
        return text if self.master else f"{text}; Spark on this machine starts as many threads"

    def _scan_facts(self, source: Source) -> ScanFacts:
        """Collect the facts about all operators above the scans of a source."""
        ttls: list[timedelta | None] = []
        event_time = False
        idle = True
        for root in self._roots:
            tables = [s.table for s in scans(root.input) if source_of(s.table) == source]
            default = root.settings[IDLE_TIMEOUT]
            idle &= all(default if t.idle_timeout is None else t.idle_timeout for t in tables)
            above = [
                node
                for node in every(root.input)
                if any(source_of(scan.table) == source for scan in scans(node))
            ]
            ttls += [ttl for node in above for _, ttl in node.kept_for]
            event_time |= bool(above) and waits(root.input)
        limits = [ttl for ttl in ttls if ttl is not None]
        longest = max(limits) if limits and len(limits) == len(ttls) else None
        return ScanFacts(bool(ttls), longest, event_time, idle)

    def _try(
        self,
        check: str,
        table: str | None,
        at: Span | None,
        call: Callable[[Preflight], T],
        ok: Callable[[T], str] | str | None = None,
    ) -> T | None:
        """Run one check; add its errors and notices, or `ok` if there are none."""
        notices: list[str] = []
        try:
            result = call(replace(self._preflight, notice=notices.append))
        except StreamtableError as error:
            self.findings += Finding.of_error(error.located(at), check, table)
            return None
        for line in notices:
            text = line.removeprefix(f"{table}: ")
            self.findings.append(Finding(Severity.WARNING, check, table, text, at))
        if ok and not notices:
            text = ok if isinstance(ok, str) else ok(result)
            self.findings.append(Finding(Severity.OK, check, table, text, at))
        return result


def _check_resource(resource: Resource, _: Preflight) -> None:
    resource.check()
