"""The rows of a key at each operator, their number and their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, Row

from streamtable.batch.answer import answer
from streamtable.batch.context import BatchContext, Doubt
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.node import Node
from streamtable.runtime.why.key import literal
from streamtable.runtime.why.records import RECORD_SQL, Records, StoredRecords
from streamtable.runtime.why.result import Record
from streamtable.runtime.why.trace import Pin, condition_of, of_values

#: Maximum number of join keys that are looked for in the other input.
_JOIN_KEYS = 1_000

_KINDS = ("+I", "-U", "+U", "-D")
#: Row kinds whose record is shown with its kind: those that remove a row.
_SHOWN = ("-U", "-D")

#: Spark SQL of the time of record `r`, in the session's time zone.
_TIME = "date_format(r.time, 'yyyy-MM-dd HH:mm:ss.SSS')"


@dataclass(frozen=True)
class KeyRows:
    """Computes the rows of a key.

    Attributes:
        stored: the records of the tables.
        lowering: Spark session, bridge and settings.
        limit: maximum number of records that are shown.
        watermark_ms: watermark of the job, in milliseconds, for operators that wait for it; None:
            it has passed all rows.
        doubts: filled with reasons why the rows may not be determined by the input.
    """

    stored: StoredRecords
    lowering: LoweringContext
    limit: int
    watermark_ms: int | None = None
    doubts: list[Doubt] = field(default_factory=list)

    @property
    def carried(self) -> Records:
        """The records of each row; one more than the limit shows that there are more."""
        return Records(limit=self.limit + 1)

    def of(self, node: Node, pins: Sequence[Pin], *, with_records: bool = False) -> DataFrame:
        """Return the rows of an operator that have the values of the pins; lazy."""
        carried = self.carried if with_records else None
        context = BatchContext(self.lowering, self.stored.changes, carried, self.watermark_ms)
        rows = answer(node, context)
        if with_records:
            self.doubts.extend(context.doubts)
        condition = condition_of(pins)
        return rows if condition is None else rows.where(condition)

    def count(self, node: Node, pins: Sequence[Pin]) -> int:
        """Return the number of rows of an operator that have the values of the pins."""
        return self.of(node, pins).count()

    def matches(self, node: PairNode, side: int, pins: Sequence[Pin]) -> Pin | None:
        """Return the pin of one input of a join for the join keys of the rows of the other input.

        Args:
            node: the join.
            side: the input with the rows, 0 or 1.
            pins: the pins of this input.

        Returns:
            None without such rows, without join keys as literals, or for more than `_JOIN_KEYS`.
        """
        keys = (node.left_keys, node.right_keys)[side]
        child = node.inputs[side]
        types = [next(f.type for f in child.fields if f.name == key) for key in keys]
        if not keys or any(literal("", kind) is None for kind in types):
            return None
        texts = [f"CAST({quote(key)} AS STRING) AS k{n}" for n, key in enumerate(keys)]
        there = " AND ".join(f"{quote(key)} IS NOT NULL" for key in keys)
        rows = self.of(child, pins).where(there).selectExpr(*texts).distinct()
        values = sorted(tuple(row) for row in rows.limit(_JOIN_KEYS + 1).collect())
        if not values or len(values) > _JOIN_KEYS:
            return None
        literals = [
            tuple(literal(text, kind) or "NULL" for text, kind in zip(value, types, strict=True))
            for value in values
        ]
        return of_values(node, 1 - side, literals, exact=all(pin.exact for pin in pins))

    def records_of(self, rows: DataFrame, why: str = "CAST(NULL AS STRING)") -> tuple[Record, ...]:
        """Return the newest records of rows that carry theirs.

        Args:
            rows: the rows.
            why: Spark SQL over the rows of what to say about their records; NULL for nothing.
        """
        each = rows.selectExpr(f"explode({self.carried.column}) AS r", f"{why} AS why")
        return self._newest(each.distinct())

    def records_of_changes(self, changes: DataFrame) -> tuple[Record, ...]:
        """Return the newest records of changes of a scan."""
        return self._newest(changes.selectExpr(f"{RECORD_SQL} AS r", "CAST(NULL AS STRING) AS why"))

    def records(self, rows: Sequence[Row], why: Sequence[str | None] = ()) -> tuple[Record, ...]:
        """Return records from rows with the parts of a record, and what to say about them."""
        tables = self.stored.tables()
        return tuple(
            Record(
                tables[row["scan"]],
                row["partition"],
                row["offset"],
                row["time"],
                row["content"],
                kind if (kind := _KINDS[row["kind"]]) in _SHOWN else None,
                why[n] if why else None,
            )
            for n, row in enumerate(rows)
        )

    def _newest(self, records: DataFrame) -> tuple[Record, ...]:
        newest = records.orderBy("r", ascending=False).limit(self.limit)
        found = newest.selectExpr(*parts("r"), "why").collect()
        return self.records(found, [row["why"] or None for row in found])


def parts(record: str) -> list[str]:
    """Return Spark SQL of the parts of a record, with its time as text."""
    time = _TIME.replace("r.", f"{record}.")
    names = ("scan", "partition", "offset", "kind", "content")
    return [f"{time} AS time", *(f"{record}.{name} AS {name}" for name in names)]
