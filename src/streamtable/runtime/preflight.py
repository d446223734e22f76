"""Looks at the real cluster before anything is started: reachable, topics there, topics fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from streamtable.connectors.kafka.bounds import topics_of
from streamtable.connectors.kafka.options import KeyCheck
from streamtable.connectors.kafka.partitioners import is_function, java_class, load, not_there
from streamtable.connectors.kafka.source import startup_notice
from streamtable.connectors.kafka.table import KafkaTable, NewTopic
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.operators.sink import sink_table
from streamtable.plan.keys import is_single
from streamtable.plan.nodes import Node, Root, Sink, scans
from streamtable.plan.repeats import may_differ
from streamtable.plan.stateful_nodes import Join

#: Takes one line for the user.
Notice = Callable[[str], None]

_COMPACTED = {"cleanup.policy": "compact"}


@dataclass(frozen=True)
class TopicToCreate:
    """A topic that the job writes and that does not exist yet."""

    table: KafkaTable
    topic: str
    wanted: NewTopic

    def check(self, bridge: Bridge) -> None:
        """Lets the brokers say what they would say to `create`."""
        if self.table.instance is not None:
            raise self.table.instance.cannot_create(self.topic)
        wanted = self.wanted
        KafkaAdmin(bridge, self.table.properties).check_creation(
            self.topic, wanted.configs, wanted.partitions, wanted.replication
        )

    def create(self, bridge: Bridge) -> None:
        """Creates it."""
        wanted = self.wanted
        KafkaAdmin(bridge, self.table.properties).create_topic(
            self.topic, wanted.configs, wanted.partitions, wanted.replication
        )


def preflight(
    plans: Iterable[Sink],
    bridge: Bridge,
    notice: Notice,
    *,
    bounded: bool,
    first_run: bool,
    lag: timedelta | None = None,
) -> list[TopicToCreate]:
    """Checks what the job will meet; changes nothing.

    Args:
        plans: the job's queries.
        bridge: of the session.
        notice: takes one line for the user.
        bounded: whether the job reads what the topics hold now and stops.
        first_run: whether nothing has been read yet.
        lag: how long records of new sink topics that may be taken back are not compacted.

    Returns:
        The sink topics to create once everything else has been checked too.

    Raises:
        StreamtableError: BROKER_UNREACHABLE, LOGIN_FAILED, ACCESS_DENIED, BROKER_FAILED,
            TOPIC_MISSING, KEY_BYTES_DIFFER, SCHEMA_INCOMPATIBLE,
            SCHEMA_REGISTRY_UNREACHABLE, SCHEMA_REGISTRY_FAILED.
    """
    plans = list(plans)
    to_create: dict[str, TopicToCreate] = {}
    for plan in plans:
        table = sink_table(plan)
        found = KafkaAdmin(bridge, table.properties).describe(table.topics[0])
        _check_partitioner(table, bridge)
        if found:
            _check_partitions(table, found, notice)
            _check_compaction(table, found, notice)
        else:
            to_create[table.topics[0]] = TopicToCreate(
                table, table.topics[0], _wanted(table, lag if may_differ(plan.input) else None)
            )
        if table.is_upsert and plan.input.mode.is_append:
            notice(
                f"{table.table}: the query only inserts, so each row replaces the earlier one"
                " of its key; use connector 'kafka' to keep them all"
            )
        if _compares_all(plan.input):
            notice(
                f"{table.table}: a join in the query has no equality between a column of each"
                " input, so one task holds both and compares every row with every other"
            )
    coming = frozenset(to_create)
    for letters in check_sources(
        plans, bridge, notice, bounded=bounded, first_run=first_run, coming=coming
    ):
        to_create.setdefault(letters.topic, letters)
    tables = [sink_table(plan) for plan in plans]
    for table in tables:
        _check_schemas(table, bridge)
    for table in tables:
        # From the first run on, the keys there are those of this job. A key's schema is registered
        # where its bytes are made for comparison, so this comes last.
        if first_run and table.topics[0] not in to_create:
            _check_keys(table, bridge, notice)
    return list(to_create.values())


def check_sources(
    plans: Iterable[Root],
    bridge: Bridge,
    notice: Notice,
    *,
    bounded: bool,
    first_run: bool,
    coming: frozenset[str] = frozenset(),
) -> list[TopicToCreate]:
    """Checks the topics that are read; gives those of dead letters that do not exist yet.

    Args:
        plans: the queries that read them.
        bridge: of the session.
        notice: takes one line for the user.
        bounded: whether the job reads what the topics hold now and stops.
        first_run: whether nothing has been read yet.
        coming: topics that the same job creates.
    """
    missing = []
    for table in source_tables(plans):
        _check_source(table, bridge, coming)
        letters = table.dead_letter_topic
        if letters and letters not in KafkaAdmin(bridge, table.properties).topics():
            missing.append(TopicToCreate(table, letters, NewTopic()))
        told = startup_notice(table, bounded)
        if told and first_run:
            notice(told)
    return missing


def _compares_all(node: Node) -> bool:
    """Whether some join pairs the rows of two inputs of any size without a key."""
    alone = isinstance(node, Join) and not node.keys
    if alone and not any(is_single(child, ()) for child in node.inputs):
        return True
    return any(map(_compares_all, node.inputs))


def _wanted(table: KafkaTable, lag: timedelta | None) -> NewTopic:
    new = table.new_topic
    if not table.is_upsert:
        return new
    kept = {} if lag is None else {"min.compaction.lag.ms": str(lag // timedelta(milliseconds=1))}
    return replace(new, configs={**_COMPACTED, **kept, **new.configs})


def _check_partitioner(table: KafkaTable, bridge: Bridge) -> None:
    chooser = java_class(table)
    if chooser is not None and not bridge.has_class(chooser):
        raise not_there(table)
    if is_function(table):
        load(table)


def _check_partitions(table: KafkaTable, found: dict[str, str], notice: Notice) -> None:
    wanted, there = table.new_topic.partitions, int(found["partitions"])
    if wanted not in (None, there):
        notice(
            f"{table.table}: topic '{table.topics[0]}' is there with {there} partitions,"
            f" so 'sink.topic.partitions' = '{wanted}' has no effect"
        )


def source_tables(plans: Iterable[Root]) -> list[KafkaTable]:
    """Every table that is read; one of them with other options, by a hint, is another one."""
    found: list[KafkaTable] = []
    for plan in plans:
        for scan in scans(plan.input):
            table = scan.table.connector
            assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
            if table not in found:
                found.append(table)
    return found


def _check_source(table: KafkaTable, bridge: Bridge, coming: frozenset[str]) -> None:
    """The topics exist, or another INSERT of the same script will have created them."""
    if table.discovery.pattern is not None:
        topics_of(table, KafkaAdmin(bridge, table.properties))  # reachable, and a pattern
        return
    admin = KafkaAdmin(bridge, table.properties)
    there = admin.topics() | coming
    for topic in table.topics:
        # A topic is not listed to those who may not see it; asked for by its name, Kafka says so.
        if topic not in there and not admin.describe(topic):
            raise StreamtableError(
                Condition.TOPIC_MISSING,
                at=table.at,
                topic=topic,
                table=table.table,
                servers=table.servers,
                hint="create it or correct the option 'topic'",
            )


def _check_schemas(table: KafkaTable, bridge: Bridge) -> None:
    """The schema registry would take the schemas of what the table writes."""
    for side in (table.key, table.value):
        codec = side.encoder() if side else None
        if codec and codec.registers:
            try:
                bridge.check_schema(codec)
            except StreamtableError as error:
                raise error.located(table.at) from None


def _check_keys(table: KafkaTable, bridge: Bridge, notice: Notice) -> None:
    """The topic's keys are those the table would write, or rows there could never be deleted."""
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
            f"{table.table}: the keys of topic '{topic}' are not looked at, because the user may"
            " not read it; 'sink.key-check' = 'off' says the same"
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
        " 'sink.key-check' = 'warn' goes on",
    )
    if table.key_check is KeyCheck.FAIL:
        raise error
    notice(str(error))


def _check_compaction(table: KafkaTable, found: dict[str, str], notice: Notice) -> None:
    policy = found.get("cleanup.policy", "")
    if table.is_upsert and policy and "compact" not in policy:
        notice(
            f"{table.table}: topic '{table.topics[0]}' has cleanup.policy={policy}, so it keeps"
            " every version of a row and may lose rows that no longer change; set it to compact"
        )
