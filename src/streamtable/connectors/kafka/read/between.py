"""The records of exact ranges of offsets as a batch DataFrame, and rows of encoded records."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.stored import RECORD, StoredChanges
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin, Partition
from streamtable.connectors.kafka.read.bounds import topics_of
from streamtable.connectors.kafka.read.stored_rows import batch_records, stored_rows
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError

#: Spark's consumers make two requests after each poll, so large polls save requests. Settings of
#: the script override these.
_DEFAULTS = {"max.poll.records": "50000", "max.partition.fetch.bytes": str(4 << 20)}

#: The longest wait for the end of transactions that are already committed, in seconds.
_STABLE_S = 30.0

#: Values of the columns of a record that has no position.
_MISSING = {
    "topic": "CAST(NULL AS STRING)",
    "partition": "0",
    "offset": "0L",
    "timestamp": "timestamp_millis(0)",
    "timestampType": "0",
    "headers": f"CAST(NULL AS {RECORD['headers']})",
}

#: First offset, and the end, exclusive.
Range = tuple[int, int]


def read_between(
    table: KafkaTable,
    wanted: ReadRequest,
    ranges: Mapping[Partition, Range],
    context: ReadContext,
    *,
    committed: bool,
) -> StoredChanges:
    """Read the records of ranges of offsets.

    Args:
        table: the table.
        wanted: the columns.
        ranges: offsets by partition; other partitions are not read.
        context: the context of the read.
        committed: whether to read committed transactions only, whatever the script says.

    Raises:
        StreamtableError: MOMENT_LOST for records that the brokers have deleted; TOPIC_MISSING.
    """
    table = _tuned(table, committed=committed)
    frame, notices = _records(table, ranges, context, committed=committed)
    records = context.bridge.metered(frame, context.counters_of(table.table))
    return StoredChanges(stored_rows(table, wanted, records, context), wanted.fields, notices)


def records_between(
    table: KafkaTable, ranges: Mapping[Partition, Range], context: ReadContext, *, committed: bool
) -> DataFrame:
    """Read the records of ranges of offsets without decoding them: the columns of `RECORD`.

    Args:
        table: the table.
        ranges: as for `read_between`.
        context: the context of the read.
        committed: as for `read_between`.

    Raises:
        StreamtableError: as for `read_between`.
    """
    table = _tuned(table, committed=committed)
    frame, _ = _records(table, ranges, context, committed=committed, headers=True)
    return frame.select(*RECORD)


def _tuned(table: KafkaTable, *, committed: bool) -> KafkaTable:
    """Return the table with the client settings of a read of ranges."""
    isolation = {"isolation.level": "read_committed"} if committed else {}
    return replace(table, properties={**_DEFAULTS, **table.properties, **isolation})


def _records(
    table: KafkaTable,
    ranges: Mapping[Partition, Range],
    context: ReadContext,
    *,
    committed: bool,
    headers: bool = False,
) -> tuple[DataFrame, tuple[str, ...]]:
    """Return the records of ranges, and lines about records that compaction may have removed."""
    admin = KafkaAdmin(context.bridge, table.properties)
    topics = topics_of(table, admin)
    begins, ends = admin.begin_offsets(topics), admin.end_offsets(topics)
    for partition, (begin, end) in sorted(ranges.items()):
        error = _lost(table, partition, begin, end, begins)
        if error is not None:
            raise error
    if committed:
        await_decided(table, admin, {p: end for p, (_, end) in ranges.items()})
    whole = {p: ranges.get(p, (begin, begin)) for p, begin in begins.items()}
    frame = batch_records(
        table,
        {p: begin for p, (begin, _) in whole.items()},
        {p: end for p, (_, end) in whole.items()},
        context,
        headers=headers,
    )
    return frame, tuple(_compacted(table, admin, topics, ranges, ends))


def decode(
    table: KafkaTable, wanted: ReadRequest, records: DataFrame, context: ReadContext
) -> DataFrame:
    """Decode records as if they had been read from the topic.

    Args:
        table: the table.
        wanted: the columns.
        records: `key` and `value`, and other columns of `RECORD`.
        context: the context of the read.
    """
    missing = {name: _MISSING[name] for name in RECORD if name not in records.columns}
    if "topic" in missing and table.topics:
        missing["topic"] = f"'{table.topics[0]}'"
    columns = [f"{missing[name]} AS {name}" if name in missing else name for name in RECORD]
    return stored_rows(table, wanted, records.selectExpr(*columns), context)


def _lost(
    table: KafkaTable,
    partition: Partition,
    begin: int,
    end: int,
    begins: Mapping[Partition, int],
) -> StreamtableError | None:
    topic, number = partition
    if partition not in begins:
        return StreamtableError(
            Condition.TOPIC_MISSING,
            at=table.at,
            topic=f"{topic}, partition {number}",
            table=table.table,
            servers=table.servers,
        )
    first = begins[partition]
    if end <= begin or first <= begin:
        return None
    return StreamtableError(
        Condition.MOMENT_LOST,
        at=table.at,
        table=table.table,
        moment=f"partition:{number},offset:{end}",
        reason=(
            f"the brokers have deleted records from offset {begin} on: partition {number} of topic"
            f" '{topic}' begins at offset {first}"
        ),
        hint="'retention.ms' of the topic decides how long records are kept",
    )


def await_decided(table: KafkaTable, admin: KafkaAdmin, ends: Mapping[Partition, int]) -> None:
    """Wait until no open transaction is before the ends: its records could not be read.

    Raises:
        StreamtableError: MOMENT_LOST if a transaction stays open.
    """
    topics = sorted({topic for topic, _ in ends})
    deadline = time.monotonic() + _STABLE_S
    while True:
        stable = admin.stable_end_offsets(topics)
        held = [p for p, end in ends.items() if stable[p] < end]
        if not held:
            return
        if time.monotonic() > deadline:
            topic, number = held[0]
            raise StreamtableError(
                Condition.MOMENT_LOST,
                at=table.at,
                table=table.table,
                moment=f"partition:{number},offset:{ends[held[0]]}",
                reason=f"a transaction in partition {number} of topic '{topic}' is open",
                hint="`streamtable txn` lists and aborts open transactions",
            )
        time.sleep(0.1)


def _compacted(
    table: KafkaTable,
    admin: KafkaAdmin,
    topics: tuple[str, ...],
    ranges: Mapping[Partition, Range],
    ends: Mapping[Partition, int],
) -> Iterator[str]:
    """Yield a line for each topic in which compaction may have removed records of the ranges.

    Compaction keeps the last record of each key. A table that keeps the last row of each key
    therefore loses nothing if its ranges end where the topic ends.
    """
    for topic in topics:
        policy = admin.describe(topic).get("cleanup.policy", "compact")
        later = any(end < ends[p] for p, (_, end) in ranges.items() if p[0] == topic)
        if "compact" not in policy:
            continue
        if not table.is_upsert:
            yield f"topic '{topic}' is compacted, so that records of {table.table} may be missing"
        elif later:
            yield (
                f"topic '{topic}' is compacted and has later records, so that rows of"
                f" {table.table} that have changed since may be missing"
            )
