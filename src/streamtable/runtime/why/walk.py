"""Find the operator that drops a key: count the key's rows from the scans upwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.fold import ORDER
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.scan import Scan
from streamtable.runtime.why.dropped import Dropped, dropped_by, name_of
from streamtable.runtime.why.result import OperatorLine, Reason, Record
from streamtable.runtime.why.rows import KeyRows
from streamtable.runtime.why.trace import (
    Below,
    Pin,
    below,
    gives_join_keys,
    pinned_scans,
    table_of,
)

#: Operators without a line of their own: they neither drop nor combine rows.
_SILENT = ("WatermarkAssigner", "Materialize", "Exchange")


@dataclass
class Walk:
    """Counts the rows of a key at each operator of a plan, until none is left.

    Attributes:
        rows: computes the rows.
        lines: the operators so far, from the scans upwards.
    """

    rows: KeyRows
    lines: list[OperatorLine] = field(default_factory=list)

    def visit(self, node: Node, pins: Sequence[Pin]) -> int:
        """Add the lines of an operator and of those below; return the number of its rows."""
        scan = table_of(node)
        if scan is not None:
            return self._table(node, scan, pins)
        if not node.inputs:
            return self._static(node, pins)
        found = below(node, pins)
        if isinstance(node, PairNode):
            counts, found = self._pair(node, found)
            if not any(counts):
                return 0
        else:
            pairs = zip(node.inputs, found, strict=True)
            counts = tuple(self.visit(child, each.pins) for child, each in pairs)
            if not any(counts):
                return 0
        output = self.rows.count(node, pins)
        self._add(node, pins, found, counts, output)
        return output

    def _add(
        self,
        node: Node,
        pins: Sequence[Pin],
        found: Sequence[Below],
        counts: tuple[int, ...],
        output: int,
    ) -> None:
        passes = (isinstance(node, Calc) and node.condition is None) or node.title in _SILENT
        if passes and counts == (output,):
            return
        notes = tuple(
            f"the rows below are not limited to the key: {pin.names[0]} is computed here"
            for pin in dict.fromkeys(lost for each in found for lost in each.lost)
        )
        dropped = Dropped(None)
        if output == 0:
            dropped = dropped_by(node, pins, found, counts, self.rows)
        self.lines.append(
            OperatorLine(
                name_of(node),
                counts,
                output,
                (*dropped.notes, *notes),
                dropped.reason,
                dropped.records,
            )
        )

    # Joins.

    def _pair(
        self, node: PairNode, found: Sequence[Below]
    ) -> tuple[tuple[int, ...], tuple[Below, ...]]:
        """Count the rows of both inputs: first of the one with the key, then those it may match."""
        first = 0 if found[0].pins or not found[1].pins else 1
        other = 1 - first
        pins = [each.pins for each in found]
        counts = [0, 0]
        counts[first] = self.visit(node.inputs[first], pins[first])
        looked_for = pins[other]
        if counts[first] and pins[first] and not gives_join_keys(node, looked_for, other):
            looked_for = (*looked_for, *self._matches(node, first, pins[first]))
        if counts[first] or looked_for:
            counts[other] = self.visit(node.inputs[other], looked_for)
        pins[other] = tuple(looked_for)
        return tuple(counts), tuple(
            Below(p, each.lost) for p, each in zip(pins, found, strict=True)
        )

    def _matches(self, node: PairNode, side: int, pins: Sequence[Pin]) -> Sequence[Pin]:
        """Return the pin of the other input for the join keys of the rows of this input."""
        pin = self.rows.matches(node, side, pins)
        if pin is None:
            return ()
        for scan, reached in pinned_scans(node.inputs[1 - side], [pin]):
            self.rows.stored.narrow(scan, reached)
        return (pin,)

    # Tables.

    def _static(self, node: Node, pins: Sequence[Pin]) -> int:
        output = self.rows.count(node, pins)
        reason = None if output else Reason.NEVER_READ
        self.lines.append(OperatorLine(node.title, (output,), output, (), reason))
        return output

    def _table(self, node: Node, scan: Scan, pins: Sequence[Pin]) -> int:
        """Count the records of a table with the key, and the current rows."""
        changes = self.rows.stored.matching(scan, pins)
        records = changes.count()
        output = records
        if records and not scan.mode.is_append:
            output = self.rows.count(node, pins)
        notes: tuple[str, ...] = ()
        reason: Reason | None = None
        shown: tuple[Record, ...] = ()
        wanted = " and ".join(pin.text for pin in pins)
        if not records:
            reason = Reason.NEVER_READ
            notes = (f"no record has {wanted}",) if wanted else ("the table has no record",)
        elif not output:
            newest = self._newest_versions(scan, changes)
            kinds = {row[0] for row in newest.select(ROW_KIND_COLUMN).distinct().collect()}
            deletes = kinds & {RowKind.DELETE.value, RowKind.UPDATE_BEFORE.value}
            others = kinds - deletes
            reason = Reason.CHANGED if others else Reason.DELETED
            notes = (
                *(["deleted by the newest record of the key"] if deletes else []),
                *([f"the newest record has another value than {wanted}"] if others else []),
            )
            shown = self.rows.records_of_changes(newest)
        line = OperatorLine(
            f"Scan {scan.table.name}", (records,), output, notes, reason, shown, is_scan=True
        )
        self.lines.append(line)
        return output

    def _newest_versions(self, scan: Scan, matching: DataFrame) -> DataFrame:
        """Return the newest change of each row that has matching changes."""
        key = scan.table.schema.primary_key
        if not key:
            return matching.orderBy(*(F.col(name).desc() for name in ORDER)).limit(1)
        named = [f"{quote(k)} AS __key_{n}" for n, k in enumerate(key)]
        keys = matching.selectExpr(*named).distinct()
        equal = " AND ".join(f"{quote(k)} <=> __key_{n}" for n, k in enumerate(key))
        changes = self.rows.stored.changes(scan).join(F.broadcast(keys), F.expr(equal), "left_semi")
        packed = changes.selectExpr(
            *named, "struct(*) AS __change", f"struct({', '.join(ORDER)}) AS __order"
        )
        last = packed.groupBy(*(f"__key_{n}" for n in range(len(key)))).agg(
            F.expr("max_by(__change, __order)").alias("__change")
        )
        return last.selectExpr("__change.*")
