"""Why an operator emits no row of a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from streamtable.core.types import BIGINT, Field, quote
from streamtable.plan.binding.bound import text_literal
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.node import Node
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.limit import Limit
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.calc import Calc
from streamtable.plan.window.window_top_n import WindowTopN
from streamtable.runtime.why.result import Reason, Record, limited
from streamtable.runtime.why.rows import KeyRows
from streamtable.runtime.why.sql_text import conjuncts, may_fail, plain, shown
from streamtable.runtime.why.trace import Below, Pin

#: Maximum number of values that a note lists.
_LISTED = 5
_LAST_RANK = 2**31 - 1


@dataclass(frozen=True)
class Dropped:
    """Why no row is left.

    Attributes:
        reason: the reason; None if rows are left.
        notes: details.
        records: the newest records of the dropped rows.
    """

    reason: Reason | None
    notes: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()


def name_of(node: Node) -> str:
    """Return a short name of an operator."""
    match node:
        case Calc():
            condition = node.condition
            return f"Calc {_shown(_joined(condition), node)}" if condition else "Calc"
        case PairNode():
            where = f", where {_shown(node.condition, node)}" if node.condition else ""
            return f"{node.kind.value} on {node.equal or 'no key'}{where}"
        case _:
            return plain(node.headline)


def dropped_by(
    node: Node, pins: Sequence[Pin], found: Sequence[Below], counts: Sequence[int], rows: KeyRows
) -> Dropped:
    """Return why an operator emits no row with the values of the pins.

    Args:
        node: the operator.
        pins: the pins of its output.
        found: the pins of its inputs.
        counts: number of rows of each input with the values of these pins; one is not 0.
        rows: computes the rows.
    """
    dropped = _waiting(node, pins, rows)
    if dropped is not None:
        return dropped
    match node:
        case Calc():
            dropped = _filtered(node, found[0], rows)
        case PairNode():
            return _unmatched(node, found, counts, rows)
        case TopN() | WindowTopN() | Deduplicate() | Limit():
            dropped = _ranked_out(node, found[0], rows)
    if dropped is not None:
        return dropped
    return _other_value(node, pins, found, rows) or _unknown(node, found, counts, rows)


def _joined(condition: str) -> str:
    return " AND ".join(conjuncts(condition))


def _filtered(node: Calc, found: Below, rows: KeyRows) -> Dropped | None:
    """Name the parts of a condition that are not true; None if all are true for a row."""
    if node.condition is None:
        return None
    parts = conjuncts(node.condition)
    taken = rows.of(node.input, found.pins, with_records=True)
    states = [f"{_state(parts, n)} AS __p{n}" for n in range(len(parts))]
    judged = taken.selectExpr(rows.carried.column, *states)
    names = [f"__p{n}" for n in range(len(parts))]
    totals = judged.selectExpr(*names).groupBy(*names).count().collect()
    if any(all(row[name] == "true" for name in names) for row in totals):
        return None
    notes = []
    for name, part in zip(names, parts, strict=True):
        counts = {
            state: sum(row["count"] for row in totals if row[name] == state)
            for state in ("false", "NULL")
        }
        said = [f"{state} for {number}" for state, number in counts.items() if number]
        if said:
            notes.append(f"`{_shown(part, node)}` is {' and '.join(said)}")
    whys = ", ".join(
        f"if({name} = 'true', NULL, concat({text_literal(f'`{_shown(part, node)}` is ')}, {name}))"
        for name, part in zip(names, parts, strict=True)
    )
    records = rows.records_of(judged, f"array_join(array({whys}), '; ')")
    return Dropped(Reason.FILTERED, tuple(notes), records)


def _state(parts: Sequence[str], number: int) -> str:
    """Return Spark SQL of `true`, `false` or `NULL` for a part of a condition.

    A part that may fail is not evaluated for rows that the parts before it drop.
    """
    part = parts[number]
    state = f"CASE WHEN ({part}) IS NULL THEN 'NULL' WHEN ({part}) THEN 'true' ELSE 'false' END"
    if not may_fail(part) or not number:
        return state
    before = " AND ".join(f"({p})" for p in parts[:number])
    return f"CASE WHEN {before} THEN {state} ELSE 'true' END"


def _shown(condition: str, node: Node) -> str:
    """Return a condition over the inputs of an operator, for messages."""
    return shown(condition, {f.name: f.type for child in node.inputs for f in child.fields})


def _unmatched(
    node: PairNode, found: Sequence[Below], counts: Sequence[int], rows: KeyRows
) -> Dropped:
    side = 0 if counts[0] else 1
    records = rows.records_of(rows.of(node.inputs[side], found[side].pins, with_records=True))
    if node.kind is JoinKind.ANTI and all(counts):
        return Dropped(Reason.MATCHED, ("every row of the left input has a match",), records)
    names = ("left", "right")
    if not all(counts):
        other = found[1 - side].pins
        wanted = f" with {' and '.join(pin.text for pin in other)}" if other else ""
        note = f"the {names[1 - side]} input has no row{wanted}"
        if not other and node.keys:
            note += "; the join key may be NULL"
    elif node.condition:
        note = f"the condition `{_shown(node.condition, node)}` is true for no pair"
    else:
        note = "no row of the left input has the join key of a row of the right input"
    return Dropped(Reason.UNMATCHED, (note,), records)


def _ranked_out(
    node: TopN | WindowTopN | Deduplicate | Limit, found: Below, rows: KeyRows
) -> Dropped | None:
    if isinstance(node, Deduplicate | Limit):
        taken = rows.of(node.input, found.pins, with_records=True)
        note = "other rows arrived first"
        if isinstance(node, Deduplicate):
            note = "another row of the partition is the first"
        return Dropped(Reason.RANKED_OUT, (note,), rows.records_of(taken))
    number = node.rank or Field("__rank", BIGINT)
    every: Node
    if isinstance(node, TopN):
        every = replace(node, limit=None, skip=0, rank=number)
    else:
        every = replace(node, limit=_LAST_RANK, skip=0, rank=number)
    ranked = rows.of(every, found.pins, with_records=True)
    first, last = node.skip + 1, node.skip + (node.limit or _LAST_RANK)
    name = quote(number.name)
    ranks = sorted(row[0] for row in ranked.selectExpr(name).distinct().collect())
    shown = limited([str(rank) for rank in ranks], _LISTED)
    if any(first <= rank <= last for rank in ranks):
        return None  # the key has another value of the rank
    note = f"the rows of the key have rank {shown}, and the ranks {first} to {last} are kept"
    why = f"concat('rank ', CAST({name} AS STRING))"
    return Dropped(Reason.RANKED_OUT, (note,), rows.records_of(ranked, why))


def _waiting(node: Node, pins: Sequence[Pin], rows: KeyRows) -> Dropped | None:
    """Return that rows wait for the watermark; None if the operator has no row without it."""
    if not node.waits or rows.watermark_ms is None:
        return None
    complete = replace(rows, watermark_ms=None).of(node, pins, with_records=True)
    records = rows.records_of(complete)
    if not records:
        return None
    moment = datetime.fromtimestamp(rows.watermark_ms / 1000, UTC)
    at = moment.isoformat(" ", "milliseconds").removesuffix("+00:00")
    note = f"the watermark of the job, {at} UTC, has not passed the row"
    return Dropped(Reason.WAITING, (note,), records)


def _other_value(
    node: Node, pins: Sequence[Pin], found: Sequence[Below], rows: KeyRows
) -> Dropped | None:
    """Return the values that columns have instead; None if they are not computed here."""
    lost = [pin for pin in pins if any(pin in each.lost for each in found)]
    if not lost:
        return None
    others = rows.of(node, [pin for pin in pins if pin not in lost], with_records=True)
    notes = []
    for pin in lost:
        texts = [f"CAST({column} AS STRING)" for column in pin.columns]
        values = others.selectExpr(f"array_join(array({', '.join(texts)}), ', ', 'NULL')")
        there = sorted(row[0] for row in values.distinct().limit(100).collect())
        if there:
            notes.append(f"{pin.text} in no row; the values are {limited(there, _LISTED)}")
    if not notes:
        return None
    return Dropped(Reason.OTHER_VALUE, tuple(notes), rows.records_of(others))


def _unknown(node: Node, found: Sequence[Below], counts: Sequence[int], rows: KeyRows) -> Dropped:
    side = next(place for place, number in enumerate(counts) if number)
    taken = rows.of(node.inputs[side], found[side].pins, with_records=True)
    return Dropped(Reason.DROPPED, (), rows.records_of(taken))
