"""`Sink`: writes a table; `Rollback`: rolls a sink back to a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.preflight import Notice, Preflight, Resource
from streamtable.connector_api.reading import ReadContext
from streamtable.connector_api.tail import Tail
from streamtable.core.changelog import ChangelogMode
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, InternalError, Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import Counters


@dataclass(frozen=True, kw_only=True)
class SinkFacts:
    """Facts about the query that writes a sink.

    Attributes:
        query: the query's name, unique in the job.
        job: the id in which the epochs of the query are numbered: that of the job's checkpoint, or
            one of the query alone.
        directory: the directory of the query's checkpoint.
        positions: the folder below it in which real-time mode records the end of the sink at each
            commit.
        mode: row kinds that the query emits.
        replaces_inserts: whether the query emits only inserts and its rows may replace each other
            in the sink, which keeps one row per key.
        replays: whether, after a crash in real-time mode, the replay writes every row again that
            the query had written (`plan.rules.replay`).
        reads_splits_alone: whether each task that writes without state before it reads one split.
        stateless_scans: whether some rows reach the sink without state before it.
        interval: the time between two checkpoints of real-time mode.
        rolls_back: whether settings allow real-time mode to roll sinks back; a later run may use
            real-time mode.
        adjusts: whether settings allow a start to change the configuration of an existing target
            that rollback needs.
        targets: the places of the targets of the job's other queries, by query name.
        writer_id: `together.WrittenTogether.writer_id` of the query's first run, if the query
            writes several sinks; else None.
    """

    query: str
    job: str
    directory: CheckpointPath
    positions: CheckpointPath
    mode: ChangelogMode
    replaces_inserts: bool
    replays: bool
    reads_splits_alone: bool
    stateless_scans: bool
    interval: timedelta
    rolls_back: bool
    adjusts: bool
    targets: Mapping[str, str]
    writer_id: str | None = None

    def merge_obstacle(self, tasks: int | None) -> str | None:
        """Return why merged tasks may have other rows when a batch runs again; None if not.

        Spark chooses the tasks to merge by the executors that hold their state, which differ in
        another run. A single task always has all rows.

        Args:
            tasks: the `sink.parallelism` of the sink; None if tasks are not merged.
        """
        if tasks is None:
            return None
        if self.stateless_scans:
            return "'sink.parallelism' lets a task write rows of several source partitions"
        if tasks > 1:
            return "'sink.parallelism' above 1 lets a task write rows of any state partitions"
        return None


class WriteContext(Protocol):
    """The context of the job for a sink."""

    @property
    def bridge(self) -> Bridge:
        """The JVM side."""

    @property
    def settings(self) -> Settings:
        """The session's settings."""

    @property
    def mode(self) -> ExecutionMode:
        """The execution mode: micro-batch or real-time."""

    def counters_of(self, table: str) -> Counters:
        """Return the counters of the records that a sink table takes."""


class Rollback(Protocol):
    """Rolls a sink back to the checkpoint from which its query continues.

    Real-time mode writes rows before the checkpoint that covers their records. After a crash, the
    query may not write the rows after the last checkpoint again. Therefore a start first restores
    each key that was written after the checkpoint to its value at the checkpoint.
    """

    @property
    def pending(self) -> bool:
        """Whether the next start will roll the sink back."""

    @property
    def shared_obstacle(self) -> str | None:
        """Why rollback ended after the start: the target has another writer; else None."""

    def before_start(self, mode: ExecutionMode) -> bool:
        """Roll the sink back if necessary, before the query starts in a mode.

        Returns:
            Whether the sink has older rows until the query writes them again.
        """

    def after_stop(self) -> None:
        """Note that the query no longer writes."""

    def settled(self) -> None:
        """Note that the last commit covers all written rows, so no rollback is necessary."""


class SinkTimer(Protocol):
    """Work of a sink that waits for the clock or for the watermark, between batches."""

    def advance(self, watermark: int) -> None:
        """Do what is due; called several times a second while the query runs.

        Args:
            watermark: the query's watermark in epoch milliseconds; 0 if it has none yet.

        Raises:
            StreamtableError: the target cannot be used.
        """

    def end_input(self) -> None:
        """Do everything that waits, at the end of the input."""

    def close(self) -> None:
        """Release the timer; the query does not run any more."""


class Sink(Protocol):
    """Writes one table."""

    @property
    def table(self) -> str:
        """The table's name, for messages, counters and metrics."""

    @property
    def at(self) -> Span | None:
        """The position of the table's declaration."""

    @property
    def target(self) -> str:
        """The name of the target, such as a topic, for messages."""

    @property
    def place(self) -> str:
        """What tells the target from others, as declared; queries with the same place share it."""
        return self.target

    def place_there(self, bridge: Bridge) -> str:
        """Return the same as the external system knows it, under whatever address.

        Raises:
            StreamtableError: the system cannot be reached.
        """
        return self.place

    @property
    def names_tasks_by_split(self) -> bool:
        """Whether a task that writes without state before it is identified by its source split.

        Then each task of such a query reads one split, so that a repeated batch has the same tasks.
        """
        return False

    @property
    def target_noun(self) -> str:
        """What `target` is, for messages: one word, whose plural ends in s."""
        return "target"

    def encode(self, rows: DataFrame, context: WriteContext) -> DataFrame:
        """Encode rows for `write`.

        Args:
            rows: a changelog: row kind, then the table's persisted columns in order and type.
            context: the context of the job.
        """
        return rows

    def write(self, writer: DataStreamWriter, facts: SinkFacts, context: WriteContext) -> None:
        """Configure a streaming query with trigger and checkpoint to write encoded rows."""

    def real_time_obstacle(self) -> StreamtableError | None:
        """Return why the sink does not support real-time mode; None if it does."""
        return None

    def new_splits(self, bridge: Bridge) -> Mapping[str, int]:
        """Return the target and its number of splits, if the job itself will create the target."""
        return {}

    def timer(self, facts: SinkFacts, context: WriteContext) -> SinkTimer | None:
        """Return the timer of the sink for a query that starts; None if nothing waits."""
        return None

    def examine(self, facts: SinkFacts, preflight: Preflight) -> Sequence[Resource]:
        """Check the target; return the resources that must be created.

        Raises:
            StreamtableError: the target cannot be reached, or does not fit.
        """
        return ()

    def check(self, facts: SinkFacts, preflight: Preflight) -> None:
        """Check rights, schemas and keys; runs after all resources to create are known.

        Raises:
            StreamtableError: the target would not accept the rows.
        """
        return

    def recover(self, facts: SinkFacts, preflight: Preflight) -> None:
        """Clean up what an earlier run left open; called after all checks have passed."""
        return

    def explain(self, sink: str, text: str) -> StreamtableError | None:
        """Translate the exception that ended a query; None if the sink does not know it.

        Args:
            sink: the table that the query writes.
            text: the exception with all its causes, as Spark prints it.
        """
        return None

    def tail(self, rows: int, bridge: Bridge) -> Tail:
        """Return the newest rows of the target, for people who watch a running job.

        Args:
            rows: the number of rows of a poll.
            bridge: the JVM side.

        Raises:
            StreamtableError: NOT_YET if the connector cannot read its target; an error of the
                external system.
        """
        raise StreamtableError(
            Condition.NOT_YET, what=f"live rows of {self.table}, whose connector only writes"
        )

    @property
    def may_repeat(self) -> bool:
        """Whether a crash may leave a row in the target twice."""
        return True

    def recorded_ends(self, positions: CheckpointPath, batch: int) -> Mapping[str, int] | None:
        """Return the end of each split of the target at a commit, if the query has recorded it.

        Args:
            positions: `SinkFacts.positions` of the query.
            batch: number of the committed batch.

        Raises:
            StreamtableError: CHECKPOINT_UNREADABLE.
        """
        return None

    def rewrite_obstacle(self) -> str | None:
        """Return why the target cannot be made equal to other rows; None if it can.

        It can if the target keeps one record per key, and `records` returns these records.
        """
        return f"the connector of {self.table} cannot compare its target with rows"

    def records(
        self,
        context: ReadContext,
        since: Mapping[int, int] | None = None,
        *,
        settled: bool = False,
    ) -> DataFrame:
        """Return the encoded records of the target: `key`, `value`, and `ORDER_COLUMNS`.

        A batch DataFrame; `value` is NULL in a delete. Only for sinks without a rewrite obstacle.

        Args:
            context: the context of the read.
            since: the first position to read by the number of its split, for some splits; None for
                all records.
            settled: whether the target gets no records any more, so that the end of an open
                transaction is waited for.

        Raises:
            StreamtableError: an error of the external system; MOMENT_LOST if a transaction stays
                open.
        """
        msg = f"the target of {self.table} cannot be read"
        raise InternalError(msg)

    def rollback_obstacle(self, facts: SinkFacts) -> str | None:
        """Return why the sink cannot be rolled back, judged by the script alone; else None."""
        return f"{self.table} cannot be rolled back"

    def target_rollback_obstacle(self, facts: SinkFacts, bridge: Bridge) -> str | None:
        """Return why the sink cannot be rolled back, judged by checkpoint and target; else None."""
        return None

    def rollback(
        self, facts: SinkFacts, context: WriteContext, notice: Notice, *, keeps: bool
    ) -> Rollback | None:
        """Return the rollback of the sink; None if rollback is not possible.

        Args:
            facts: the facts of the query.
            context: the context of the job.
            notice: called with one line for the user.
            keeps: whether real-time mode records the end of the target at each commit.
        """
        return None
