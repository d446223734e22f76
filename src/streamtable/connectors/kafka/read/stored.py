"""The stored records of a table as a batch DataFrame, up to moments of its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.stored import StoredChanges, reached_column
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin, Partition
from streamtable.connectors.kafka.read.bounds import before, topics_of
from streamtable.connectors.kafka.read.kept import History, lost, notices
from streamtable.connectors.kafka.read.stored_rows import batch_records, stored_rows
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.moment import Moment

#: Consumer settings of a read; settings of the script override them. A table does not contain the
#: records of aborted transactions. Spark's consumers make two requests after each poll, so large
#: polls save requests.
_DEFAULTS = {
    "isolation.level": "read_committed",
    "max.poll.records": "50000",
    "max.partition.fetch.bytes": str(4 << 20),
}


def read_stored(
    table: KafkaTable, wanted: ReadRequest, moments: Sequence[Moment], context: ReadContext
) -> StoredChanges:
    """Read the records of a table from their beginning up to the latest of some moments.

    Raises:
        StreamtableError: TOPIC_MISSING, MOMENT_LOST, INVALID_OPTION for offsets of no partition.
    """
    table = replace(table, properties={**_DEFAULTS, **table.properties})
    admin = KafkaAdmin(context.bridge, table.properties)
    topics = topics_of(table, admin)
    history = _history(table, topics, admin)
    ends = [_ends(table, moment, topics, history, admin) for moment in moments]
    for moment, end in zip(moments, ends, strict=True):
        error = lost(table, moment, end, history)
        if error is not None:
            raise error
    latest = {p: max(reached[p] for reached in ends) for p in history.ends}
    begins = {p: min(history.begins[p], end) for p, end in latest.items()}
    records = context.bridge.metered(
        batch_records(table, begins, latest, context), context.counters_of(table.table)
    )
    reached = [f"{before(end)} AS {reached_column(place)}" for place, end in enumerate(ends)]
    rows = stored_rows(table, wanted, records, context, reached)
    found = notices(table, moments, ends, history)
    return StoredChanges(rows, wanted.fields, found)


def _history(table: KafkaTable, topics: Sequence[str], admin: KafkaAdmin) -> History:
    if not topics:
        raise StreamtableError(
            Condition.TOPIC_MISSING,
            at=table.at,
            topic=table.topics_text,
            table=table.table,
            servers=table.servers,
        )
    for topic in topics:
        admin.check_access(topic, "READ")  # a read commits to no group and writes no dead letters
    all_ends = admin.end_offsets(topics)
    return History(
        begins=admin.begin_offsets(topics),
        ends=admin.stable_end_offsets(topics) if table.reads_committed else all_ends,
        all_ends=all_ends,
        settings={topic: admin.describe(topic) for topic in topics},
    )


def _ends(
    table: KafkaTable,
    moment: Moment,
    topics: Sequence[str],
    history: History,
    admin: KafkaAdmin,
) -> dict[Partition, int]:
    """Return the end offset of each partition at a moment, exclusive."""
    if moment.time_ms is not None:
        # The record of the moment itself belongs to the table.
        found = admin.offsets_at(topics, moment.time_ms + 1)
        return {p: min(end, found.get(p, end)) for p, end in history.ends.items()}
    if moment.offsets:
        return _given(table, moment, history)
    return dict(history.ends)


def _given(table: KafkaTable, moment: Moment, history: History) -> dict[Partition, int]:
    if len(history.settings) != 1:
        reason = f"a time, because {table.table} reads several topics"
        raise _refused(moment, reason)
    (topic,) = history.settings
    named = {(topic, partition): offset for partition, offset in moment.offsets.items()}
    for partition in sorted(history.ends.keys() ^ named.keys()):
        there = "has no" if partition in named else "also has"
        reason = f"an offset for each partition of '{topic}', which {there} partition"
        raise _refused(moment, f"{reason} {partition[1]}")
    for partition, offset in sorted(named.items()):
        if offset > history.ends[partition]:
            end = history.ends[partition]
            raise _refused(moment, f"in the topic: partition {partition[1]} ends at offset {end}")
    return named


def _refused(moment: Moment, expected: str) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_OPTION, option="offsets", value=moment.text, expected=expected
    )
