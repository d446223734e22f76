"""Task slots of Spark for the queries in real-time mode, which hold all of their tasks at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import SparkSession

from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.source import Source
from streamtable.core.errors import StreamtableError
from streamtable.core.settings.execution import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import not_enough_slots
from streamtable.plan.sink.reused_scan import read_scans
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.query.job_query import JobQuery
from streamtable.runtime.session.spark import stop_spark

#: How long a start waits for the executors of a cluster, and the pause between two looks, in
#: seconds. The executors of a free cluster register within a few seconds of each other.
_EXECUTORS_S, _POLL_S = 15.0, 0.2


def with_enough_slots(
    spark: SparkSession,
    queries: Sequence[JobQuery],
    modes: Mapping[str, ExecutionMode],
    notice: Notice,
    restart: Callable[[str], SparkSession] | None,
) -> tuple[SparkSession, Mapping[str, ExecutionMode]]:
    """Return a session with a slot for every real-time task, and the modes for which it has slots.

    `restart` starts Spark again with another master: on this machine slots are threads, so Spark
    can have as many slots as the job needs. `restart` is None for a cluster, and for a session that
    the job does not own. If slots are missing then, auto mode stays in micro-batches.

    Raises:
        StreamtableError: NOT_ENOUGH_SLOTS if the settings request real-time mode.
    """
    bridge = Bridge(spark)

    in_batches = [q.plan for q in queries if modes[q.name] is ExecutionMode.MICRO_BATCH]
    real_time = [q.plan for q in queries if modes[q.name] is not ExecutionMode.MICRO_BATCH]
    if not real_time:
        return spark, modes
    new_splits: dict[str, int] = {}
    for plan in (plan for query in queries for plan in query.plans):
        new_splits.update(sink_of(plan.table).new_splits(bridge))

    def tasks_of(source: Source) -> int:
        return source.parallelism(bridge, new_splits)

    parallelism = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    needed = needed_slots(real_time, in_batches, tasks_of, parallelism)
    available = _available(spark, needed, bridge)
    if needed <= available:
        return spark, modes
    if restart is not None:
        stop_spark(spark)
        return restart(f"local[{needed}]"), modes
    missing = not_enough_slots(needed=needed, available=available)
    if ExecutionMode.REAL_TIME in modes.values():
        raise missing
    notice(f"stays in micro-batches: {missing}")
    return spark, dict.fromkeys(modes, ExecutionMode.MICRO_BATCH)


def _available(spark: SparkSession, needed: int, bridge: Bridge) -> int:
    """Return the slots of Spark; wait a moment for the executors of a cluster to register."""
    deadline = time.monotonic() + (0 if bridge.is_local else _EXECUTORS_S)
    while spark.sparkContext.defaultParallelism < needed and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return spark.sparkContext.defaultParallelism


def needed_slots(
    real_time: Iterable[Sink],
    in_batches: Iterable[Sink],
    tasks_of: Callable[[Source], int],
    parallelism: int,
) -> int:
    """Return the number of tasks that the queries of a job hold at once.

    Args:
        real_time: the queries that may run in real-time mode.
        in_batches: all other queries.
        tasks_of: returns the number of tasks that read a source at once.
        parallelism: number of state partitions.
    """
    held = sum(_slots_of(plan, tasks_of, parallelism, real_time=True) for plan in real_time)
    return held + sum(
        _slots_of(plan, tasks_of, parallelism, real_time=False) for plan in in_batches
    )


def _slots_of(
    plan: Sink, tasks_of: Callable[[Source], int], parallelism: int, *, real_time: bool
) -> int:
    """Return the number of tasks that one query holds at once.

    A query in real-time mode holds the tasks of all its stages. A query in micro-batches holds the
    tasks of its widest stage, which must not block the start of another query.
    """
    read = sum(tasks_of(source_of(scan.table)) for scan in read_scans(plan))
    return read + parallelism * plan.input.shuffles if real_time else max(read, parallelism)


class TaskSlots:
    """Slots of Spark, and the slots that the queries of a job hold while their sources grow.

    Spark itself rejects a batch of several stages if too few slots are free. But Spark starts a
    batch of one stage in any case; new partitions without a free slot are then not read at all.

    Args:
        spark: the session.
        plans: by the names of their queries.
        modes: the current mode of each query.
    """

    def __init__(
        self, spark: SparkSession, plans: Mapping[str, Sink], modes: Mapping[str, ExecutionMode]
    ) -> None:
        self._bridge = Bridge(spark)
        self._available = spark.sparkContext.defaultParallelism
        self._parallelism = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
        self._plans = plans
        self._held: dict[str, int] = {}
        if any(mode is not ExecutionMode.MICRO_BATCH for mode in modes.values()):
            for name, mode in modes.items():
                self._count(name, real_time=mode is not ExecutionMode.MICRO_BATCH)

    def missing(self, name: str) -> StreamtableError | None:
        """Return NOT_ENOUGH_SLOTS if a query in real-time mode now has too few slots, or None.

        Raises:
            StreamtableError: errors of a source.
        """
        self._count(name, real_time=True)
        needed = sum(self._held.values())
        if needed <= self._available:
            return None
        return not_enough_slots(needed=needed, available=self._available)

    def leave(self, name: str) -> None:
        """Record that a query runs in micro-batches from now on."""
        self._count(name, real_time=False)

    def _count(self, name: str, *, real_time: bool) -> None:
        def tasks_of(source: Source) -> int:
            return source.parallelism(self._bridge, {})

        plan = self._plans[name]
        self._held[name] = _slots_of(plan, tasks_of, self._parallelism, real_time=real_time)
