"""Takes the topics of sinks back to the checkpoint that a query goes on from.

Real-time mode writes rows before the checkpoint that covers their records. What it wrote behind
the last one need not come by again (`plan.repeats`), so a start first gives each key that was
written there the value which it had at the checkpoint. For that a query in real-time mode keeps,
beside each commit, where its sink's topic ended (`io.streamtable.kafka.SinkPositions`). This is for
folded topics that nobody else writes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from streamtable.connectors.kafka.options import DeliveryGuarantee
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.durations import format_duration
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import RESTORE_SINKS, ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin, Partition
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink import sink_table
from streamtable.plan.nodes import Sink
from streamtable.plan.repeats import may_differ
from streamtable.runtime.checkpoint import Checkpoint, newest_batch
from streamtable.runtime.modes import checkpoint_interval
from streamtable.runtime.preflight import Notice

#: Spark's setting, and our class, which writes the files and hears of commits first.
_FILES_KEY = "spark.sql.streaming.checkpointFileManagerClass"
_FILES = "io.streamtable.query.LocalCheckpointFiles"

#: How many checkpoint intervals a record must be safe from compaction at least: as long as it may
#: take to start again, and to have begun.
_SAFE_INTERVALS = 10

#: How long it is in topics that a job creates.
_SAFE_AT_LEAST = timedelta(hours=1)

#: How long brokers may take to know a new topic, in seconds.
_KNOWN_S = 10

#: As long as a start may take; what waits for a broker ends before.
_A_DAY_MS = 24 * 60 * 60 * 1000


def obstacle(name: str, plans: Mapping[str, Sink], settings: Settings) -> str | None:
    """Why a query's sink cannot be taken back, as far as the script tells; None where it can."""
    table = sink_table(plans[name])
    if not settings[RESTORE_SINKS]:
        return f"'{RESTORE_SINKS.key}' is off"
    if not table.is_upsert:
        return f"{table.table} keeps every record"
    if table.delivery is not DeliveryGuarantee.AT_LEAST_ONCE:
        return f"'sink.delivery-guarantee' is '{table.delivery.value}'"
    if table.partitioner != "default":
        return f"'sink.partitioner' is '{table.partitioner}'"
    others = (sink_table(plan) for other, plan in plans.items() if other != name)
    if any(other.topics == table.topics for other in others):
        return f"another INSERT writes topic '{table.topics[0]}'"
    return None


def obstacles_there(
    plans: Mapping[str, Sink], checkpoint: Checkpoint, context: LoweringContext
) -> dict[str, str]:
    """The same, as far as the checkpoint and the cluster tell, for those that have one.

    Args:
        plans: queries that may run in real-time mode, by their names; their topics exist.
        checkpoint: the job's.
        context: the job's choices.
    """
    interval = checkpoint_interval(context.settings)
    found = {}
    for name, plan in plans.items():
        if not may_differ(plan.input):
            continue
        table = sink_table(plan)
        why = None
        if context.spark.conf.get(_FILES_KEY) != _FILES:
            why = f"'{_FILES_KEY}' is not ours"
        elif _is_shared(Path(checkpoint.query_directory(name))):
            why = shared_obstacle(table.topics[0])
        why = why or _obstacle_of_topic(table, interval, context.bridge)
        if why is not None:
            found[name] = why
    return found


def _obstacle_of_topic(table: KafkaTable, interval: timedelta, bridge: Bridge) -> str | None:
    topic = table.topics[0]
    admin = KafkaAdmin(bridge, table.properties)
    found = _described(admin, topic)
    try:
        admin.check_access(topic, "READ")
    except StreamtableError as error:
        if error.condition is not Condition.ACCESS_DENIED:
            raise
        return f"the user lacks READ of topic '{topic}'"
    if "cleanup.policy" not in found:
        return f"the user lacks DESCRIBE_CONFIGS of topic '{topic}'"
    if "compact" not in found["cleanup.policy"]:
        return None
    if any(column.key == "timestamp" for column in table.schema.metadata if not column.virtual):
        return f"brokers go by the timestamps that {table.table} writes when they compact"
    needed = interval * _SAFE_INTERVALS
    if _lag_ms(found) < needed // timedelta(milliseconds=1):
        return (
            f"topic '{topic}' may be compacted too early: it needs 'min.compaction.lag.ms' ="
            f" '{needed // timedelta(milliseconds=1)}' or more"
        )
    return None


def _described(admin: KafkaAdmin, topic: str) -> Mapping[str, str]:
    """What brokers say of a topic; one that has just been created is not known to all of them."""
    deadline = time.monotonic() + _KNOWN_S
    while not (found := admin.describe(topic)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def shared_obstacle(topic: str) -> str:
    """The same where others have been seen to write it: their records must stay."""
    return f"someone else writes topic '{topic}', too"


def safe_lag(interval: timedelta) -> timedelta:
    """The `min.compaction.lag.ms` of a topic that is created to be taken back."""
    return max(_SAFE_AT_LEAST, interval * _SAFE_INTERVALS)


@dataclass(frozen=True)
class _Kept:
    """Where the topic of a sink ended at a commit.

    Attributes:
        topic: Kafka's id.
        time_ms: when it was written down, in epoch ms.
        ends: exclusive.
    """

    topic: str
    time_ms: int
    ends: Mapping[Partition, int]


@dataclass
class RestoredSink:
    """The sink of one query.

    Attributes:
        name: the query's.
        directory: of its checkpoint.
        context: the job's choices.
        possible: whether a start may take the topic back.
        keeps: whether real-time mode writes down where the topic ends.
    """

    name: str
    plan: Sink
    directory: Path
    context: LoweringContext
    notice: Notice
    possible: bool
    keeps: bool

    def __post_init__(self) -> None:
        table, bridge = sink_table(self.plan), self.context.bridge
        self.topic = table.topics[0]
        self._counters = self.context.counters_of(table.table)
        self._properties = table.properties
        self._admin = KafkaAdmin(bridge, table.properties)
        self._takes_part = self.possible and may_differ(self.plan.input)

    @property
    def shared(self) -> bool:
        """Whether someone else has been seen to write the topic."""
        return _is_shared(self.directory)

    @property
    def is_to_be_taken_back(self) -> bool:
        """Whether the next start does that, as real-time mode has written since a commit."""
        batch = newest_batch(self.directory / "commits")
        return self._takes_part and not self.shared and self._kept(batch) is not None

    def before_start(self, mode: ExecutionMode) -> None:
        """Takes the topic back where that is to do, before the query runs in a mode."""
        if not self._takes_part:
            return
        batch = newest_batch(self.directory / "commits")
        kept = self._kept(batch)
        watched = mode is ExecutionMode.REAL_TIME and self.keeps and not self.shared
        if kept is None and not watched:
            return
        found = self._admin.describe(self.topic)
        if kept is not None:
            self._take_back(kept, found)
        if watched:
            where = (self.topic, found["id"], str(self.directory))
            self._admin.watch_end(*where, batch, self._counters)

    def after_stop(self) -> None:
        """The query writes no more."""
        self.context.bridge.kafka.SinkPositions.forget(str(self.directory))

    def settled(self) -> None:
        """What the query has written is what its last commit says: nothing is to be taken back."""
        for file in (self.directory / "sinks").glob("[-0-9]*"):
            file.unlink(missing_ok=True)

    def _take_back(self, kept: _Kept, found: Mapping[str, str]) -> None:
        """Takes the topic back to where it ended; `found` is what brokers say of it."""
        topic = self.topic
        if found.get("id") != kept.topic:
            return
        left = None
        if self.shared:
            left = shared_obstacle(topic)
        elif int(found["partitions"]) != len(kept.ends):
            left = f"topic '{topic}' has got more partitions"
        if left is not None:
            self.notice(f"{self.name}: what a run has written in real-time mode stays, as {left}")
            return
        admin = KafkaAdmin(self.context.bridge, self._properties, _A_DAY_MS)
        whole = _is_whole(found, kept.time_ms)
        restored = admin.take_back(topic, kept.ends, whole=whole)
        if restored.keys:
            self.notice(
                f"{self.name}: took {restored.keys:,} keys of topic '{topic}' back to the last"
                " checkpoint, behind which real-time mode had written"
            )
        if restored.left:
            age = format_duration(timedelta(seconds=int(time.time() - kept.time_ms / 1_000)))
            self.notice(
                f"{self.name}: {restored.left:,} keys of topic '{topic}' stay as they are: what"
                f" they were at the last checkpoint, {age} ago, may have been compacted away"
            )

    def _kept(self, batch: int) -> _Kept | None:
        try:
            text = (self.directory / "sinks" / str(batch)).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        found = json.loads(text)
        ends = {}
        for name, end in found["ends"].items():
            topic, _, partition = name.rpartition(":")
            ends[topic, int(partition)] = end
        return _Kept(found["topic"], found["time"], ends)


def _is_shared(directory: Path) -> bool:
    return (directory / "sinks" / "shared").exists()


def _is_whole(found: Mapping[str, str], since_ms: int) -> bool:
    """Whether no record can have been compacted away by one that came after a time."""
    if "cleanup.policy" not in found:
        return False
    return "compact" not in found["cleanup.policy"] or _lag_ms(found) >= (
        time.time() * 1_000 - since_ms
    )


def _lag_ms(found: Mapping[str, str]) -> int:
    with suppress(KeyError, ValueError):
        return int(found["min.compaction.lag.ms"])
    return 0
