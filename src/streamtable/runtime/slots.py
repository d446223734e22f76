"""Whether Spark has room for all tasks that queries of real-time mode hold at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pyspark.sql import SparkSession

from streamtable.connectors.kafka.bounds import topics_of
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.plan.nodes import Sink, scans
from streamtable.plan.real_time import stages_of_state
from streamtable.runtime.preflight import Notice


def with_room(
    spark: SparkSession,
    plans: Mapping[str, Sink],
    modes: Mapping[str, ExecutionMode],
    notice: Notice,
    restart: Callable[[str], SparkSession] | None,
) -> tuple[SparkSession, Mapping[str, ExecutionMode]]:
    """A session with a slot for every task of real-time mode, and the modes that it has room for.

    `restart` starts Spark again with another master: on this machine slots are threads, so that
    there can be as many as are needed. It is None for a cluster, or a session that someone else
    made; without the slots auto mode then stays in micro-batches.

    Raises:
        StreamtableError: NOT_ENOUGH_SLOTS where real-time mode itself is asked for.
    """
    bridge = Bridge(spark)

    def partitions_of(table: KafkaTable) -> int:
        admin = KafkaAdmin(bridge, table.properties)
        topics = topics_of(table, admin)
        return sum(int(admin.describe(topic).get("partitions", 0)) for topic in topics)

    real_time = [plans[n] for n, mode in modes.items() if mode is not ExecutionMode.MICRO_BATCH]
    in_batches = [plans[n] for n, mode in modes.items() if mode is ExecutionMode.MICRO_BATCH]
    if not real_time:
        return spark, modes
    parallelism = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    needed = needed_slots(real_time, in_batches, partitions_of, parallelism)
    lacking = not_enough_slots(needed, spark.sparkContext.defaultParallelism)
    if lacking is None:
        return spark, modes
    if restart is not None:
        spark.stop()
        return restart(f"local[{needed}]"), modes
    if ExecutionMode.REAL_TIME in modes.values():
        raise lacking
    notice(f"stays in micro-batches: {lacking}")
    return spark, dict.fromkeys(modes, ExecutionMode.MICRO_BATCH)


def needed_slots(
    real_time: Iterable[Sink],
    in_batches: Iterable[Sink],
    partitions_of: Callable[[KafkaTable], int],
    parallelism: int,
) -> int:
    """How many tasks the queries of a job hold at once.

    A query of real-time mode holds those of all its stages; one in micro-batches those of its
    widest stage, which must not be in the way when another one begins.

    Args:
        real_time: the queries that may run in real-time mode.
        in_batches: the other ones.
        partitions_of: the number of partitions of a table's topics.
        parallelism: partitions of the state.
    """

    def read(plan: Sink) -> int:
        tables = (scan.table.connector for scan in scans(plan.input))
        return sum(partitions_of(table) for table in tables if isinstance(table, KafkaTable))

    held = sum(read(plan) + parallelism * stages_of_state(plan.input) for plan in real_time)
    return held + sum(max(read(plan), parallelism) for plan in in_batches)


def not_enough_slots(needed: int, available: int) -> StreamtableError | None:
    """NOT_ENOUGH_SLOTS where the cluster cannot hold all tasks at once."""
    if needed <= available:
        return None
    return StreamtableError(
        Condition.NOT_ENOUGH_SLOTS,
        needed=needed,
        available=available,
        hint=(
            f"give Spark {needed - available} more cores, lower 'parallelism.default',"
            " or SET 'execution.mode' = 'micro-batch'"
        ),
    )
