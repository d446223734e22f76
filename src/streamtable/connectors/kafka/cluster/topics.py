"""Check a table's topics in the cluster: existence, partitions, compaction, schemas and keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from streamtable.connector_api.preflight import Notice
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.cluster.own_topics import reads_topic
from streamtable.connectors.kafka.options.options import KeyCheck
from streamtable.connectors.kafka.options.rules import reads_its_output
from streamtable.connectors.kafka.options.values import NewTopic
from streamtable.connectors.kafka.read.bounds import topics_of
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge

#: The client's property that forbids to create missing topics.
_MAY_CREATE = "allow.auto.create.topics"

#: The longest wait for a topic that may have been created a moment ago, in milliseconds.
_NEW_WITHIN_MS = 2_000


@dataclass(frozen=True)
class TopicToCreate:
    """A topic that the job writes and that does not exist yet."""

    table: KafkaTable
    topic: str
    wanted: NewTopic
    bridge: Bridge

    @property
    def name(self) -> str:
        """The topic's name."""
        return self.topic

    @cached_property
    def place(self) -> str:
        """The cluster and the name of the topic; the first use asks the brokers."""
        return KafkaAdmin(self.bridge, self.table.properties).place_of(self.topic)

    def check(self) -> None:
        """Validate the creation of the topic on the brokers, without creating it.

        Raises:
            StreamtableError: TOPIC_MISSING if the table must not create it; ACCESS_DENIED or
                BROKER_FAILED, at the table.
        """
        wanted = self.wanted
        try:
            if self.table.properties.get(_MAY_CREATE, "").strip().lower() == "false":
                hint = f"create it, or remove 'properties.{_MAY_CREATE}'"
                raise _missing(self.table, self.topic, hint)
            if self.table.instance is not None:
                raise self.table.instance.cannot_create(self.topic)
            KafkaAdmin(self.bridge, self.table.properties).check_creation(
                self.topic, wanted.configs, wanted.partitions, wanted.replication
            )
        except StreamtableError as error:
            raise error if error.at else error.located(self.table.at) from None

    def create(self) -> None:
        """Create the topic."""
        wanted = self.wanted
        KafkaAdmin(self.bridge, self.table.properties).create_topic(
            self.topic, wanted.configs, wanted.partitions, wanted.replication
        )


def check_topics_there(table: KafkaTable, bridge: Bridge, to_create: frozenset[str]) -> None:
    """Check that the topics of a scan exist, or that another INSERT of the script creates them.

    Raises:
        StreamtableError: TOPIC_MISSING; OPTION_CONFLICT for a pattern that matches the table's
            dead-letter topic; or the error of the brokers.
    """
    admin = KafkaAdmin(bridge, table.properties)
    if table.discovery.pattern is not None:
        topics_of(table, admin)  # checks the connection and the pattern
        letters = table.dead_letter_topic
        if letters is not None and reads_topic(table, letters, bridge):
            raise reads_its_output(table.table, letters, table.at)
        return
    there = admin.topics()
    for topic in table.topics:
        # Kafka does not list a topic that the user may not see. A request for that topic by name
        # fails with the reason.
        if topic in there or (to_create and admin.place_of(topic) in to_create):
            continue
        if not admin.describe(topic, _NEW_WITHIN_MS):
            raise _missing(table, topic, "create it or correct the option 'topic'")


def _missing(table: KafkaTable, topic: str, hint: str) -> StreamtableError:
    return StreamtableError(
        Condition.TOPIC_MISSING,
        at=table.at,
        hint=hint,
        topic=topic,
        table=table.table,
        servers=table.servers,
    )


def check_shape(table: KafkaTable, found: Mapping[str, str], notice: Notice) -> None:
    """Report a sink topic whose number of partitions differs, or that is not compacted."""
    wanted, there = table.new_topic.partitions, int(found["partitions"])
    if wanted not in (None, there):
        notice(
            f"{table.table}: topic '{table.topics[0]}' already has {there} partitions, so"
            f" 'sink.topic.partitions' = '{wanted}' has no effect"
        )
    policy = found.get("cleanup.policy", "")
    if table.is_upsert and policy and "compact" not in policy:
        notice(
            f"{table.table}: topic '{table.topics[0]}' has cleanup.policy={policy}, so it keeps"
            " every version of a row and may lose rows that no longer change; set it to compact"
        )


def check_schemas(table: KafkaTable, bridge: Bridge) -> None:
    """Check that the schemas of the sink fit the table and that the schema registry accepts them.

    Raises:
        StreamtableError: SCHEMA_UNUSABLE, at the table.
        StreamtableError: SCHEMA_INCOMPATIBLE, SCHEMA_REGISTRY_UNREACHABLE or
            SCHEMA_REGISTRY_FAILED, at the table.
    """
    for side in (table.key, table.value):
        codec = side.encoder() if side else None
        if codec and (codec.registers or codec.external_schema):
            try:
                if codec.registers:
                    bridge.check_schema(codec)
                else:
                    bridge.encoder(codec)
            except StreamtableError as error:
                raise error.located(table.at) from None


def check_keys(table: KafkaTable, bridge: Bridge, notice: Notice) -> None:
    """Check that the keys in the topic have the bytes that the sink would write.

    If the bytes differ, the sink cannot delete or replace the existing rows.

    Raises:
        StreamtableError: KEY_BYTES_DIFFER if `sink.key-check` is `fail`.
    """
    if table.key is None or table.key_check is KeyCheck.OFF:
        return
    topic = table.topics[0]
    try:
        difference = KafkaAdmin(bridge, table.properties).key_difference(
            topic, reads=table.key.decoder(), writes=table.key.encoder()
        )
    except StreamtableError as fault:
        if fault.condition is not Condition.ACCESS_DENIED:
            raise
        notice(
            f"{table.table}: the keys of topic '{topic}' are not checked, because the user may"
            " not read it; 'sink.key-check' = 'off' skips the check explicitly"
        )
        return
    if difference is None:
        return
    error = StreamtableError(
        Condition.KEY_BYTES_DIFFER,
        at=table.at,
        topic=topic,
        table=table.table,
        reason=difference,
        hint="use the key format and columns that wrote them, or another topic;"
        " 'sink.key-check' = 'warn' continues",
    )
    if table.key_check is KeyCheck.FAIL:
        raise error
    notice(str(error))
