"""Micro-batch or real-time: what each asks of Spark, and whether the machine has it.

Spark's Real-time Mode runs every stage of a query at once and hands rows from one to the next, so
that all of its tasks hold a slot for as long as it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import CHECKPOINT_INTERVAL, EXECUTION_MODE, ExecutionMode
from streamtable.plan.nodes import Calc, Node, Normalize, Scan, Sink, UnionAll, Values, scans
from streamtable.plan.stateful_nodes import Join

#: Time between two checkpoints of a real-time query where the script does not say. Between them
#: rows flow without a pause; at each one they wait for the state to be committed.
DEFAULT_INTERVAL = timedelta(seconds=60)

_READ_ONCE = ("current_timestamp()", "current_date()")

#: Spark takes no shorter one.
SHORTEST_INTERVAL = timedelta(seconds=5)


def chosen_mode(settings: Settings, *, bounded: bool) -> ExecutionMode:
    """The mode of a job; a bounded one runs in micro-batches whatever the setting says."""
    mode = settings[EXECUTION_MODE]
    return ExecutionMode.MICRO_BATCH if bounded else mode


def ends(plan: Sink) -> bool:
    """Whether a query has read everything at some time: one over nothing but VALUES does."""
    return not scans(plan.input)


def with_trigger(
    records: DataFrame, mode: ExecutionMode, settings: Settings, *, bounded: bool
) -> DataStreamWriter:
    """A writer of the records with the trigger of the mode."""
    writer = records.writeStream.outputMode("update")
    if bounded:
        return writer.trigger(availableNow=True)
    if mode is ExecutionMode.MICRO_BATCH:
        return writer
    interval = f"{_interval(settings) // timedelta(milliseconds=1)} milliseconds"
    # PySpark's own overloads do not name this trigger.
    real_time: DataStreamWriter = writer.trigger(realTime=interval)  # type: ignore[call-overload]
    return real_time


def _interval(settings: Settings) -> timedelta:
    interval = settings.get(CHECKPOINT_INTERVAL) or DEFAULT_INTERVAL
    if interval < SHORTEST_INTERVAL:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(CHECKPOINT_INTERVAL),
            option=CHECKPOINT_INTERVAL.key,
            value=settings.given[CHECKPOINT_INTERVAL.key].text,
            expected="at least 5 s, which real-time mode needs",
        )
    return interval


def check_real_time(plans: Iterable[Sink]) -> None:
    """NOT_YET for what Spark's Real-time Mode does not take, before anything is started."""
    for plan in plans:
        _check_guarantee(plan)
        reason = _obstacle(plan.input)
        if reason is not None:
            raise StreamtableError(
                Condition.NOT_YET,
                at=plan.at,
                what=f"the query into {plan.table.name} in real-time mode, because {reason},",
                hint="SET 'execution.mode' = 'micro-batch'",
            )


def _check_guarantee(plan: Sink) -> None:
    """OPTION_CONFLICT for an exactly-once sink.

    A batch of real-time mode has its end written down when it is over. One that is tried again may
    end elsewhere, so that what its transaction held cannot be told from what is new.
    """
    table = plan.table.connector
    assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
    if table.transaction_prefix is not None:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"{table.table} is written exactly-once, which real-time mode cannot do, because"
                " where a batch ends there is known only when it is over"
            ),
            hint="SET 'execution.mode' = 'micro-batch', or use 'at-least-once'",
        )


def _obstacle(node: Node) -> str | None:
    """Why a tree cannot run in real-time mode; None where it can."""
    # The texts are those that `plan.functions.temporal` writes for CURRENT_TIMESTAMP and its kin.
    if any(text in sql for sql in _texts(node) for text in _READ_ONCE):
        return "Spark reads the current time once per batch, which lasts there"
    if isinstance(node, Values):
        return "Spark does not read the rows of a VALUES there"
    if isinstance(node, Join | UnionAll) and any(_stateful(child) for child in node.inputs):
        tables = [n.input.table.name for n in map(_lone_normalize, node.inputs) if n]
        what = "Spark takes no operator with state before two inputs meet"
        if isinstance(node, Join) and tables:
            what += f", and {' and '.join(tables)} must be normalized for want of its primary key"
            what += " in the join's"
        return what
    return next(filter(None, map(_obstacle, node.inputs)), None)


def _lone_normalize(node: Node) -> Normalize | None:
    """The normalizer that is the only state below a node."""
    while isinstance(node, Calc):
        node = node.input
    return node if isinstance(node, Normalize) else None


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, Calc):
        yield from (projection.sql for projection in node.projections)
        yield node.condition or ""
    for child in node.inputs:
        yield from _texts(child)


def needed_slots(
    plans: Iterable[Sink], partitions_of: Callable[[KafkaTable], int], parallelism: int
) -> int:
    """How many tasks the queries hold at once in real-time mode.

    Args:
        plans: one per query.
        partitions_of: the number of partitions of a table's topics.
        parallelism: partitions of the state.
    """
    needed = 0
    for plan in plans:
        for scan in scans(plan.input):
            table = scan.table.connector
            assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
            needed += partitions_of(table)
        needed += parallelism * _stateful(plan.input)
    return needed


def _stateful(node: Node) -> int:
    """How many stages of state lie in a tree; each begins with a shuffle."""
    own = not isinstance(node, Scan | Values | Calc | UnionAll)
    return int(own) + sum(_stateful(child) for child in node.inputs)


def check_slots(needed: int, available: int) -> None:
    """NOT_ENOUGH_SLOTS where the cluster cannot hold all tasks at once."""
    if needed > available:
        raise StreamtableError(
            Condition.NOT_ENOUGH_SLOTS,
            needed=needed,
            available=available,
            hint=(
                f"give Spark {needed - available} more cores, lower 'parallelism.default',"
                " or SET 'execution.mode' = 'micro-batch'"
            ),
        )
