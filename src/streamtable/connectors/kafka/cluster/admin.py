"""Admin requests to a Kafka cluster, sent by the Java client with the client settings of a table.

`properties.*` are settings of the Java client. A Python client would need other settings to log in;
the Java client logs in exactly as Spark's source does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from streamtable.connectors.kafka.cluster.faults import SYSTEM, kafka_fault
from streamtable.connectors.kafka.options.values import addresses
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError
from streamtable.jvm.maps import listed, numbers, texts
from streamtable.jvm.streaming.counters import Counters

#: The longest wait for one response, in milliseconds.
TIMEOUT_MS = 15_000

#: The longest wait for brokers that do not know yet a topic that exists, in milliseconds.
KNOWN_WITHIN_MS = 10_000

#: An operation of Kafka's ACLs.
Operation = Literal["READ", "WRITE"]

#: (topic, partition)
Partition = tuple[str, int]


@dataclass(frozen=True)
class OpenTransaction:
    """A transaction that is neither committed nor aborted.

    Attributes:
        id: the transactional id.
        state: Kafka's name of the state, such as `Ongoing`.
        begun_ms: start time in epoch milliseconds; None if the coordinator does not report it.
        timeout_ms: the time after which the coordinator aborts the transaction.
        partitions: the partitions that the transaction has written to, as text.
    """

    id: str
    state: str
    begun_ms: int | None
    timeout_ms: int
    partitions: str

    @classmethod
    def read(cls, id_: str, line: str) -> OpenTransaction:
        """Parse a line that `KafkaTransactions` writes."""
        state, begun, timeout, partitions = line.split("\t")
        return cls(id_, state, None if begun == "-1" else int(begun), int(timeout), partitions)


@dataclass(frozen=True)
class RollbackResult:
    """The result of `KafkaAdmin.roll_back`.

    Attributes:
        keys: the number of keys that have their former value again.
        left: the number of keys whose former value may be lost.
    """

    keys: int
    left: int


class KafkaAdmin:
    """An admin client of one cluster, with one table's client settings. Every wait is bounded.

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
        self._kafka = bridge.java.kafka

    def place_of(self, topic: str) -> str:
        """Return what tells a topic from topics of other clusters: the cluster's id and the name.

        Brokers that report no id are told apart by their addresses.
        """
        found = self._ask("clusterId")
        return f"{addresses(self._servers) if found is None else found}/{topic}"

    def topics(self) -> set[str]:
        """Return the names of all topics that the user may see."""
        return set(listed(self._ask("existingTopics")))

    def topics_matching(self, pattern: str) -> list[str]:
        """Return the visible topics whose whole name matches a Java regular expression, sorted."""
        return listed(self._ask("topicsMatching", pattern))

    def describe(self, topic: str, wait_ms: int = 0) -> dict[str, str]:
        """Return a topic's `partitions`, `replication` and `id`; empty if it does not exist.

        The result also has `cleanup.policy`, `min.compaction.lag.ms`, `retention.ms` and
        `delete.retention.ms` if the user has DESCRIBE_CONFIGS of the topic.

        Args:
            topic: the name.
            wait_ms: the longest wait for a topic that the brokers do not know. They learn a moment
                later than the controller that a topic was created.
        """
        with self._named(f"topic '{topic}'", "DESCRIBE"):
            return texts(self._ask("describe", topic, wait_ms))

    def topic_ids(self, topics: Sequence[str]) -> dict[str, str]:
        """Return Kafka's topic ids; topics that do not exist are absent."""
        return texts(self._ask("topicIds", self._bridge.java_list(topics)))

    def create_topic(
        self,
        topic: str,
        configs: Mapping[str, str],
        partitions: int | None = None,
        replication: int | None = None,
    ) -> None:
        """Create a topic; None selects the brokers' default."""
        shape = (partitions or -1, replication or -1)
        self._ask("createTopic", topic, *shape, self._bridge.java_map(configs))

    def check_creation(
        self,
        topic: str,
        configs: Mapping[str, str],
        partitions: int | None = None,
        replication: int | None = None,
    ) -> int | None:
        """Return how many partitions `create_topic` would create, without creating the topic.

        The result is None if the topic exists or the brokers do not report the number.
        """
        shape = (partitions or -1, replication or -1)
        configs_there = self._bridge.java_map(configs)
        with self._named(f"topic '{topic}'", "CREATE"):
            found = self._ask(
                "creation", topic, *shape, configs_there, of=self._kafka.admin.KafkaAccess
            )
        return None if found < 0 else int(found)

    def set_configs(
        self, topic: str, configs: Mapping[str, str], *, check_only: bool = False
    ) -> None:
        """Change entries of a topic's configuration, or only ask whether the brokers would.

        Raises:
            StreamtableError: ACCESS_DENIED without the right; BROKER_FAILED for an entry that the
                brokers refuse, for example by their policy.
        """
        with self._named(f"topic '{topic}'", "ALTER_CONFIGS"):
            self._ask("setConfigs", topic, self._bridge.java_map(configs), check_only)

    def check_access(self, topic: str, operation: Operation) -> None:
        """Check that the user has a right to an existing topic."""
        if not self._ask("topic", topic, operation, of=self._kafka.admin.KafkaAccess):
            named = f"topic '{topic}'"
            raise self._denied(named, operation)

    def check_group(self, group: str) -> None:
        """Check that the user may commit offsets of a group, as far as the brokers report it."""
        if not self._ask("group", group, of=self._kafka.admin.KafkaAccess):
            named = f"group '{group}'"
            raise self._denied(named, "READ")

    def committed_offsets(self, group: str, topics: Sequence[str]) -> dict[Partition, int]:
        """Return the committed offsets of a group; partitions without a commit are absent."""
        return self._offsets("committedOffsets", group, self._bridge.java_list(topics))

    def begin_offsets(self, topics: Sequence[str]) -> dict[Partition, int]:
        """Return the first offset of each partition that the brokers still have."""
        return self._offsets("beginningOffsets", self._bridge.java_list(topics))

    def end_offsets(self, topics: Sequence[str]) -> dict[Partition, int]:
        """Return the end offset of each partition: the offset of the next record."""
        return self._offsets("endOffsets", self._bridge.java_list(topics))

    def stable_end_offsets(self, topics: Sequence[str]) -> dict[Partition, int]:
        """Return the end offset of each partition before the first open transaction."""
        return self._offsets("stableEndOffsets", self._bridge.java_list(topics))

    def offsets_at(self, topics: Sequence[str], timestamp_ms: int) -> dict[Partition, int]:
        """Return the first offset of each partition at or after a time, else its end."""
        return self._offsets("offsetsAt", self._bridge.java_list(topics), timestamp_ms)

    def key_difference(self, topic: str, *, reads: Codec, writes: Codec) -> str | None:
        """Compare the latest keys of a topic with the key format; None if they do not differ."""
        try:
            found = self._kafka.admin.KeySample.difference(
                self._properties,
                self._timeout_ms,
                topic,
                self._bridge.decoder(reads),
                self._bridge.encoder(writes),
            )
        except JavaError as error:
            raise kafka_fault(error, self._servers) from error
        return None if found is None else str(found)

    def watch_end(
        self, topic: str, id_: str, directory: str, place: str, batch: int, counters: Counters
    ) -> None:
        """Record the end offsets of a topic at each later commit of a query.

        Args:
            topic: the topic that the query writes.
            id_: Kafka's id of the topic.
            directory: the directory of the query's checkpoint.
            place: the folder of the topic below this directory.
            batch: the last batch that the query has committed; -1 for none.
            counters: the record counters of the sink.
        """
        where = (topic, id_, directory, place, batch, counters.java)
        self._ask("watch", *where, of=self._kafka.rollback.SinkPositions)

    def roll_back(
        self, topic: str, ends: Mapping[Partition, int], *, whole: bool
    ) -> RollbackResult:
        """Roll a topic back: restore each key written at or after these offsets to its last value.

        If the timeout of this object passes, the remaining keys are not restored, and the method
        raises BROKER_FAILED.

        Args:
            topic: the topic; no producer may write to it during the rollback.
            ends: the end offset of every partition, exclusive.
            whole: whether a key without a record before these offsets had no value; otherwise such
                a key is left as it is.
        """
        names = {f"{name}:{partition}": end for (name, partition), end in ends.items()}
        there = self._bridge.java_map(names)
        found = numbers(self._ask("run", topic, there, whole, of=self._kafka.rollback.SinkRollback))
        return RollbackResult(found["keys"], found["left"])

    def longest_transaction(self) -> int | None:
        """Return the brokers' limit of transaction timeouts, in ms; None if access is denied."""
        found = int(self._ask("longestTimeout", of=self._kafka.admin.KafkaTransactions))
        return None if found < 0 else found

    def open_transactions(self, prefix: str) -> list[OpenTransaction]:
        """Return the open transactions whose transactional id has a prefix, sorted by id."""
        found = self._ask("open", prefix, of=self._kafka.admin.KafkaTransactions)
        return [OpenTransaction.read(id_, line) for id_, line in texts(found).items()]

    def abort_transactions(self, ids: Sequence[str]) -> None:
        """Abort the transactions of these transactional ids and fence their producers."""
        ids_there = self._bridge.java_list(ids)
        self._ask("abort", ids_there, of=self._kafka.admin.KafkaTransactions)

    @contextmanager
    def _named(self, resource: str, operation: str) -> Iterator[None]:
        """Add the denied operation and resource to an error that does not name them."""
        try:
            yield
        except StreamtableError as error:
            if error.condition is not Condition.ACCESS_DENIED:
                raise
            raise self._denied(resource, operation) from error

    def _denied(self, resource: str, operation: str) -> StreamtableError:
        return StreamtableError(
            Condition.ACCESS_DENIED,
            system=SYSTEM,
            what=f"the user lacks {operation} of {resource}",
            servers=self._servers,
            hint="ask an administrator of the cluster to grant it to this user",
        )

    def _ask(self, method: str, *arguments: Any, of: Any = None) -> Any:
        call = getattr(of or self._kafka.admin.KafkaAdmin, method)
        try:
            return call(self._properties, self._timeout_ms, *arguments)
        except JavaError as error:
            raise kafka_fault(error, self._servers) from error

    def _offsets(self, method: str, *arguments: Any) -> dict[Partition, int]:
        found = {}
        java = self._ask(method, *arguments, of=self._kafka.admin.TopicOffsets)
        for name, offset in numbers(java).items():
            topic, _, partition = name.rpartition(":")
            found[topic, int(partition)] = offset
        return found
