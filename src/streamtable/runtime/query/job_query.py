"""A streaming query of a job: one INSERT, or the INSERTs of a statement set that share a scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.joint_sink import joint_sink_of
from streamtable.connector_api.sink import SinkFacts, SinkTimer
from streamtable.core.settings.execution import ExecutionMode
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink.shared_scan import lower_together
from streamtable.operators.sink.sink import lower_sink
from streamtable.operators.source.reused_scan import reusing
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment
from streamtable.runtime.checkpoint.shared_queries import members_of


@dataclass(frozen=True)
class JobQuery:
    """A streaming query of a job.

    Attributes:
        name: its name; that of the INSERT, unless several INSERTs share the query.
        inserts: the INSERTs, by name, in the order of the script.
        numbers: numbers of the INSERTs in the state of the query, by name; empty for a query of one
            INSERT, and without state.
    """

    name: str
    inserts: Mapping[str, Sink]
    numbers: Mapping[str, int] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """The name of the first INSERT.

        INSERTs that share a query read the same table alike, and their operators depend on time
        alike, so what is true of the first one's source and operators is true of all.
        """
        return next(iter(self.inserts))

    @property
    def plan(self) -> Sink:
        """The plan of the first INSERT; see `first`."""
        return self.inserts[self.first]

    @property
    def plans(self) -> Sequence[Sink]:
        """The plans of all INSERTs."""
        return [*self.inserts.values()]

    @property
    def title(self) -> str:
        """The query in messages of errors: the INSERTs that it runs."""
        return ", ".join(self.inserts)

    def mode(self, modes: Mapping[str, ExecutionMode]) -> ExecutionMode:
        """Return the mode of the query; micro-batches if one INSERT needs them.

        Args:
            modes: by the names of the INSERTs.
        """
        wanted = {modes[name] for name in self.inserts}
        return modes[self.first] if len(wanted) == 1 else ExecutionMode.MICRO_BATCH

    @property
    def is_joint(self) -> bool:
        """Whether the query writes as several INSERTs do, though others may have been removed."""
        return len(self.inserts) > 1 or bool(self.numbers)

    def rows(self, context: LoweringContext, facts: SinkFacts) -> DataFrame:
        """Lower the INSERTs to encoded rows."""
        by_split = facts.stateless_scans and sink_of(self.plan.table).names_tasks_by_split
        context = replace(context, one_split_per_task=by_split)
        if not self.is_joint:
            return lower_sink(self.plan, reusing(self.plan, context))
        numbers = self.numbers or {name: place for place, name in enumerate(self.inserts)}
        return lower_together({numbers[n]: sink for n, sink in self.inserts.items()}, context)

    def timer(self, facts: SinkFacts, context: LoweringContext) -> SinkTimer | None:
        """Return the timer of the sink; None if nothing waits, and for several INSERTs."""
        if self.is_joint:
            return None
        return sink_of(self.plan.table).timer(facts, context)

    def write(self, writer: DataStreamWriter, facts: SinkFacts, context: LoweringContext) -> None:
        """Configure a streaming query to write the encoded rows."""
        if not self.is_joint:
            sink_of(self.plan.table).write(writer, facts, context)
            return
        sinks = [joint_sink_of(plan.table) for plan in self.plans]
        sinks[0].write_together(sinks, writer, facts, context)


def job_queries(queries: Assignment) -> list[JobQuery]:
    """Return the streaming queries of a job."""
    plans, records = queries.plans, queries.records
    return [
        JobQuery(
            query,
            {name: plans[name] for name in members},
            {name: n for name in members if (n := records[name].number) is not None},
        )
        for query, members in members_of(queries).items()
    ]
