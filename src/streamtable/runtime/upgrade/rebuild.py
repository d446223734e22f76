"""Rebuild the changed queries of a checkpoint: decide, and catch up with the running job."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.jvm.streaming.planned_batches import Stage, stage
from streamtable.runtime.checkpoint.storage.trees import remove_tree
from streamtable.runtime.endpoints import words_of
from streamtable.runtime.preflight.cluster import check_ready
from streamtable.runtime.upgrade.comparison import compare_early, newest
from streamtable.runtime.upgrade.decisions import (
    EXTENDING,
    Action,
    Decision,
    changed,
    line_of,
)
from streamtable.runtime.upgrade.extension import extension_of
from streamtable.runtime.upgrade.from_now import noted
from streamtable.runtime.upgrade.mark import Mark, Work, free_directory
from streamtable.runtime.upgrade.ranges import ReadRange, read_range, stopped_at
from streamtable.runtime.upgrade.shadow import Shadow
from streamtable.runtime.upgrade.steps import UpgradeSteps
from streamtable.runtime.upgrade.together import companions

#: The last pass while the job runs is shorter; so is then the pass after its end.
_SHORT_PASS_S = 10.0
_PASSES = 20


@dataclass
class Rebuild(UpgradeSteps):
    """Upgrade of one checkpoint: decides what happens with each query, and does it."""

    def decided(self) -> Mark | None:
        """Describe the upgrade; return its mark, or None if only the plan is wanted.

        Raises:
            StreamtableError: CHECKPOINT_NOT_UPGRADED if a query cannot be rebuilt.
        """
        concerned = [*self.queries.changed, *companions(self.queries)]
        folders = {name: self._old(name) for name in concerned}
        plans = self.queries.plans
        bridge = self.context.bridge
        for name, folder in folders.items():
            if stage(bridge, folder) is not Stage.OPEN:
                reason = f"the input of {name} has ended"
                raise self._refused(reason, "start the job with a new --checkpoint")
        ranges = {n: read_range(folder, plans[n], bridge) for n, folder in folders.items()}
        found = {n: extension_of(self.queries, n, folder) for n, folder in folders.items()}
        from_now = self.options.from_now
        decisions = list(changed(self.queries, ranges, found, from_now=from_now))
        for decision in decisions:
            self.say(line_of(decision))
            if decision.action in (Action.REBUILT, Action.EXTENDED):
                self.say(f"  {self._size(decision, ranges[decision.query].records)}")
        impossible = [d for d in decisions if d.action is Action.IMPOSSIBLE]
        if self.options.plan:
            return None
        if impossible:
            reason = f"{impossible[0].query} cannot be rebuilt: {impossible[0].reason}"
            hint = "--from-now lets the query continue from now, with the rows that its sink has"
            raise self._refused(reason, hint)
        draft = Mark.read(self.path, draft=True) or Mark(self.path)
        mark = Mark(self.path)
        for decision in decisions:
            if decision.action is Action.KEPT:
                continue
            name = decision.query
            of_range = ranges[name]
            if decision.action in (Action.ANEW, *EXTENDING):
                of_range = stopped_at(folders[name], plans[name], bridge)
            mark.work[name] = self._work(decision, of_range, draft.work.get(name))
        kept = {work.record.directory for work in mark.work.values()}
        for work in draft.work.values():
            if work.record.directory and work.record.directory not in kept:
                remove_tree(self.path / work.record.directory)
        return mark

    def catch_up(self, mark: Mark) -> None:
        """Read what the running job has committed, until little is left.

        Nothing outside the new directories changes.

        Args:
            mark: of `decided`.
        """
        plans = {name: self.queries.plans[name] for name in mark.work}
        check_ready(plans, self._facts(mark.work), self.context, self.notice)
        Mark(self.path, mark.work, draft=True).write()
        for _ in range(_PASSES):
            begun = time.monotonic()
            self._read_on(mark)
            if time.monotonic() - begun < _SHORT_PASS_S:
                break
        alone = {group[0] for group in self._compared_together(mark) if len(group) == 1}
        early = {name: work for name, work in self._rebuilt(mark).items() if name in alone}
        self._at_once(early, compare_early)
        self._read_on(mark)

    def _read_on(self, mark: Mark) -> None:
        """Read up to the last known commits of the job, and look for newer ones."""
        self._at_once(self._rebuilt(mark), Shadow.run)
        self.move_ends(mark)

    def _rebuilt(self, mark: Mark) -> Mapping[str, Work]:
        return {n: work for n, work in mark.work.items() if work.action is Action.REBUILT}

    def move_ends(self, mark: Mark) -> None:
        """Let the shadow runs end at what the old queries have committed by now."""
        bridge = self.context.bridge
        for name, work in mark.work.items():
            folder, plan = self._old(name), self.queries.plans[name]
            if work.action is Action.REBUILT:
                now = read_range(folder, plan, bridge)
                mark.work[name] = replace(work, range=replace(now, begins=work.range.begins))
            elif work.action in (Action.ANEW, *EXTENDING):
                mark.work[name] = replace(work, range=stopped_at(folder, plan, bridge))

    def check_same(self, mark: Mark) -> None:
        """Refuse to continue the upgrade to another script, or with other settings."""
        if (difference := self._difference(mark)) is not None:
            reason = f"an upgrade to other queries was interrupted: {difference}"
            hint = "run the command with the script and the settings of that upgrade"
            raise self._refused(reason, hint)
        self.notice(f"continues the interrupted upgrade of {', '.join(mark.work)}")

    def _size(self, decision: Decision, records: int) -> str:
        """Return what an upgrade of a query reads, in words."""
        of_groups = decision.action is Action.EXTENDED
        text = f"reads {'the state of its groups' if of_groups else f'{records:,} records again'}"
        if not self.options.plan:
            return text
        plan = self.queries.plans[decision.query]
        there = newest(sink_of(plan.table).records(self.context), ORDER_COLUMNS)
        keys = there.where("value IS NOT NULL").count()
        return f"{text}, and compares {keys:,} keys of {words_of(plan)}"

    def _work(self, decision: Decision, of_range: ReadRange, draft: Work | None) -> Work:
        """Return the work of a query; an interrupted one of the same query is continued."""
        name, record = decision.query, self.queries.records[decision.query]
        if (
            draft is not None
            and draft.action is decision.action is Action.REBUILT
            and draft.record.difference(name, record) is None
        ):
            return replace(draft, range=replace(of_range, begins=draft.range.begins))
        if decision.action is not Action.CONTINUED:
            directory = free_directory(self.path, name)
            record = record.alone(uuid.uuid4().hex, directory)
        return Work(decision.action, noted(record, decision.action), of_range)
