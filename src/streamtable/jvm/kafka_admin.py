"""Questions to a Kafka cluster, asked by the Java client with the script's own settings.

The Java client and not a Python one, because `properties.*` are Java client settings: what logs
Spark's source in must log these questions in as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from py4j.protocol import Py4JJavaError

from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.counters import Counters
from streamtable.jvm.faults import kafka_fault
from streamtable.jvm.maps import listed, numbers, texts

#: Longest wait for one answer, in milliseconds.
TIMEOUT_MS = 15_000

#: (topic, partition)
Partition = tuple[str, int]


@dataclass(frozen=True)
class OpenTransaction:
    """A transaction that is neither committed nor aborted.

    Attributes:
        id: the transactional id.
        state: as Kafka names it, e.g. `Ongoing`.
        begun_ms: epoch milliseconds; None where the coordinator does not say.
        timeout_ms: how long it may last before the coordinator aborts it.
        partitions: those it has written to, as text.
    """

    id: str
    state: str
    begun_ms: int | None
    timeout_ms: int
    partitions: str

    @classmethod
    def read(cls, id_: str, line: str) -> OpenTransaction:
        """Out of the line that `KafkaTransactions` writes."""
        state, begun, timeout, partitions = line.split("\t")
        return cls(id_, state, None if begun == "-1" else int(begun), int(timeout), partitions)


@dataclass(frozen=True)
class Restored:
    """What `KafkaAdmin.take_back` has done.

    Attributes:
        keys: those that have their former value again.
        left: those whose former value may be gone.
    """

    keys: int
    left: int


class KafkaAdmin:
    """One cluster, as one table's client settings reach it. Every wait is bounded.

    All methods raise StreamtableError: BROKER_UNREACHABLE, LOGIN_FAILED, ACCESS_DENIED or
    BROKER_FAILED.
    """

    def __init__(
        self, bridge: Bridge, properties: Mapping[str, str], timeout_ms: int = TIMEOUT_MS
    ) -> None:
        self._bridge = bridge
        self._properties = bridge.java_map(properties)
        self._servers = properties["bootstrap.servers"]
        self._timeout_ms = timeout_ms

    def topics(self) -> set[str]:
        """The names of all topics that the user may see."""
        return set(listed(self._ask("existingTopics")))

    def topics_matching(self, pattern: str) -> list[str]:
        """Those of them whose whole name fits a Java regular expression, sorted."""
        return listed(self._ask("topicsMatching", pattern))

    def describe(self, topic: str) -> dict[str, str]:
        """A topic's `partitions`, `replication` and `id`; empty where it does not exist.

        And its `cleanup.policy` and `min.compaction.lag.ms`, where the user may ask for them.
        """
        with self._named(f"topic '{topic}'", "DESCRIBE"):
            return texts(self._ask("describe", topic))

    def create_topic(
        self,
        topic: str,
        configs: Mapping[str, str],
        partitions: int | None = None,
        replication: int | None = None,
    ) -> None:
        """Creates a topic; None is the brokers' default."""
        shape = (partitions or -1, replication or -1)
        self._ask("createTopic", topic, *shape, self._bridge.java_map(configs))

    def check_creation(
        self,
        topic: str,
        configs: Mapping[str, str],
        partitions: int | None = None,
        replication: int | None = None,
    ) -> None:
        """Returns where `create_topic` would create it, and creates nothing."""
        shape = (partitions or -1, replication or -1)
        configs_there = self._bridge.java_map(configs)
        with self._named(f"topic '{topic}'", "CREATE"):
            self._ask("creation", topic, *shape, configs_there, of=self._bridge.kafka.KafkaAccess)

    def check_access(self, topic: str, operation: Literal["READ", "WRITE"]) -> None:
        """Returns where the user may do that to a topic that exists."""
        if not self._ask("topic", topic, operation, of=self._bridge.kafka.KafkaAccess):
            named = f"topic '{topic}'"
            raise self._denied(named, operation)

    def check_group(self, group: str) -> None:
        """Returns where the user may commit for a group, as far as the brokers tell."""
        if not self._ask("group", group, of=self._bridge.kafka.KafkaAccess):
            named = f"group '{group}'"
            raise self._denied(named, "READ")

    def committed_offsets(self, group: str, topics: Sequence[str]) -> dict[Partition, int]:
        """The next offset a group would read; partitions without a commit are absent."""
        return _offsets(self._ask("committedOffsets", group, self._bridge.java_list(topics)))

    def end_offsets(self, topics: Sequence[str]) -> dict[Partition, int]:
        """The offset that the next record of each partition will get."""
        return _offsets(self._ask("endOffsets", self._bridge.java_list(topics)))

    def offsets_at(self, topics: Sequence[str], timestamp_ms: int) -> dict[Partition, int]:
        """The first record of each partition that is not older than a time, else its end."""
        return _offsets(self._ask("offsetsAt", self._bridge.java_list(topics), timestamp_ms))

    def key_difference(self, topic: str, *, reads: Codec, writes: Codec) -> str | None:
        """What tells the last keys of a topic from those of a format; None where nothing does."""
        try:
            return self._bridge.key_difference(
                self._properties, self._timeout_ms, topic, reads=reads, writes=writes
            )
        except Py4JJavaError as error:
            raise kafka_fault(error, self._servers, self._timeout_ms) from error

    def watch_end(
        self, topic: str, id_: str, directory: str, batch: int, counters: Counters
    ) -> None:
        """Writes down where a topic ends at each commit of a query from now on.

        Args:
            topic: the one that the query writes.
            id_: Kafka's, of the topic.
            directory: of the query's checkpoint.
            batch: the last one that it has committed; -1 for none.
            counters: of what the query writes.
        """
        where = (topic, id_, directory, batch, counters.java)
        self._ask("watch", *where, of=self._bridge.kafka.SinkPositions)

    def take_back(self, topic: str, ends: Mapping[Partition, int], *, whole: bool) -> Restored:
        """Gives each key with a record behind these offsets its last value before them.

        What is not done within the timeout of this object stays undone, and is BROKER_FAILED.

        Args:
            topic: nobody may write to it meanwhile.
            ends: of every partition, exclusive.
            whole: whether a key without a record before them had none; else it is left.
        """
        names = {f"{name}:{partition}": end for (name, partition), end in ends.items()}
        there = self._bridge.java_map(names)
        found = numbers(self._ask("run", topic, there, whole, of=self._bridge.kafka.SinkRestore))
        return Restored(found["keys"], found["left"])

    def longest_transaction(self) -> int | None:
        """The longest timeout that the brokers allow, in ms; None where the user may not ask."""
        found = int(self._ask("longestTimeout", of=self._bridge.kafka.KafkaTransactions))
        return None if found < 0 else found

    def open_transactions(self, prefix: str) -> list[OpenTransaction]:
        """Those whose transactional id begins so, by their ids."""
        found = self._ask("open", prefix, of=self._bridge.kafka.KafkaTransactions)
        return [OpenTransaction.read(id_, line) for id_, line in texts(found).items()]

    def abort_transactions(self, ids: Sequence[str]) -> None:
        """Aborts them and fences their producers out."""
        ids_there = self._bridge.java_list(ids)
        self._ask("abort", ids_there, of=self._bridge.kafka.KafkaTransactions)

    @contextmanager
    def _named(self, resource: str, operation: str) -> Iterator[None]:
        """Says what was denied where Kafka's own words do not."""
        try:
            yield
        except StreamtableError as error:
            if error.condition is not Condition.ACCESS_DENIED:
                raise
            raise self._denied(resource, operation) from error

    def _denied(self, resource: str, operation: str) -> StreamtableError:
        return StreamtableError(
            Condition.ACCESS_DENIED,
            what=f"the user lacks {operation} of {resource}",
            servers=self._servers,
            hint="let an administrator of the cluster allow it to this user",
        )

    def _ask(self, method: str, *arguments: Any, of: Any = None) -> Any:
        call = getattr(of or self._bridge.kafka.KafkaAdmin, method)
        try:
            return call(self._properties, self._timeout_ms, *arguments)
        except Py4JJavaError as error:
            raise kafka_fault(error, self._servers, self._timeout_ms) from error


def _offsets(java: Any) -> dict[Partition, int]:
    found = {}
    for name, offset in numbers(java).items():
        topic, _, partition = name.rpartition(":")
        found[topic, int(partition)] = offset
    return found
