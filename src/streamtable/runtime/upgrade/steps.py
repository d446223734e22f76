"""Do the steps of an upgrade: read, compare, write, and replace the manifest."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.preflight import Notice, Preflight
from streamtable.connector_api.sink import SinkFacts
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import EXECUTION_MODE
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.file import write_manifest
from streamtable.runtime.checkpoint.partition_watermarks import FILE as WATERMARKS
from streamtable.runtime.checkpoint.storage.lock import Lock
from streamtable.runtime.checkpoint.storage.moved import adopt
from streamtable.runtime.checkpoint.storage.whole_files import write_file
from streamtable.runtime.endpoints import by_target, sink_facts, target_of
from streamtable.runtime.preflight.cluster import make_ready
from streamtable.runtime.upgrade.at_once import at_once
from streamtable.runtime.upgrade.decisions import (
    EXTENDING,
    Action,
    rewrite_obstacle,
)
from streamtable.runtime.upgrade.difference import Counts, clean, compare, write
from streamtable.runtime.upgrade.extension import extension_of, old_record
from streamtable.runtime.upgrade.from_now import LACKS, later_rows, settle
from streamtable.runtime.upgrade.mark import Mark, Step, Work
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.ranges import keep_first
from streamtable.runtime.upgrade.rollback import remember
from streamtable.runtime.upgrade.shadow import Shadow
from streamtable.runtime.upgrade.stored_state import stored_state


@dataclass
class UpgradeSteps:
    """The steps of queries whose actions are decided.

    Attributes:
        path: the checkpoint directory.
        options: options of the upgrade.
        queries: the queries of the script.
        manifest: the manifest of the checkpoint.
        context: context of the upgrade.
        say: takes one line of the result.
        notice: takes one line about the progress.
        stop: event of a stop request.
    """

    path: CheckpointPath
    options: UpgradeOptions
    queries: Assignment
    manifest: Manifest
    context: LoweringContext
    say: Callable[[str], None]
    notice: Notice
    stop: threading.Event

    #: The last line of the result.
    end: ClassVar[str] = "the next run continues with the changed script"

    def _difference(self, mark: Mark) -> str | None:
        """Describe the first difference from an interrupted command in words; None if it has none.

        Args:
            mark: of the interrupted command.
        """
        for name, work in mark.work.items():
            now = self.queries.records.get(name)
            if now is None:
                return f"the script has no query into {name} any more"
            if (difference := work.record.difference(name, now)) is not None:
                return difference
        return None

    def _at_once(self, works: Mapping[str, Work], step: Callable[[Shadow], None]) -> None:
        """Do a step of several queries at the same time."""

        def of(name: str, stop: threading.Event) -> None:
            step(self._shadow(name, works[name], stop))

        at_once(list(works), of, self.stop, self.context.bridge)

    def finish(self, mark: Mark, lock: Lock) -> None:
        """Do all steps that are left, with the lock of the checkpoint."""
        plans = {name: self.queries.plans[name] for name in mark.work}
        facts = self._facts(mark.work)
        self._check_kept(mark)
        ready = Checkpoint(self.path, lock, self._only(mark.work), self.manifest, is_new=False)
        make_ready(plans, {n: facts[n] for n in plans}, self.context, ready, self.notice)
        self._recover_shared(plans, facts)
        for name, before in self._keeping(mark):
            plan, context = plans[name], self.context
            mark.work[name] = settle(mark.work[name], before, plan, context, self.notice)
        mark.write()
        Mark(self.path, draft=True).delete()
        unread = {n: w for n, w in mark.work.items() if w.is_left and w.step is Step.READ}
        self._at_once(unread, lambda shadow: self._read(mark, shadow))
        self._compare_and_write(mark, facts)
        self._remember(mark)
        self._keep_watermarks(mark)
        write_manifest(self.path, self._upgraded(mark.work))
        mark.delete()
        for name, work in mark.work.items():
            if work.action is not Action.CONTINUED:
                clean(self.path / (work.record.directory or name) / Shadow.FOLDER)
        self.say(self.end)

    def _keeping(self, mark: Mark) -> Iterator[tuple[str, SinkFacts]]:
        """Yield the queries from now whose sinks keep their rows, with their facts so far."""
        before = self._facts({})
        for name, work in mark.work.items():
            if work.action in LACKS and not self._is_written(name, work):
                yield name, before[name]

    def _check_kept(self, mark: Mark) -> None:
        """Refuse rows that both the old and the new query would write for the same records."""
        for name, before in self._keeping(mark):
            reason = later_rows(before, self.queries.plans[name], self.context)
            if reason is not None:
                hint = (
                    "run the job once with the script of before and"
                    f" SET '{EXECUTION_MODE.key}' = 'micro-batch', stop it, and repeat the command"
                )
                raise self._refused(reason, hint)

    def _recover_shared(self, plans: Mapping[str, Sink], facts: Mapping[str, SinkFacts]) -> None:
        """Abort open transactions of the queries that INSERTs have shared and leave now."""
        context, before = self.context, self._facts({})
        preflight = Preflight(
            context.bridge, context.settings, self.notice, context.bounded, first_run=False
        )
        for name, plan in plans.items():
            if before[name].query != facts[name].query:
                sink_of(plan.table).recover(before[name], preflight)

    def _read(self, mark: Mark, shadow: Shadow) -> None:
        """Do the first step of a query."""
        if mark.work[shadow.name].action in EXTENDING:
            self._restore(shadow.name, shadow)
        else:
            shadow.run()
        if mark.work[shadow.name].action in (Action.ANEW, *EXTENDING):
            keep_first(self._old(shadow.name), shadow.directory)
        is_written = self._is_written(shadow.name, mark.work[shadow.name])
        mark.reach(shadow.name, Step.COMPARE if is_written else Step.DONE)

    def _is_written(self, name: str, work: Work) -> bool:
        """Whether the sink of a query gets the rows that differ."""
        plans = self.queries.plans
        if work.action is Action.EXTENDED_NOW:
            targets = [target_of(plan) for plan in plans.values()]
            alone = targets.count(target_of(plans[name])) == 1
            return alone and rewrite_obstacle(plans[name]) is None
        return work.action in (Action.REBUILT, Action.EXTENDED, Action.ADOPTED)

    def _compared_together(self, mark: Mark) -> Sequence[Sequence[str]]:
        """Return the queries whose sinks get the rows that differ, in groups with one target."""
        written = [name for name, work in mark.work.items() if self._is_written(name, work)]
        return by_target(written, self.queries.plans.__getitem__)

    def _compare_and_write(self, mark: Mark, facts: Mapping[str, SinkFacts]) -> None:
        """Do the other steps; the first query of a group writes for all of them."""
        groups = {group[0]: group for group in self._compared_together(mark)}

        def finish_group(first: str, stop: threading.Event) -> None:
            work = mark.work[first]
            shadows = [self._shadow(n, mark.work[n], stop) for n in groups[first]]
            if work.step is Step.COMPARE:
                found = self._compared(shadows)
                names = " and ".join(groups[first])
                self.say(f"{names}: {found.words(sink_of(self.queries.plans[first].table).target)}")
                mark.reach(first, Step.WRITE)
            if mark.work[first].step is Step.WRITE:
                write(shadows[0], facts[first])
                mark.reach(first, Step.DONE)

        left = [first for first in groups if mark.work[first].is_left]
        at_once(left, finish_group, self.stop, self.context.bridge)

    def _compared(self, shadows: Sequence[Shadow]) -> Counts:
        """Compare the rows of shadow runs with the sink of all of them."""
        return compare(shadows)

    def _remember(self, mark: Mark) -> None:
        """Keep what a rollback needs."""
        plans = self.queries.plans
        targets = {name: sink_of(plans[name].table).target for name in mark.work}
        remember(self.path, mark, self.manifest, targets)

    def _restore(self, name: str, shadow: Shadow) -> None:
        """Give a query the state of the old one."""
        old = self._old(name)
        found = extension_of(self.queries, name, old)
        assert found is not None, "decided from the same records"  # noqa: S101
        context = self.context
        state = stored_state(context.spark, context.bridge, old, found)
        shadow.restore(state, old / "sources")

    def _old(self, name: str) -> CheckpointPath:
        """Return the directory that a changed query has so far."""
        return self.path / (old_record(self.queries, name).directory or name)

    def _shadow(self, name: str, work: Work, stop: threading.Event) -> Shadow:
        directory, plan = self.path / (work.record.directory or name), self.queries.plans[name]
        adopt(directory)  # the checkpoint may have been moved since an interruption
        return Shadow(name, plan, directory, work.range, self.context, stop, self.notice)

    def _facts(self, work: Mapping[str, Work]) -> dict[str, SinkFacts]:
        """Return the facts of all sinks; those of changed queries have new ids and directories."""
        records = {**self.queries.records, **{name: w.record for name, w in work.items()}}
        return sink_facts(
            self.queries.plans,
            lambda name: records[name].id or self.manifest.id,
            lambda name: self.path / (records[name].directory or name),
            records.__getitem__,
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
            if work.action in (Action.CONTINUED, *EXTENDING):
                continue
            known = {key: value for key, value in known.items() if not key.startswith(f"{name}/")}
            own = self.path / (work.record.directory or name) / Shadow.FOLDER / WATERMARKS
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
