"""The input records from which a row of a batch answer comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from streamtable.batch.answer import answer
from streamtable.batch.carried import Lineage
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.ranges import ranges_of
from streamtable.runtime.proof.sides import answer_context

#: The number of records that are named, newest first.
NAMED = 10

#: The number of records up to which the records of a row are counted.
COUNTED = 100


@dataclass(frozen=True)
class Origin:
    """An input record of a row."""

    table: str
    partition: int
    offset: int
    time: datetime

    @property
    def text(self) -> str:
        """The record, for a line."""
        return f"{self.table} {self.partition}:{self.offset} ({self.time:%Y-%m-%d %H:%M:%S})"


def origins_of(
    sink: Sink,
    commit: Commit,
    lowering: LoweringContext,
    columns: Sequence[str],
    keys: Sequence[str],
) -> dict[str, list[Origin]]:
    """Return the newest input records of the rows of some keys, newest first.

    Computes the answer of the query again, with the lineage of each row.

    Args:
        sink: the query.
        commit: the commit whose input is read.
        lowering: the context of the session.
        columns: columns of the key.
        keys: their values as JSON objects, as `compare` shows them.

    Returns:
        The records of each key that the answer has, at most `COUNTED` per row.
    """
    lineage = Lineage(COUNTED)
    ranges = ranges_of(sink, commit, lowering.bridge)
    context = answer_context(sink, commit, ranges, lowering, carried=lineage)
    named = ", ".join(map(quote, columns))
    shown = f"to_json(struct({named}), map('ignoreNullFields', 'false'))"
    rows = answer(sink.input, context).selectExpr(f"{shown} AS __key", quote(lineage.column))
    chosen = rows.where(rows["__key"].isin(list(keys)))
    records = chosen.selectExpr("__key", f"explode({quote(lineage.column)}) AS r").distinct()
    newest = records.selectExpr("__key", "r.*").orderBy("time", "scan", "offset", ascending=False)
    tables = [scan.table.name for scan in scans(sink.input)]
    found: dict[str, list[Origin]] = {}
    for row in newest.collect():
        origin = Origin(tables[row["scan"]], row["partition"], row["offset"], row["time"])
        found.setdefault(row["__key"], []).append(origin)
    return found
