"""`streamtable verify`: compare topics with their tables at one position of the binlog.

The table is read as the job reads it, in chunks and without a lock, so that all of its rows have
the state of one position. The topic may be behind. Keys with changes in the binlog between the
checkpoint of the job and that position are in flight, and are not compared.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.kafka.read.columns import bounded_consumer_options
from streamtable.connectors.mysql_cdc.reader import BinlogPart, Offset, Position, TableId, check
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import CHECKPOINT_LEASE
from streamtable.ingest.expected import ExpectedRecords
from streamtable.ingest.file.job_file import JobFile
from streamtable.ingest.records.shape import shape_of
from streamtable.ingest.run.target import QUERY, topic_table
from streamtable.ingest.spec import ingest_spec
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import newest_batch
from streamtable.runtime.checkpoint.storage.lock import checkpoint_folder
from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints
from streamtable.runtime.session.sessions import JobSpark, job_spark
from streamtable.runtime.stop_signals import stop_signals

#: The highest number of keys shown for a difference.
_SHOWN = 10


@dataclass
class Comparison:
    """The comparison of a topic with its tables.

    Attributes:
        topic: its name.
        position: the binlog position at which the tables were read.
        rows: the number of rows of the tables.
        checksums: checksums of the tables and of the topic, over keys and values.
        on_the_way: keys that were not compared, because the job has not written them yet.
        older: keys whose record has earlier columns of the table, with equal values in the columns
            that still exist.
        missing: keys that are not in the topic.
        extra: keys that are not in the tables.
        different: keys whose values differ.
    """

    topic: str
    position: Position
    rows: int = 0
    checksums: list[int] = field(default_factory=lambda: [0, 0])
    on_the_way: int = 0
    older: int = 0
    missing: list[bytes] = field(default_factory=list)
    extra: list[bytes] = field(default_factory=list)
    different: list[bytes] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether the topic equals the tables."""
        return not (self.missing or self.extra or self.different)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        table, topic = (f"{checksum:016x}" for checksum in self.checksums)
        found = "equal" if self.equal else "DIFFERENT"
        yield (
            f"{found}  topic {self.topic} at {self.position}: {self.rows:,} rows,"
            f" checksums {table} (table) and {topic} (topic)"
        )
        if self.on_the_way:
            yield f"  {self.on_the_way:,} keys are on their way and were not compared"
        if self.older:
            yield f"  {self.older:,} records have the columns of before a change of the table"
        for what, keys in (
            ("missing in the topic", self.missing),
            ("not in the table", self.extra),
            ("different", self.different),
        ):
            if keys:
                yield f"  {len(keys):,} keys {what}:"
                yield from (f"    {key.decode(errors='replace')}" for key in sorted(keys)[:_SHOWN])


def verify_job(
    job: JobFile,
    settings: Settings,
    checkpoint: str | None,
    master: str | None,
    show: Callable[[str], None],
) -> bool:
    """Verify that every topic of a job equals its tables; report differences by key.

    Args:
        job: the job file.
        settings: the session's settings.
        checkpoint: the checkpoint of the job, which shows the keys in flight; None compares all
            keys.
        master: Spark's master URL; None is this machine.
        show: called with each line of output.

    Raises:
        StreamtableError: an error of the server or the brokers.
    """
    spec = ingest_spec(job).without_keyless()
    checked = check(spec.source)
    by_topic: dict[str, list[TableId]] = {}
    for table in checked.tables:
        shape = shape_of(table, spec.records)
        for topic in shape.topics if shape else ():
            by_topic.setdefault(topic, []).append(table.id)
    equal = True
    with (
        stop_signals() as stop,
        job_spark(settings, master, None, stop, lambda _: None) as spark,
    ):
        spark.settle()
        folder = None if checkpoint is None else _folder(checkpoint, settings, spark, stop)
        reached = None if folder is None else committed(folder)
        expected = ExpectedRecords(spec.with_tables(checked.tables), spark.session)
        for topic, tables in sorted(by_topic.items()):
            properties = topic_table(job, topic, "verify").properties
            there = fold(spark.session, topic, properties)
            found = compare(expected, topic, tables, there, reached)
            equal = equal and found.equal
            for line in found.lines():
                show(line)
    return equal


def fold(
    spark: SparkSession, topic: str, properties: Mapping[str, str]
) -> Iterable[tuple[bytes, bytes]]:
    """Return the last value of each key of a topic, without deleted keys."""
    options = bounded_consumer_options({**properties, "isolation.level": "read_committed"})
    rows = spark.read.format("kafka").options(**options).option("subscribe", topic).load()
    last = rows.groupBy("key").agg(F.max_by("value", "offset").alias("value"))
    found = last.where("key IS NOT NULL AND value IS NOT NULL")
    # The topic is read before the tables, so that it has nothing newer.
    return [(bytes(row.key), bytes(row.value)) for row in found.toLocalIterator()]


def compare(
    expected: ExpectedRecords,
    topic: str,
    tables: Sequence[TableId],
    there: Iterable[tuple[bytes, bytes]],
    reached: Offset | None,
) -> Comparison:
    """Compare a topic's rows with those of its tables."""
    end, rows = expected.rows(topic, tables)
    moving: set[bytes] = set()
    if reached is not None:
        part = BinlogPart(reached.position, end, {})
        moving = {key for key, _ in expected.records(part, topic)}
    found = Comparison(topic, end, len(rows))
    for key, value in rows.items():
        if key not in moving:
            found.checksums[0] = _added(found.checksums[0], key, value)
    for key, value in there:
        if key in moving:
            continue
        found.checksums[1] = _added(found.checksums[1], key, value)
        wanted = rows.pop(key, None)
        if wanted is None:
            found.extra.append(key)
        elif wanted != value:
            _differ(found, key, value, wanted)
    found.missing = [key for key in rows if key not in moving]
    found.on_the_way = len(moving)
    return found


def _folder(
    checkpoint: str, settings: Settings, spark: JobSpark, stop: threading.Event
) -> CheckpointPath:
    bridge = Bridge(spark.session)
    remote = RemoteCheckpoints(bridge, settings[CHECKPOINT_LEASE], stop, lambda _: None)
    return checkpoint_folder(checkpoint, remote)


def committed(directory: CheckpointPath) -> Offset:
    """Return the offset up to which a job has written.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if no batch was committed, or the snapshot is
            incomplete.
    """
    batch = newest_batch(directory / QUERY / "commits")
    if batch < 0:
        raise _unreadable(directory, "no batch of an ingestion job was committed there")
    text = (directory / QUERY / "offsets" / str(batch)).read_text(encoding="utf-8")
    offset = Offset.from_json(json.loads(text.splitlines()[2]))
    if offset.pending:
        names = ", ".join(map(str, offset.pending))
        raise _unreadable(directory, f"the snapshot of {names} is not complete")
    return offset


def _differ(found: Comparison, key: bytes, value: bytes, wanted: bytes) -> None:
    mine, theirs = _parsed(value), _parsed(wanted)
    common = mine.keys() & theirs.keys()
    if mine.keys() != theirs.keys() and all(mine[k] == theirs[k] for k in common):
        found.older += 1
    elif mine != theirs:
        found.different.append(key)


def _parsed(value: bytes) -> dict[str, Any]:
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"": value}


def _added(checksum: int, key: bytes, value: bytes) -> int:
    """Add a row to a checksum that does not depend on the order of rows."""
    lengths = len(key).to_bytes(8, "big")
    digest = hashlib.blake2b(lengths + key + value, digest_size=8).digest()
    return (checksum + int.from_bytes(digest, "big")) % (1 << 64)


def _unreadable(directory: CheckpointPath, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.CHECKPOINT_UNREADABLE,
        checkpoint=directory,
        reason=reason,
        hint="let the job come so far first, or leave --checkpoint out",
    )
