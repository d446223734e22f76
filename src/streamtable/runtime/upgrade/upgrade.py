"""Upgrade the checkpoint of a stopped job to a changed script.

A changed query is rebuilt: the new query reads its input again in a *shadow run*, from where the
first run of the old query began to where its last run stopped, in a directory of its own and
without writing. Then its rows are compared with the sink, and the records that differ are written.
At last the manifest names the new directory, with which the next run continues. The old directory
is kept.

`upgrade.json` marks a checkpoint from the first step to the last. A job does not start on a marked
checkpoint, and the same command continues an interrupted upgrade.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from streamtable.catalog.functions import PythonFunction
from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.sink import SinkFacts
from streamtable.core.checkpoint_path import MANIFEST
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.session_settings import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.planned_batches import Stage, stage
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment, assign, query_names
from streamtable.runtime.checkpoint.checkpoint import (
    Checkpoint,
    check_not_rescaling,
    check_same_job,
)
from streamtable.runtime.checkpoint.local_folder import local_folder
from streamtable.runtime.checkpoint.lock import taken
from streamtable.runtime.checkpoint.manifest import Manifest
from streamtable.runtime.checkpoint.manifest_file import (
    read_manifest,
    write_file,
    write_manifest,
)
from streamtable.runtime.checkpoint.moved import adopt
from streamtable.runtime.checkpoint.partition_watermarks import FILE as WATERMARKS
from streamtable.runtime.checkpoint.remote import is_remote
from streamtable.runtime.checkpoint.torn_files import check_whole
from streamtable.runtime.endpoints import sink_facts
from streamtable.runtime.preflight.cluster import make_ready
from streamtable.runtime.session.python_functions import register
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.session.spark import set_up_state
from streamtable.runtime.stop_signals import stop_signals
from streamtable.runtime.upgrade.decisions import Action, Decision, changed, unchanged
from streamtable.runtime.upgrade.difference import clean, compare, write
from streamtable.runtime.upgrade.mark import Mark, Step, Work
from streamtable.runtime.upgrade.ranges import ReadRange, read_range, stopped_at
from streamtable.runtime.upgrade.shadow import Shadow


@dataclass(frozen=True)
class UpgradeOptions:
    """Options of an upgrade.

    Attributes:
        checkpoint: checkpoint directory of the stopped job.
        plan: only describe the upgrade.
        from_now: whether a query that cannot be rebuilt may continue without.
        master: Spark's master URL; None runs Spark on this machine.
        verbose: whether Spark's own log is shown.
    """

    checkpoint: str
    plan: bool = False
    from_now: bool = False
    master: str | None = None
    verbose: bool = False


def upgrade_job(
    plans: Sequence[Sink],
    settings: Settings,
    options: UpgradeOptions,
    say: Callable[[str], None],
    notice: Notice,
    functions: Sequence[PythonFunction] = (),
    spark: SparkSession | None = None,
) -> None:
    """Upgrade a checkpoint to a script.

    Args:
        plans: one per INSERT.
        settings: the session's settings.
        options: options of the upgrade.
        say: takes one line of the result.
        notice: takes one line about the progress.
        functions: the user's functions that plans may call.
        spark: an existing session; None starts a session and stops it at the end.

    Raises:
        StreamtableError: CHECKPOINT_NOT_UPGRADED, an error of the checkpoint, a source or a sink,
            or of a query.
    """
    path = _local(options.checkpoint)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_signals())
        _, lock = taken(options.checkpoint, None)
        stack.callback(lock.close)
        manifest = read_manifest(path, options.checkpoint)
        assert manifest is not None, "its file is there"  # noqa: S101
        check_not_rescaling(path, options.checkpoint)
        named = query_names(plans)
        queries = assign(named, manifest)
        check_same_job(options.checkpoint, named, manifest, queries, refuse_changed=False)
        for decision in unchanged(queries):
            say(_line(decision))
        mark = Mark.read(path)
        if not queries.changed and mark is None:
            return
        for name in queries.plans:
            folder = path / (queries.records[name].directory or name)
            check_whole(folder, notice)
            adopt(folder)
        job = stack.enter_context(
            job_spark(settings, options.master, spark, stop, notice, verbose=options.verbose)
        )
        job.settle()
        register(functions, python_files(settings), job.session)
        set_up_state(job.session, settings)
        context = LoweringContext(
            job.session,
            Bridge(job.session),
            settings,
            bounded=True,
            patient=False,
            directory=path,
        )
        checkpoint = Checkpoint(path, lock, queries, manifest, is_new=False)
        run = _Upgrade(path, options, queries, manifest, context, checkpoint, say, notice, stop)
        if mark is None:
            mark = run.decided()
            if mark is None:
                return
        else:
            run.check_same(mark)
        run.finish(mark)


@dataclass
class _Upgrade:
    """The upgrade of one checkpoint, which is locked."""

    path: Path
    options: UpgradeOptions
    queries: Assignment
    manifest: Manifest
    context: LoweringContext
    checkpoint: Checkpoint
    say: Callable[[str], None]
    notice: Notice
    stop: threading.Event

    def decided(self) -> Mark | None:
        """Describe the upgrade; return its mark, or None if only the plan is wanted.

        Raises:
            StreamtableError: CHECKPOINT_NOT_UPGRADED if a query cannot be rebuilt.
        """
        folders = {n: self.path / (q.directory or n) for n, q in self.queries.changed.items()}
        plans = self.queries.plans
        bridge = self.context.bridge
        for name, folder in folders.items():
            if stage(bridge, folder) is not Stage.OPEN:
                reason = f"the input of {name} has ended"
                raise self._refused(reason, "start the job with a new --checkpoint")
        ranges = {n: read_range(folder, plans[n], bridge) for n, folder in folders.items()}
        facts = self._facts({})
        decisions = list(changed(self.queries, facts, ranges, from_now=self.options.from_now))
        for decision in decisions:
            self.say(_line(decision))
            if decision.action is Action.REBUILT:
                self.say(f"  reads {ranges[decision.query].records:,} records again")
        impossible = [d for d in decisions if d.action is Action.IMPOSSIBLE]
        if self.options.plan:
            return None
        if impossible:
            reason = f"{impossible[0].query} cannot be rebuilt: {impossible[0].reason}"
            hint = "--from-now lets the query continue from now, with the rows that its sink has"
            raise self._refused(reason, hint)
        mark = Mark(self.path)
        for decision in decisions:
            name = decision.query
            of_range = ranges[name]
            if decision.action is Action.ANEW:
                of_range = stopped_at(folders[name], plans[name])
            mark.work[name] = self._work(decision, of_range)
        return mark

    def check_same(self, mark: Mark) -> None:
        """Refuse to continue the upgrade to another script."""
        for name, work in mark.work.items():
            now = self.queries.records.get(name)
            if now is None or now.hash != work.record.hash:
                reason = f"an upgrade to another query into {name} was interrupted"
                raise self._refused(reason, "run the command with the script of that upgrade")
        self.notice(f"continues the interrupted upgrade of {', '.join(mark.work)}")

    def finish(self, mark: Mark) -> None:
        """Do all steps that are left."""
        plans = {name: self.queries.plans[name] for name in mark.work}
        facts = self._facts(mark.work)
        ready = replace(self.checkpoint, queries=self._only(mark.work))
        make_ready(plans, {n: facts[n] for n in plans}, self.context, ready, self.notice)
        mark.write()
        for name, work in list(mark.work.items()):
            if work.action is not Action.CONTINUED and work.step is not Step.DONE:
                directory = self.path / (work.record.directory or name)
                shadow = Shadow(
                    name, plans[name], directory, work.range, self.context, self.stop, self.notice
                )
                self._rebuild(mark, name, shadow, facts[name])
        self._keep_watermarks(mark)
        write_manifest(self.path, self._upgraded(mark.work))
        mark.delete()
        for name, work in mark.work.items():
            if work.action is not Action.CONTINUED:
                clean(self.path / (work.record.directory or name) / "upgrade")
        self.say("the next run continues with the changed script")

    def _rebuild(self, mark: Mark, name: str, shadow: Shadow, facts: SinkFacts) -> None:
        if mark.work[name].step is Step.READ:
            shadow.run()
            anew = mark.work[name].action is Action.ANEW
            mark.reach(name, Step.DONE if anew else Step.COMPARE)
        if mark.work[name].step is Step.COMPARE:
            found = compare(shadow)
            self.say(
                f"{name}: of {found.before:,} keys in {sink_of(shadow.plan.table).target},"
                f" {found.written:,} get another or a first row and {found.deleted:,} are deleted"
            )
            mark.reach(name, Step.WRITE)
        if mark.work[name].step is Step.WRITE:
            write(shadow, facts)
            mark.reach(name, Step.DONE)

    def _work(self, decision: Decision, of_range: ReadRange) -> Work:
        record = self.queries.records[decision.query]
        if decision.action is not Action.CONTINUED:
            directory = _free(self.path, decision.query)
            record = replace(record, id=uuid.uuid4().hex, directory=directory)
        return Work(decision.action, record, of_range)

    def _facts(self, work: Mapping[str, Work]) -> dict[str, SinkFacts]:
        """Return the facts of all sinks; those of changed queries have new ids and directories."""
        records = {**self.queries.records, **{name: w.record for name, w in work.items()}}
        return sink_facts(
            self.queries.plans,
            self.context.settings,
            lambda name: records[name].id or self.manifest.id,
            lambda name: self.path / (records[name].directory or name),
        )

    def _only(self, work: Mapping[str, Work]) -> Assignment:
        names = frozenset(work)
        return replace(self.queries, added=frozenset(), restored=self.queries.restored & names)

    def _upgraded(self, work: Mapping[str, Work]) -> Manifest:
        """Return the manifest after the upgrade. The next run adds and removes other queries."""
        records = {name: w.record for name, w in work.items()}
        retired = {n: q for n, q in self.manifest.retired.items() if n not in records}
        return replace(self.manifest, queries={**self.manifest.queries, **records}, retired=retired)

    def _keep_watermarks(self, mark: Mark) -> None:
        """Replace the watermarks of the rebuilt queries."""
        file = self.path / WATERMARKS
        known = json.loads(file.read_text("utf-8")) if file.exists() else {}
        for name, work in mark.work.items():
            if work.action is Action.CONTINUED:
                continue
            known = {key: value for key, value in known.items() if not key.startswith(f"{name}/")}
            own = self.path / (work.record.directory or name) / "upgrade" / WATERMARKS
            known |= json.loads(own.read_text("utf-8")) if own.exists() else {}
        if known:
            write_file(file, json.dumps(dict(sorted(known.items())), indent=1))

    def _refused(self, reason: str, hint: str) -> StreamtableError:
        return StreamtableError(
            Condition.CHECKPOINT_NOT_UPGRADED,
            checkpoint=self.options.checkpoint,
            reason=reason,
            hint=hint,
        )


def _local(directory: str) -> Path:
    """Return the folder of an existing checkpoint on a local disk."""
    if is_remote(directory):
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"the upgrade of a checkpoint at {directory}",
            hint="copy the checkpoint to a local disk, upgrade it there, and copy it back",
        )
    path = local_folder(directory, "a checkpoint")
    if not (path / MANIFEST).exists():
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=f"it has no '{MANIFEST}'",
            hint="name the directory that the job has as its --checkpoint",
        )
    return path


def _free(path: Path, name: str) -> str:
    """Return a name for the directory of a rebuilt query; Spark has not used it before."""
    number = 2
    while (path / f"{name}@{number}").exists():
        number += 1
    return f"{name}@{number}"


def _line(decision: Decision) -> str:
    return f"{decision.query}: {decision.action.value}: {decision.reason}"
