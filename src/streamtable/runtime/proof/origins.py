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
    sink: Sink, commit: Commit, lowering: LoweringContext, columns: Sequence[str], key: str
) -> list[Origin]:
    """Return the newest input records of the rows of a key, newest first.

    Computes the answer of the query again, with the lineage of each row.

    Args:
        sink: the query.
        commit: the commit whose input is read.
        lowering: the context of the session.
        columns: columns of the key.
        key: their values as a JSON object, as `compare` shows them.
    """
    lineage = Lineage(NAMED)
    ranges = ranges_of(sink, commit)
    context = answer_context(sink, commit, ranges, lowering, carried=lineage)
    named = ", ".join(map(quote, columns))
    shown = f"to_json(struct({named}), map('ignoreNullFields', 'false'))"
    rows = answer(sink.input, context).selectExpr(f"{shown} AS __key", quote(lineage.column))
    chosen = rows.where(rows["__key"] == key).selectExpr(f"explode({quote(lineage.column)}) AS r")
    newest = chosen.selectExpr("r.*").distinct().orderBy("time", "scan", "offset", ascending=False)
    tables = [scan.table.name for scan in scans(sink.input)]
    return [
        Origin(tables[row["scan"]], row["partition"], row["offset"], row["time"])
        for row in newest.limit(NAMED).collect()
    ]
