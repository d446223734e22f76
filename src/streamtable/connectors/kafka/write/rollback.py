"""Roll a sink topic back to the checkpoint from which its query continues.

Real-time mode writes rows before the checkpoint that covers their records. After a crash, the query
may not write the same rows again (`plan.rules.replay`). Therefore a start first restores each key
that was written after the last checkpoint to its value at the checkpoint. For this purpose, a query
in real-time mode records the end offsets of its sink topic with each commit
(`io.streamtable.kafka.rollback.SinkPositions`). Rollback requires an upsert topic without other
writers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.sink import SinkFacts, WriteContext
from streamtable.connectors.kafka.cluster.admin import KNOWN_WITHIN_MS, KafkaAdmin, Partition
from streamtable.connectors.kafka.cluster.positions import by_split
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.kafka.write.rollback_obstacles import (
    LAG,
    is_compacted_early,
    is_shared,
    lag_ms,
    safe_lag,
    shared_obstacle,
)
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.durations import format_duration
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import ADJUST_SINKS, ExecutionMode
from streamtable.jvm.streaming.planned_batches import newest_batch

#: The time limit of the rollback at startup; waits for a broker end earlier.
_A_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class _Kept:
    """The end offsets of a sink topic at a commit.

    Attributes:
        topic: Kafka's id of the topic.
        time_ms: the time of the entry, in epoch ms.
        ends: the end offset of each partition, exclusive.
    """

    topic: str
    time_ms: int
    ends: Mapping[Partition, int]


class KafkaRollback:
    """The rollback of one query's sink topic.

    Args:
        table: the table that the query writes.
        facts: the facts of the query.
        context: the settings of the job.
        notice: called with one line for the user.
        keeps: whether real-time mode records the end offsets of the topic.
    """

    def __init__(
        self,
        table: KafkaTable,
        facts: SinkFacts,
        context: WriteContext,
        notice: Notice,
        *,
        keeps: bool,
    ) -> None:
        self._topic = table.topics[0]
        self._query = facts.query
        self._directory, self._positions = facts.directory, facts.positions
        self._bridge = context.bridge
        self._notice = notice
        self._keeps = keeps
        self._adjusts, self._interval = facts.adjusts, facts.interval
        self._counters = context.counters_of(table.table)
        self._properties = table.properties
        self._admin = KafkaAdmin(context.bridge, table.properties)

    @property
    def shared_obstacle(self) -> str | None:
        """Why rollback has ended: another writer of the topic was found. Else None."""
        return shared_obstacle(self._topic) if self._shared else None

    @property
    def pending(self) -> bool:
        """Whether the next start rolls back: real-time mode has written since a commit."""
        batch = newest_batch(self._directory / "commits")
        return not self._shared and _kept(self._positions, batch) is not None

    def before_start(self, mode: ExecutionMode) -> bool:
        """Roll the topic back if necessary; return whether any key has changed."""
        batch = newest_batch(self._directory / "commits")
        kept = _kept(self._positions, batch)
        watched = mode is ExecutionMode.REAL_TIME and self._keeps and not self._shared
        if kept is None and not watched:
            return False
        found = self._admin.describe(self._topic, KNOWN_WITHIN_MS)
        changed = kept is not None and self._roll_back(kept, found)
        if watched:
            self._adjust(found)
            where = (str(self._directory), str(self._positions))
            self._admin.watch_end(self._topic, found["id"], *where, batch, self._counters)
        return changed

    def _adjust(self, found: Mapping[str, str]) -> None:
        """Raise the topic's compaction lag, if it is too short and the settings allow it."""
        if not self._adjusts or not is_compacted_early(found, self._interval):
            return
        configs = safe_lag(self._interval)
        self._admin.set_configs(self._topic, configs)
        self._notice(
            f"{self._query}: set '{LAG}' of topic '{self._topic}' to '{configs[LAG]}'"
            f" (was '{lag_ms(found)}'), so that a crash in real-time mode can be rolled back;"
            f" SET '{ADJUST_SINKS.key}' = 'false' to keep it and stay in micro-batches"
        )

    def after_stop(self) -> None:
        """Note that the query no longer writes."""
        where = (str(self._directory), str(self._positions))
        self._bridge.java.kafka.rollback.SinkPositions.forget(*where)

    def settled(self) -> None:
        """Note that the last commit covers all rows that the query has written."""
        folder = self._positions
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name[0] in "-0123456789":
                file.unlink(missing_ok=True)

    @property
    def _shared(self) -> bool:
        return is_shared(self._positions)

    def _roll_back(self, kept: _Kept, found: Mapping[str, str]) -> bool:
        """Roll the topic back to recorded end offsets; return whether any key has changed.

        `found` is the brokers' description of the topic.
        """
        topic = self._topic
        if found.get("id") != kept.topic:
            return False
        left = None
        if self._shared:
            left = shared_obstacle(topic)
        elif int(found["partitions"]) != len(kept.ends):
            left = f"topic '{topic}' has new partitions"
        if left is not None:
            self._notice(
                f"{self._query}: rows that an earlier run has written in real-time mode stay in"
                f" the topic, because {left}"
            )
            return False
        admin = KafkaAdmin(self._bridge, self._properties, _A_DAY_MS)
        whole = _is_whole(found, kept.time_ms)
        result = admin.roll_back(topic, kept.ends, whole=whole)
        if result.keys:
            self._notice(
                f"{self._query}: rolled {result.keys:,} keys of topic '{topic}' back to the"
                " last checkpoint, because real-time mode had written later rows"
            )
        if result.left:
            age = format_duration(timedelta(seconds=int(time.time() - kept.time_ms / 1_000)))
            self._notice(
                f"{self._query}: {result.left:,} keys of topic '{topic}' were not rolled"
                f" back: their values at the last checkpoint, {age} ago, may have been"
                " compacted"
            )
        return result.keys > 0


def recorded_ends(positions: CheckpointPath, batch: int) -> dict[str, int] | None:
    """Return the end offsets of a sink topic at a commit, by split; None if they are not recorded.

    Args:
        positions: the folder in which a query records them.
        batch: the committed batch.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE.
    """
    kept = _kept(positions, batch)
    return None if kept is None else by_split(kept.ends)


def _kept(positions: CheckpointPath, batch: int) -> _Kept | None:
    try:
        text = (positions / str(batch)).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
    except ValueError as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=positions,
            reason=f"'{batch}' is empty, probably after a loss of power",
            hint="delete the file; rows that real-time mode has written since stay in the topic",
        ) from error
    ends = {}
    for name, end in found["ends"].items():
        topic, _, partition = name.rpartition(":")
        ends[topic, int(partition)] = end
    return _Kept(found["topic"], found["time"], ends)


def _is_whole(found: Mapping[str, str], since_ms: int) -> bool:
    """Return whether compaction has kept all records that were replaced since a time."""
    if "cleanup.policy" not in found:
        return False
    return "compact" not in found["cleanup.policy"] or lag_ms(found) >= (
        time.time() * 1_000 - since_ms
    )
