"""Plans as text: one line a node, read from the sink down; the same text every time."""

from __future__ import annotations

from collections.abc import Iterable

from streamtable.core.changelog import RETRACT
from streamtable.core.table import Watermark
from streamtable.core.types import quote
from streamtable.plan.expand_node import Expand
from streamtable.plan.explain_parts import describe_call, kept, sort_key
from streamtable.plan.explain_time import describe_in_time
from streamtable.plan.keys import side_key, unique_keys
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, Collect, GroupAggregate, Node, Root, Sink, UnionAll
from streamtable.plan.real_time import obstacle, own_obstacle
from streamtable.plan.repeats import not_repeated
from streamtable.plan.source_nodes import Key, Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_nodes import TimeOperator, WatermarkAssigner


def explain(plan: Root, *, changeable: bool = True) -> str:
    """The plan with what each node does, the row kinds it makes and the key of its rows.

    An upsert scan that feeds no `ChangelogNormalize` says so, because that is state saved. An
    operator that real-time mode does not take says so, and why, and so does a sink that auto mode
    does not write there: one of every change, which a start cannot take back to its checkpoint.

    Args:
        plan: of an INSERT or a SELECT.
        changeable: whether the text tells what a job may change and go on with its state: modes,
            and how long state that expires is kept.
    """
    lines = [_shown(plan) if isinstance(plan, Collect) else _written(plan, changeable=changeable)]
    _add(lines, plan.input, 1, None, changeable=changeable)
    return "\n".join(lines)


def _shown(plan: Collect) -> str:
    columns = ", ".join(f"{quote(c.name)} {c.type}" for c in plan.columns)
    return f"Collect {columns}  takes {RETRACT}"


def _written(sink: Sink, *, changeable: bool) -> str:
    connector = sink.table.connector
    key = f", key ({', '.join(sink.key)})" if sink.key else ""
    not_null = f", checks NOT NULL of ({', '.join(sink.not_null)})" if sink.not_null else ""
    line = f"Sink {sink.table.name}: {connector.describe()}{key}{not_null}"
    line += f"  takes {connector.writes}"
    left = not_repeated(sink.input) if changeable and connector.writes.has_before else None
    if left is not None and obstacle(sink.input) is None:
        line += f"  not real-time in auto mode: a crash might leave a row of {left}"
    return line


def _add(
    lines: list[str], node: Node, depth: int, normalized: str | None, *, changeable: bool
) -> None:
    """Adds a node and those below it; `normalized` names what knows the rows before upserts."""
    known = unique_keys(node)
    least = [key for key in known if not any(set(other) < set(key) for other in known)]
    keys = [f"({', '.join(key)})" for key in least]
    key = f"  key {' or '.join(keys)}" if keys else ""
    if keys == ["()"]:
        key = "  one row"
    reason = own_obstacle(node) if changeable else None
    not_real_time = f"  not in real-time mode: {reason}" if reason else ""
    what = _headline(node, normalized) + kept(node, changeable=changeable)
    line = f"{what}  makes {node.mode}{key}{not_real_time}"
    lines.append("  " * depth + line)
    for child, below in zip(node.inputs, _normalizers(node, normalized), strict=True):
        _add(lines, child, depth + 1, below, changeable=changeable)
    if isinstance(node, LookupJoin):
        _add(lines, node.table, depth + 1, None, changeable=False)


def _normalizers(node: Node, above: str | None) -> Iterable[str | None]:
    match node:
        case Normalize():
            return ["ChangelogNormalize"]
        case Join():
            upserts = (node.left_upserts, node.right_upserts)
            return ["the join" if key is not None else None for key in upserts]
        case Calc() | WatermarkAssigner():
            return [above]
        case _:
            return [None for _ in node.inputs]


def _headline(node: Node, normalized: str | None) -> str:  # noqa: C901 - a case for each node
    match node:
        case Scan():
            return _scan(node, normalized)
        case Values():
            return _values(node)
        case StaticTable():
            return f"StaticTable {node.name}: reads ({', '.join(f.name for f in node.fields)})"
        case Normalize():
            return f"ChangelogNormalize by ({', '.join(node.key)})"
        case Calc():
            return _calc(node)
        case Expand():
            made = ", ".join(f.name for f in node.made)
            return f"{node.what} {node.array} AS ({made}){', or NULLs' if node.outer else ''}"
        case GroupAggregate():
            by = f"by ({', '.join(node.keys)})" if node.keys else "of everything"
            calls = ", ".join(describe_call(call) for call in node.calls)
            order = f", in the order of ({', '.join(node.order)})" if node.order else ""
            return f"GroupAggregate {by}{': ' + calls if calls else ''}{order}"
        case UnionAll():
            return "Union"
        case Join():
            return _join(node)
        case TopN():
            return _top_n(node)
        case Repeat():
            return f"Repeat as often as {node.count} says"
        case Materialize():
            order = f", in the order of ({', '.join(node.order)})" if node.order else ""
            return f"Materialize by ({', '.join(node.key)}){order}"
        case TimeOperator():
            return describe_in_time(node)


def _scan(node: Scan, normalized: str | None) -> str:
    columns = ", ".join(f.name for f in node.fields)
    text = f"Scan {node.table.name}: {node.table.connector.describe()}, reads ({columns})"
    if node.table.schema.watermark:
        text += f", {_watermark(node.table.schema.watermark)}"
    upserts = not node.mode.is_append and not node.mode.has_before
    if upserts and normalized is None:
        text += ", not normalized: no consumer needs the row before"
    elif upserts and normalized != "ChangelogNormalize":
        text += f", not normalized: {normalized} keeps the row before"
    return text


def _values(node: Values) -> str:
    if not node.fields:
        return f"Values: {len(node.rows)} rows" if len(node.rows) > 1 else "Values: one row"
    names = ", ".join(f.name for f in node.fields)
    rows = ", ".join(f"({', '.join(row)})" for row in node.rows)
    return f"Values ({names}): {rows}"


def _calc(node: Calc) -> str:
    columns = ", ".join(
        p.field.name if p.source == p.field.name else f"{p.sql} AS {p.field.name}"
        for p in node.projections
    )
    paired = " of old and new row" if node.paired else ""
    deletes = ", deletes the others" if node.deletes else ""
    where = f", where{paired} {node.condition}{deletes}" if node.condition else ""
    return f"Calc {columns or 'nothing'}{where}"


def _join(node: Join) -> str:
    equal = " AND ".join(f"{left} = {right}" for left, right in node.keys)
    on = f"on {equal}" if equal else "of every pair, in one task"
    where = f", where {node.condition}" if node.condition else ""
    kept = ", ".join(
        f"{side} {_kept(child, keys)}{' of upserts' if upserts is not None else ''}"
        for side, child, keys, upserts in (
            ("left", node.left, node.left_keys, node.left_upserts),
            ("right", node.right, node.right_keys, node.right_upserts),
        )
    )
    return f"{node.kind.value} {on}{where}, keeps {kept}"


def _kept(node: Node, join_key: Key) -> str:
    """By what a join keeps the rows of one join key; more state the further down the list."""
    key = side_key(node, join_key)
    if key is None:
        return "every row"
    return f"by ({', '.join(key)})" if key else "one row"


def _top_n(node: TopN) -> str:
    by = f"by ({', '.join(node.partition)})" if node.partition else "of everything"
    order = ", ".join(map(sort_key, node.order))
    skip = f" after {node.skip}" if node.skip else ""
    rank = f" with {node.rank.name}" if node.rank else ""
    kept = "" if node.input.mode.is_append else ", keeps every row"
    if node.last:
        return f"Deduplicate {by}: the last row of {node.order[0].field}{rank}"
    return f"TopN {by}: {node.limit}{skip} of {order or 'any order'}{rank}{kept}"


def _watermark(watermark: Watermark) -> str:
    return f"watermark on {watermark.column}"
