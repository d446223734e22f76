"""EXPLAIN: format a plan, one line per operator, from the sink down; the text is deterministic."""

from __future__ import annotations

from datetime import timedelta

from streamtable.core.changelog import RETRACT
from streamtable.core.durations import format_duration
from streamtable.core.types import quote
from streamtable.plan.keys import listed, unique_keys
from streamtable.plan.node import Node
from streamtable.plan.rules.real_time import obstacle
from streamtable.plan.rules.replay import replay_obstacle
from streamtable.plan.sink.reused_scan import only_in_batches, reused_scans
from streamtable.plan.sink.sink import Collect, Root, Sink


def explain(plan: Root, *, changeable: bool = True) -> str:
    """Format a plan: each node with its headline, its row kinds and the key of its rows.

    The text marks these cases:

    - An upsert scan that needs no `ChangelogNormalize`, because that saves state.
    - An operator that real-time mode cannot run, with the reason.
    - A scan that serves several places of the query, in a paragraph at the end.
    - A sink to which auto mode does not write in real-time mode: the sink keeps every change, and a
      start cannot roll it back to the checkpoint.

    Args:
        plan: plan of an INSERT or a SELECT.
        changeable: whether to show properties that a job may change without losing its state: modes
            and state TTLs.
    """
    lines = [_shown(plan) if isinstance(plan, Collect) else _written(plan, changeable=changeable)]
    _add(lines, plan.input, 1, None, changeable=changeable)
    if changeable and isinstance(plan, Sink):
        in_both = reused_scans(plan)
        found = in_both or reused_scans(only_in_batches(plan))
        where = "" if in_both else ", if it only runs in micro-batches"
        for reused in found:
            lines += ["", f"The query reads once{where}:", f"  {reused.scan.headline}"]
    return "\n".join(lines)


def _shown(plan: Collect) -> str:
    columns = ", ".join(f"{quote(c.name)} {c.type}" for c in plan.columns)
    return f"Collect {columns}  accepts {RETRACT}"


def _written(sink: Sink, *, changeable: bool) -> str:
    connector = sink.table.connector
    key = f", key ({', '.join(sink.key)})" if sink.key else ""
    not_null = f", checks NOT NULL of ({', '.join(sink.not_null)})" if sink.not_null else ""
    line = f"Sink {sink.table.name}: {connector.describe()}{key}{not_null}"
    line += f"  accepts {connector.writes}"
    if sink.deletes_before:
        line += ", UB deletes its key"
    left = replay_obstacle(sink.input) if changeable and connector.writes.has_before else None
    if left is not None and obstacle(sink.input) is None:
        line += f"  micro-batches in auto mode: a crash might leave a transient row of {left}"
    return line


def _add(
    lines: list[str], node: Node, depth: int, normalized: str | None, *, changeable: bool
) -> None:
    """Add the lines of a node and its inputs; `normalized` names the operator with the old rows."""
    known = unique_keys(node)
    least = [key for key in known if not any(set(other) < set(key) for other in known)]
    keys = [*map(listed, least)]
    key = f"  key {' or '.join(keys)}" if keys else ""
    if keys == ["()"]:
        key = "  one row"
    reason = node.obstacle() if changeable else None
    not_real_time = f"  not in real-time mode: {reason}" if reason else ""
    what = node.line(normalized) + _kept(node, changeable=changeable)
    line = f"{what}  emits {node.mode}{key}{not_real_time}"
    lines.append("  " * depth + line)
    for child, below in zip(node.inputs, node.normalizers(normalized), strict=True):
        _add(lines, child, depth + 1, below, changeable=changeable)
    for table in node.side_tables:
        _add(lines, table, depth + 1, None, changeable=False)


def _kept(node: Node, *, changeable: bool) -> str:
    """Format the state TTL of an operator; empty if state is kept as long as its rows exist.

    Args:
        node: any operator.
        changeable: whether to show the TTL itself.
    """
    texts = [_expiry(what, ttl, changeable) for what, ttl in node.kept_for if ttl is not None]
    return f", {', '.join(texts)}" if texts else ""


def _expiry(what: str, ttl: timedelta, changeable: bool) -> str:
    verb = "expire" if what.endswith("s") else "expires"
    return f"{what} {verb} after {format_duration(ttl)}" if changeable else f"{what} {verb}"
