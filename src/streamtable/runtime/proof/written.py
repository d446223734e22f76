"""The records of a key in a sink, and the batch that wrote the newest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.reading import ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS, Split
from streamtable.connector_api.stored import TIME_COLUMN
from streamtable.core.checkpoint_path import CheckpointPath, numbered
from streamtable.operators.context import LoweringContext
from streamtable.plan.binding.bound import text_literal
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.proof.commits import Commit, read_commit
from streamtable.runtime.proof.compare import key_text
from streamtable.runtime.proof.sides import compared_fields, compared_key, sink_ranges


@dataclass(frozen=True)
class Written:
    """The newest record of a key in a sink.

    Attributes:
        partition: its partition.
        offset: its offset.
        time: its time.
        batch: the batch that wrote it; None if the checkpoint no longer has this batch.
        by_time: whether the batch was found by the time of the record, which is less certain than
            the recorded ends of the sink. The clocks of the producer and of the driver may differ,
            and another program may have written the record.
    """

    partition: int
    offset: int
    time: datetime
    batch: int | None
    by_time: bool

    @property
    def text(self) -> str:
        """The record, for a line."""
        if self.batch is None:
            batch = "by a batch that the checkpoint no longer has"
        else:
            batch = f"in batch {self.batch}" + (", by its time" if self.by_time else "")
        moment = f"{self.time:%Y-%m-%d %H:%M:%S}"
        return f"partition {self.partition}, offset {self.offset} ({moment}), {batch}"

    def as_json(self) -> dict[str, Any]:
        """Return the record as data."""
        return {
            "partition": self.partition,
            "offset": self.offset,
            "time": self.time.isoformat(),
            "batch": self.batch,
            "by_time": self.by_time,
        }


def positions_in_sink(sink: Sink, commit: Commit, lowering: LoweringContext, key: str) -> DataFrame:
    """Return time and `ORDER_COLUMNS` of the records of a key in a sink.

    Args:
        sink: the query.
        commit: the commit up to which the sink is read.
        lowering: the context of the session.
        key: the key as JSON, as `compare` shows it.
    """
    fields = compared_fields(sink)
    source, ranges = lowering.source_of(sink.table), sink_ranges(commit)
    stored = source.stored_between(ReadRequest(fields), ranges, lowering, committed=True)
    rows = stored.rows.where(f"{key_text(fields, compared_key(sink))} = {text_literal(key)}")
    return rows.select(TIME_COLUMN, *ORDER_COLUMNS).distinct()


def newest_written(
    sink: Sink,
    commit: Commit,
    lowering: LoweringContext,
    directory: CheckpointPath,
    positions: CheckpointPath,
    key: str,
) -> Written | None:
    """Return the newest record of a key in a sink, with its batch; None without records.

    Args:
        sink: the query.
        commit: the commit up to which the sink is read.
        lowering: the context of the session.
        directory: the directory of the query's checkpoint.
        positions: the folder in which the query records the ends of the sink.
        key: the key as JSON, as `compare` shows it.
    """
    found = positions_in_sink(sink, commit, lowering, key)
    row = found.orderBy(TIME_COLUMN, ORDER_COLUMNS[1], ascending=False).first()
    if row is None:
        return None
    time, partition, offset = row
    batches = sorted(set(numbered(directory / "commits")) & set(numbered(directory / "offsets")))
    split = next(s for s in commit.ends if s.rpartition("/")[2] == str(partition))
    batch = _recorded_batch(sink, positions, batches, split, offset)
    if batch is not None:
        return Written(partition, offset, time, batch, by_time=False)
    at_ms = time.timestamp() * 1_000
    begun = [b for b in batches if read_commit(directory, b, {}).time_ms <= at_ms]
    return Written(partition, offset, time, begun[-1] if begun else None, by_time=True)


def _recorded_batch(
    sink: Sink, positions: CheckpointPath, batches: Sequence[int], split: Split, offset: int
) -> int | None:
    """Return the batch that wrote a record, by the ends of the sink at two successive commits."""
    ends = {batch: sink_of(sink.table).recorded_ends(positions, batch) for batch in batches}
    recorded = [(batch, each.get(split, 0)) for batch, each in ends.items() if each is not None]
    first = next((batch for batch, end in recorded if end > offset), None)
    if first is None:
        return None
    before = max((batch for batch, end in recorded if end <= offset), default=-1)
    return first if first == before + 1 else None
