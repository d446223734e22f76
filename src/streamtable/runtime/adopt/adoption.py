"""Adoption of the sinks of a script: a rebuild of queries that have no predecessor."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.source import ORDER_COLUMNS, Split
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.runtime.adopt.ranges import adopted_range, described
from streamtable.runtime.adopt.rows import examples, other_rows
from streamtable.runtime.checkpoint.assignment import Assignment
from streamtable.runtime.checkpoint.identities import identities_of
from streamtable.runtime.checkpoint.storage.lock import Lock
from streamtable.runtime.checkpoint.storage.trees import remove_tree
from streamtable.runtime.endpoints import several_tables, target_of, words_of
from streamtable.runtime.preflight.cluster import check_ready
from streamtable.runtime.upgrade.decisions import (
    Action,
    Decision,
    line_of,
    of_all,
    rebuild_obstacle,
    replay_obstacle,
)
from streamtable.runtime.upgrade.difference import Counts, compare, differences
from streamtable.runtime.upgrade.mark import Mark, NewCheckpoint, Work
from streamtable.runtime.upgrade.ranges import ReadRange, topic_of
from streamtable.runtime.upgrade.shadow import Shadow
from streamtable.runtime.upgrade.steps import UpgradeSteps

#: Number of differing keys that a plan shows.
_SHOWN = 5


@dataclass
class Adoption(UpgradeSteps):
    """Adoption into a new checkpoint: decides what happens with each query, and does it.

    Attributes:
        options: options of the adoption.
    """

    options: AdoptOptions
    end: ClassVar[str] = "the next run continues from there"
    _ends: dict[str, Mapping[Split, int]] = field(default_factory=dict)

    def decided(self) -> Mark:
        """Describe the adoption; return its mark.

        Raises:
            StreamtableError: TOPICS_NOT_ADOPTED if a query cannot be adopted.
        """
        bridge, plans = self.context.bridge, self.queries.plans
        mark = Mark(self.path)
        refused: list[Decision] = []
        ranges = {n: adopted_range(plan, self.options, bridge) for n, plan in plans.items()}
        own = {name: self._obstacle(plan, ranges[name]) for name, plan in plans.items()}
        for name, obstacle in of_all(own, plans).items():
            decision = self._decision(name, plans[name], obstacle, ranges[name])
            self.say(line_of(decision))
            if decision.action is Action.IMPOSSIBLE:
                refused.append(decision)
            mark.work[name] = Work(decision.action, self.queries.records[name], ranges[name])
        if refused:
            reason = f"{refused[0].query}: {refused[0].reason}"
            raise self._refused(reason, "the documentation of `adopt` says what can be adopted")
        topics = identities_of(plans.values(), bridge)
        self.manifest = replace(self.manifest, topics=topics)
        mark.adopts = NewCheckpoint(self.manifest, self.options.asked)
        return mark

    def check_same(self, mark: Mark) -> None:
        """Refuse to continue the adoption with another script or settings, or to other offsets."""
        new = (f"the query into {n} is new" for n in self.queries.records if n not in mark.work)
        if (difference := self._difference(mark) or next(new, None)) is not None:
            reason = f"an adoption with other queries was interrupted: {difference}"
            hint = "run the command with the script and the settings of that adoption"
            raise self._refused(reason, hint)
        before = mark.adopts.asked if mark.adopts is not None else {}
        if self.options.asked not in ({}, before):
            reason = "an adoption up to other offsets was interrupted"
            raise self._refused(reason, "run the command with its --at and --group, or without")
        self.notice(f"continues the interrupted adoption of {', '.join(mark.work)}")
        for name, work in mark.work.items():
            self.say(f"{name}: {work.action.value}: {described(work.range)}")

    def preview(self, mark: Mark) -> None:
        """Say what an adoption would write; only a temporary directory is written.

        Args:
            mark: of `decided`, or of an interrupted adoption.
        """
        plans = self.queries.plans
        check_ready(plans, self._facts({}), self.context, self.notice, first_run=True)
        self._ends = self._ends_now()
        with tempfile.TemporaryDirectory(prefix="streamtable-") as scratch:
            context = replace(self.context, directory=Path(scratch))
            for group in self._compared_together(mark):
                shadows = []
                for name in group:
                    place, of_range = Path(scratch) / name, mark.work[name].range
                    shadows.append(
                        Shadow(name, plans[name], place, of_range, context, self.stop, self.notice)
                    )
                    shadows[-1].run()
                plan = plans[group[0]]
                words = self._compared(shadows).words(sink_of(plan.table).target)
                self.say(f"  {' and '.join(group)}: {words}")
                found = examples(plan, differences(shadows[0]), _SHOWN, shadows[0].context)
                for key, before, now in found:
                    self.say(f"    {key}: {before or 'no row'} -> {now or 'no row'}")

    def finish(self, mark: Mark, lock: Lock) -> None:
        """Do all steps that are left, with the lock of the checkpoint."""
        self._ends = self._ends_now()
        super().finish(mark, lock)
        for name in mark.work:
            remove_tree(self.path / name / Shadow.FOLDER)

    def _obstacle(self, plan: Sink, of_range: ReadRange) -> str | None:
        """Return why a query cannot be adopted; None if it can."""
        appends = plan.table.connector.writes.is_append
        obstacle = replay_obstacle(plan) if appends else rebuild_obstacle(plan)
        if obstacle is None and appends and self._open_ended(of_range):
            obstacle = (
                f"{plan.table.name} keeps every record, so the offsets up to which the other"
                " engine has written it must be given by --at or --group"
            )
        if obstacle is None and not appends:
            plans = self.queries.plans.values()
            obstacle = several_tables(p for p in plans if target_of(p) == target_of(plan))
        return obstacle or of_range.lost

    def _decision(
        self, name: str, plan: Sink, obstacle: str | None, of_range: ReadRange
    ) -> Decision:
        if obstacle is not None:
            return Decision(name, Action.IMPOSSIBLE, obstacle)
        reads = described(of_range)
        if plan.table.connector.writes.is_append:
            reason = f"{reads}; {plan.table.name} keeps every record, and nothing is written to it"
            return Decision(name, Action.BUILT, reason)
        return Decision(name, Action.ADOPTED, reads)

    def _open_ended(self, of_range: ReadRange) -> bool:
        """Whether the ends of some topics are their current ends."""
        topics = {topic_of(split) for split in of_range.ends}
        return self.options.group is None and not topics <= self.options.at.keys()

    def _compared(self, shadows: Sequence[Shadow]) -> Counts:
        shadow = shadows[0]
        select = other_rows(shadow.plan, shadow.context)
        try:
            return compare(shadows, self._target(shadow), select)
        except (PySparkException, JavaError) as error:
            explain = source_of(shadow.plan.table).explain
            raise job_fault(shadow.name, str(error), [explain]) from error

    def _target(self, shadow: Shadow) -> DataFrame:
        """Return the records of the sink, in which no other program may write any more."""
        table, bridge = shadow.plan.table, self.context.bridge
        source, sink = source_of(table), sink_of(table)
        if not self._ends[shadow.name]:
            return sink.records(shadow.context)
        begins, ends = source.begins_of(bridge), source.ends_of(None, bridge)
        if ends != self._ends[shadow.name] or begins is None:
            reason = (
                f"{words_of(shadow.plan)} has got records since the command has started,"
                " so the other engine still runs"
            )
            hint = "stop it, delete the checkpoint directory, and run the command again"
            raise self._refused(reason, hint)
        ranges = {split: (begins[split], end) for split, end in ends.items()}
        records = source.records_between(ranges, shadow.context, committed=True)
        partition, offset = ORDER_COLUMNS
        return records.selectExpr(
            "key", "value", f"partition AS {partition}", f"offset AS {offset}"
        )

    def _ends_now(self) -> dict[str, Mapping[Split, int]]:
        """Return the ends of the sinks that are compared; a target that does not exist has none."""
        bridge = self.context.bridge
        ends: dict[str, Mapping[Split, int]] = {}
        for name, plan in self.queries.plans.items():
            if plan.table.connector.writes.is_append:
                continue
            source = source_of(plan.table)
            there = source.identities(bridge)
            ends[name] = (source.ends_of(None, bridge) or {}) if there else {}
        return ends

    def _remember(self, mark: Mark) -> None:
        """Keep nothing: an adoption is not rolled back."""

    def _only(self, work: Mapping[str, Work]) -> Assignment:
        """Return the queries as those of a first run."""
        del work
        return self.queries

    def _refused(self, reason: str, hint: str) -> StreamtableError:
        return StreamtableError(Condition.TOPICS_NOT_ADOPTED, reason=reason, hint=hint)
