"""A Kafka cluster of three nodes, each broker and controller, that works without one of them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import ElectionType, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

from streamtable.devbroker.broker import Broker, free_port, new_cluster_id
from streamtable.jvm.packages import Packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NODES = (1, 2, 3)
_REPLICAS = 2
_HOST = "127.0.0.1"
_START_S = 180
_WAIT_S = 180

#: Errors of a leader that has just been elected, or that no longer leads.
_NEW_LEADER = (KafkaError.OFFSET_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION)
#: All data of the cluster must survive the loss of any one node.
_REPLICATED = {
    "default.replication.factor": str(_REPLICAS),
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": str(_REPLICAS),
    "transaction.state.log.replication.factor": str(_REPLICAS),
    "transaction.state.log.min.isr": "1",
    # Three nodes share a busy machine: a slow node must not count as lost.
    "broker.session.timeout.ms": "9000",
    "controller.quorum.fetch.timeout.ms": "10000",
    "controller.quorum.election.timeout.ms": "5000",
    "controller.quorum.request.timeout.ms": "10000",
    # `truncate` waits until the log start offsets are on the disk.
    "log.flush.start.offset.checkpoint.interval.ms": "500",
}


class Node(Broker):
    """One node of a cluster.

    Args:
        directory: directory of this node.
        number: id of this node.
        controllers: id of a node -> port of its controller.
        cluster: id of the cluster.
    """

    def __init__(
        self, directory: Path, number: int, controllers: Mapping[int, int], cluster: str
    ) -> None:
        super().__init__(directory, config=_REPLICATED)
        self._ports = (_free_port_but(controllers.values()), controllers[number])
        self._cluster = cluster
        self._own = {
            "node.id": str(number),
            "controller.quorum.voters": ",".join(
                f"{n}@{_HOST}:{port}" for n, port in controllers.items()
            ),
        }

    def start(self, timeout_seconds: float = _START_S) -> Self:
        """Start the node. The first node waits for the others, as it has no majority alone."""
        return super().start(timeout_seconds)

    def begins_at(self, topic: str, offsets: Mapping[int, int]) -> bool:
        """Return whether the replicas on the node's disk begin at these offsets or later."""
        data = self.directory / "data"
        begins: dict[str, int] = {}
        with suppress(OSError):
            for line in (data / "log-start-offset-checkpoint").read_text().splitlines()[2:]:
                name, partition, begin = line.split()
                begins[f"{name}-{partition}"] = int(begin)
        for partition, offset in offsets.items():
            name = f"{topic}-{partition}"
            segments = [int(file.stem) for file in (data / name).glob("*.log")]
            if segments and max(begins.get(name, 0), min(segments)) < offset:
                return False
        return True

    def _properties(self, ports: tuple[int, ...]) -> str:
        """Append the node's settings: of two lines with the same name, Java reads the last."""
        own = "".join(f"{key}={value}\n" for key, value in self._own.items())
        return super()._properties(ports) + own


class Brokers:
    """Run the cluster as a context manager. Each partition of a topic has two replicas.

    Args:
        directory: parent of the directories of the nodes.
        spark: session whose JVM has the admin client that moves replicas.
    """

    def __init__(self, directory: Path, spark: SparkSession) -> None:
        cluster = new_cluster_id()
        ports: dict[int, int] = {}
        for number in _NODES:
            ports[number] = _free_port_but(ports.values())
        self.nodes = [Node(directory / f"node-{n}", n, ports, cluster) for n in _NODES]
        self._spark = spark

    def __enter__(self) -> Self:
        self._all(Node.__enter__)
        _wait(self._all_there)
        return self

    def __exit__(self, *_: object) -> None:
        self._all(Node.stop)

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all nodes."""
        return ",".join(node.bootstrap_servers for node in self.nodes)

    def kill(self, nodes: list[Node], seconds: float) -> None:
        """Kill nodes (`kill -9`), start them again after a time, and wait for their replicas."""
        for node in nodes:
            node.kill()
        time.sleep(seconds)
        self._all(Node.start)
        _wait(self._all_there)
        self.wait_in_sync()

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic, and wait until every node knows the topic."""
        new = NewTopic(topic, num_partitions=partitions, replication_factor=_REPLICAS)
        admin = self._admin()
        admin.create_topics([new])[topic].result(_WAIT_S)
        self._wait_for_partitions(topic, partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic, and wait until no node knows the topic."""
        admin = self._admin()
        admin.delete_topics([topic])[topic].result(_WAIT_S)
        self._wait_for_partitions(topic, 0)

    def grow(self, topic: str, partitions: int) -> None:
        """Add partitions, and wait until every node knows them."""
        admin = self._admin()
        admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(_WAIT_S)
        self._wait_for_partitions(topic, partitions)

    def truncate(self, topic: str) -> None:
        """Delete all records of a topic, and wait until the deletion survives a kill of all nodes.

        A node that is killed before it has written the log start offsets of its partitions to its
        disk starts again with the deleted records.
        """
        ends = self.ends(topic)
        places = [TopicPartition(topic, p, end) for p, end in ends.items()]
        admin = self._admin()
        for done in admin.delete_records(places).values():
            done.result(_WAIT_S)
        _wait(lambda: all(node.begins_at(topic, ends) for node in self.nodes))

    def move(self, topics: list[str], dice: random.Random) -> None:
        """Move the replicas of each partition to random nodes, and make the first node lead."""
        places = [p for topic in topics for p in self._partitions(topic)]
        wanted = {place: dice.sample(_NODES, _REPLICAS) for place in places}
        self._reassign(wanted)
        _wait(lambda: all(self._replicas(p) == set(nodes) for p, nodes in wanted.items()))
        self.wait_in_sync()
        # The result has an answer per partition, such as: the partition has this leader already.
        admin = self._admin()
        admin.elect_leaders(ElectionType.PREFERRED, places).result(_WAIT_S)

    def wait_in_sync(self) -> None:
        """Wait until every replica of every partition has all records."""
        _wait(self._in_sync)

    def topics(self) -> list[str]:
        """Return the names of all topics but Kafka's own topics."""
        return sorted(topic for topic in self._topics() if not topic.startswith("_"))

    def ends(self, topic: str) -> dict[int, int]:
        """Return the end offset of each partition. Wait for leaders that are new."""
        asked = {place: OffsetSpec.latest() for place in self._partitions(topic)}
        admin = self._admin()
        deadline = time.monotonic() + _WAIT_S
        while True:
            found = admin.list_offsets(asked, request_timeout=30)
            try:
                return {place.partition: end.result().offset for place, end in found.items()}
            except KafkaException as error:
                if error.args[0].code() not in _NEW_LEADER or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _all(self, do: Callable[[Node], object]) -> None:
        """Call `do` for all nodes at once: one node alone has no majority and does not answer."""
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(do, self.nodes))

    def _admin(self, servers: str | None = None) -> AdminClient:
        """Return a new client without old metadata. Its futures end with the client."""
        return AdminClient({"bootstrap.servers": servers or self.bootstrap_servers, "log_level": 0})

    def _topics(self, servers: str | None = None) -> Mapping[str, Any]:
        admin = self._admin(servers)
        found: Mapping[str, Any] = admin.list_topics(timeout=30).topics
        return found

    def _partitions(self, topic: str) -> list[TopicPartition]:
        return [TopicPartition(topic, p) for p in sorted(self._topics()[topic].partitions)]

    def _replicas(self, place: TopicPartition) -> set[int]:
        return set(self._topics()[place.topic].partitions[place.partition].replicas)

    def _all_there(self) -> bool:
        found = (self._admin(n.bootstrap_servers) for n in self.nodes)
        return all(len(admin.list_topics(timeout=30).brokers) == len(_NODES) for admin in found)

    def _in_sync(self) -> bool:
        partitions = [p for t in self._topics().values() for p in t.partitions.values()]
        return all(p.leader in p.isrs and len(p.isrs) == len(p.replicas) for p in partitions)

    def _wait_for_partitions(self, topic: str, count: int) -> None:
        def known(node: Node) -> bool:
            found = self._topics(node.bootstrap_servers).get(topic)
            led = [p for p in found.partitions.values() if p.leader >= 0] if found else []
            return len(led) == count

        _wait(lambda: all(known(node) for node in self.nodes))

    def _reassign(self, wanted: Mapping[TopicPartition, list[int]]) -> None:
        context: Any = self._spark.sparkContext
        client = context._gateway._gateway_client
        java, kafka = Packages("java.util", client), Packages("org.apache.kafka", client)
        moves = java.HashMap()
        for place, nodes in wanted.items():
            replicas = java.ArrayList()
            for node in nodes:
                replicas.add(node)
            move = kafka.clients.admin.NewPartitionReassignment(replicas)
            partition = kafka.common.TopicPartition(place.topic, place.partition)
            moves.put(partition, java.Optional.of(move))
        settings = java.HashMap()
        settings.put("bootstrap.servers", self.bootstrap_servers)
        admin = kafka.clients.admin.Admin.create(settings)
        try:
            admin.alterPartitionReassignments(moves).all().get()
        finally:
            admin.close()


def _wait(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            if holds():
                return
        except (KafkaException, KeyError) as error:
            # A node is still starting, or not every node knows the topic yet.
            assert time.monotonic() < deadline, error
        assert time.monotonic() < deadline, "the brokers are not done in time"
        time.sleep(0.2)


def _free_port_but(taken: Iterable[int]) -> int:
    port = free_port()
    while port in taken:
        port = free_port()
    return port
