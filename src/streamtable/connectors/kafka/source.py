"""`KafkaSource`: the `Source` of a table that is read from topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from streamtable.connector_api.findings import Finding, ScanFacts
from streamtable.connector_api.preflight import Notice, Preflight, Resource
from streamtable.connector_api.reading import ReadContext, ReadRequest, SourceObserver
from streamtable.connector_api.source import Source, Split
from streamtable.connector_api.stored import StoredChanges
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.kafka.cluster.access import check_source_access
from streamtable.connectors.kafka.cluster.admin import TIMEOUT_MS, KafkaAdmin
from streamtable.connectors.kafka.cluster.faults import DATA_LOST_HINT, explain_fault
from streamtable.connectors.kafka.cluster.findings import topic_findings
from streamtable.connectors.kafka.cluster.observer import KafkaSourceObserver
from streamtable.connectors.kafka.cluster.own_topics import own_offsets, reads_topic
from streamtable.connectors.kafka.cluster.positions import (
    by_split,
    partition_of,
    positions,
    split_of,
)
from streamtable.connectors.kafka.cluster.topics import TopicToCreate, check_topics_there
from streamtable.connectors.kafka.options.values import NewTopic, Range
from streamtable.connectors.kafka.read.between import decode, read_between, records_between
from streamtable.connectors.kafka.read.bounds import ahead, end_offsets, kept_bound, topics_of
from streamtable.connectors.kafka.read.first import first_offsets
from streamtable.connectors.kafka.read.newest import newest
from streamtable.connectors.kafka.read.scan import read_changelog
from streamtable.connectors.kafka.read.startup import startup_notices
from streamtable.connectors.kafka.read.stored import read_stored
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.durations import format_duration
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.moment import Moment
from streamtable.core.options import Settings
from streamtable.core.settings.execution import CHECKPOINT_INTERVAL, EXECUTION_MODE
from streamtable.core.settings.session import checkpoint_interval
from streamtable.jvm.bridge import Bridge


@dataclass(frozen=True)
class KafkaSource(TableEndpoint[KafkaTable], Source):
    """The source topics of a table; each partition is a split."""

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """Return a streaming DataFrame: row kind, fields, and other wanted columns."""
        return read_changelog(self.declared, wanted, context)

    @property
    def is_bounded(self) -> bool:
        """Whether the table has a `scan.bounded.mode`."""
        return self.declared.bound is not None

    @property
    def kept_bound(self) -> str | None:
        """Return the bound, if it depends on the committed offsets of a group."""
        return kept_bound(self.declared)

    def scan_ends(self, bridge: Bridge) -> Mapping[Split, int] | None:
        """Return the end offsets of `scan.bounded.mode`."""
        table = self.declared
        if table.bound is None:
            return None
        return by_split(end_offsets(table, table.bound, KafkaAdmin(bridge, table.properties)))

    def ended_at(self, ends: Mapping[Split, int]) -> Source:
        """Return the source with these end offsets."""
        found = {partition_of(split): end for split, end in ends.items()}
        bound = None if self.declared.bound is None else replace(self.declared.bound, ends=found)
        return KafkaSource(replace(self.declared, bound=bound))

    @property
    def reads_splits_alone(self) -> bool:
        """Whether each task reads one partition, which `scan.parallelism` would change."""
        return self.declared.scan_tasks is None

    @property
    def supports_alignment(self) -> bool:
        """True: queries that read the same topic are aligned by records of a partition."""
        return True

    def parallelism(self, bridge: Bridge, new_splits: Mapping[str, int]) -> int:
        """Return the number of partitions, including those of topics that the job will create."""
        admin = KafkaAdmin(bridge, self.declared.properties)
        there = {t: admin.describe(t).get("partitions") for t in topics_of(self.declared, admin)}
        found = {t: int(partitions) for t, partitions in there.items() if partitions is not None}
        made = {t: n for t, n in new_splits.items() if reads_topic(self.declared, t, bridge)}
        return sum({**made, **found}.values())

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:
        """Return an error for a bound, `scan.parallelism` or too short a discovery interval.

        Spark's source for real-time mode cannot stop at an offset. The discovery interval must not
        be below the checkpoint interval.
        """
        table = self.declared
        lacks = {
            "scan.bounded.mode": table.bound is not None,
            "scan.parallelism": table.scan_tasks is not None,
        }
        option = next((name for name, is_set in lacks.items() if is_set), None)
        if option is not None:
            return StreamtableError(
                Condition.NOT_YET,
                at=table.at,
                what=f"this '{option}' of {table.table} in real-time mode",
                hint=f"remove it, or SET '{EXECUTION_MODE.key}' = 'micro-batch'",
            )
        wanted, interval = table.discovery.interval, checkpoint_interval(settings)
        if wanted is None or wanted >= interval:
            return None
        return StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"{table.table} discovers partitions every {format_duration(wanted)}, but a"
                " batch in real-time mode discovers them only once and lasts"
                f" {format_duration(interval)}"
            ),
            hint=f"SET '{CHECKPOINT_INTERVAL.key}' = '{format_duration(wanted)}'",
        )

    def examine(self, preflight: Preflight) -> Sequence[Resource]:
        """Check that topics and startup offsets exist; return a dead-letter topic to create it."""
        table, bridge = self.declared, preflight.bridge
        check_topics_there(table, bridge, preflight.to_create)
        admin = KafkaAdmin(bridge, table.properties)
        if preflight.first_run:
            for line in startup_notices(table, admin, preflight.bounded):
                preflight.notice(line)
        letters = table.dead_letter_topic
        if letters is None or letters in admin.topics():
            return ()
        return (TopicToCreate(table, letters, NewTopic(), bridge),)

    def check_access(self, preflight: Preflight) -> None:
        """Check READ of topics and group, and WRITE of the dead-letter topic."""
        check_source_access(self.declared, preflight)

    def findings(self, facts: ScanFacts, bridge: Bridge) -> Iterable[Finding]:
        """Return findings about size, cleanup and empty partitions of the topics."""
        return topic_findings(self.declared, facts, bridge)

    def newest(self, records: int, bridge: Bridge) -> Source | None:
        """Return a source of the newest records of each partition of a single topic."""
        table = newest(self.declared, records, bridge)
        return None if table is None else KafkaSource(table)

    @property
    def keeps_history(self) -> bool:
        """True: a topic keeps its records."""
        return True

    def stored(
        self, wanted: ReadRequest, moments: Sequence[Moment], context: ReadContext
    ) -> StoredChanges:
        """Return the records of the topics, from the first kept offsets to the latest moment."""
        return read_stored(self.declared, wanted, moments, context)

    def stored_between(
        self,
        wanted: ReadRequest,
        ranges: Mapping[Split, tuple[int, int]],
        context: ReadContext,
        *,
        committed: bool,
    ) -> StoredChanges:
        """Return the records of ranges of offsets."""
        found = {partition_of(split): offsets for split, offsets in ranges.items()}
        return read_between(self.declared, wanted, found, context, committed=committed)

    def records_between(
        self,
        ranges: Mapping[Split, tuple[int, int]],
        context: ReadContext,
        *,
        committed: bool,
    ) -> DataFrame:
        """Return the records of ranges of offsets, not decoded."""
        found = {partition_of(split): offsets for split, offsets in ranges.items()}
        return records_between(self.declared, found, context, committed=committed)

    def decoded(self, wanted: ReadRequest, records: DataFrame, context: ReadContext) -> DataFrame:
        """Return the rows of records, or of keys and values as the sink encodes them."""
        return decode(self.declared, wanted, records, context)

    def identities(self, bridge: Bridge, timeout_ms: int | None = None) -> Mapping[str, str]:
        """Return Kafka's ids of the topics."""
        admin = KafkaAdmin(bridge, self.declared.properties, timeout_ms or TIMEOUT_MS)
        return admin.topic_ids(topics_of(self.declared, admin))

    def replaced(self, name: str, notice: Notice) -> None:
        """Raise DATA_LOST for a topic that was deleted and created again, or report it.

        A new topic has other records at the offsets that were read. If the new topic has more
        records than the old one, only the topic id shows the difference.
        """
        table = self.declared
        error = StreamtableError(
            Condition.DATA_LOST,
            at=table.at,
            table=table.table,
            reason=f"topic '{name}' was deleted and created again",
            hint=DATA_LOST_HINT,
        )
        if table.fail_on_data_loss:
            raise error
        notice(
            f"{table.table}: topic '{name}' was deleted and created again; the job continues at the"
            " offsets that it has reached, and omits earlier records of the new topic"
        )

    def splits(self, bridge: Bridge) -> Sequence[Split]:
        """Return the current partitions; of a range, those that it had read or would read."""
        admin = KafkaAdmin(bridge, self.declared.properties)
        found = admin.end_offsets(topics_of(self.declared, admin))
        own = self.declared.range
        if own is not None and own.begins:
            found = {p: end for p, end in found.items() if p in own.begins or own.ends.get(p)}
        return sorted(map(split_of, found))

    def later_splits(self, bridge: Bridge) -> Any:
        """Return the Java finder of new partitions, and of new topics that match the pattern."""
        table = self.declared
        if table.range is not None:
            return None
        properties, topics = bridge.java_map(table.properties), bridge.java_list(table.topics)
        return bridge.java.kafka.read.KafkaSplits(properties, topics, table.discovery.pattern)

    def positions(self, reached: Iterable[str | None], bridge: Bridge) -> Mapping[Split, int]:
        """Return the offset of the next record of each partition of the table's topics."""
        return by_split(own_offsets(self.declared, positions(reached), bridge))

    def ends_of(
        self, splits: Iterable[Split] | None, bridge: Bridge, timeout_ms: int | None = None
    ) -> Mapping[Split, int] | None:
        """Return end offsets; None while the brokers do not respond."""
        admin = KafkaAdmin(bridge, self.declared.properties, timeout_ms or TIMEOUT_MS)
        try:
            if splits is None:
                topics: Sequence[str] = topics_of(self.declared, admin)
            else:
                topics = sorted({partition_of(split)[0] for split in splits})
            return by_split(admin.end_offsets(topics))
        except StreamtableError as error:
            if error.condition is not Condition.BROKER_UNREACHABLE:
                raise
            return None

    def ends_ahead(self, bridge: Bridge) -> Mapping[Split, int]:
        """Return end offsets beyond the current ends of partitions, or in open transactions."""
        return by_split(ahead(self.declared, KafkaAdmin(bridge, self.declared.properties)))

    def begins_of(self, bridge: Bridge) -> Mapping[Split, int] | None:
        """Return the first offsets that the brokers still have."""
        admin = KafkaAdmin(bridge, self.declared.properties)
        return by_split(admin.begin_offsets(topics_of(self.declared, admin)))

    def committed_by(self, group: str, bridge: Bridge) -> Mapping[Split, int]:
        """Return the committed offsets of a consumer group."""
        admin = KafkaAdmin(bridge, self.declared.properties)
        return by_split(admin.committed_offsets(group, topics_of(self.declared, admin)))

    def first_positions(self, bridge: Bridge) -> Mapping[Split, int] | str:
        """Return the startup offsets of the partitions; see `first_offsets`."""
        found = first_offsets(self.declared, KafkaAdmin(bridge, self.declared.properties))
        return found if isinstance(found, str) else by_split(found)

    def between(
        self, begins: Mapping[Split, int], ends: Mapping[Split, int], bridge: Bridge
    ) -> Source:
        """Return the source of the same topics from begin to end offsets."""
        first, last = (
            own_offsets(self.declared, {partition_of(s): o for s, o in offsets.items()}, bridge)
            for offsets in (begins, ends)
        )
        return KafkaSource(replace(self.declared, range=Range(first, last)))

    def explain(self, sink: str, text: str) -> StreamtableError | None:
        """Translate deleted but unread records into DATA_LOST."""
        return explain_fault(sink, text)

    def observe(
        self, queries: Mapping[str, Sequence[Source]], bridge: Bridge, notice: Notice
    ) -> SourceObserver | None:
        """Return the observer that commits to the consumer group and reports partition growth."""
        tables = {
            name: [s.declared for s in sources if isinstance(s, KafkaSource)]
            for name, sources in queries.items()
        }
        return KafkaSourceObserver(self.declared, tables, bridge, notice)
