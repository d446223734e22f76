"""Parts of EXPLAIN that several operators show."""

from __future__ import annotations

from datetime import timedelta

from streamtable.core.durations import format_duration
from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.binding.bound import text_literal
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.nodes import AggregateCall, GroupAggregate, Node
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.source_nodes import Normalize
from streamtable.plan.stateful_nodes import Join, Materialize, SortKey, TopN
from streamtable.plan.time_joins import TemporalJoin


def sort_key(key: SortKey) -> str:
    """A column that rows are ordered by."""
    direction = "DESC" if key.descending else "ASC"
    return f"{key.field} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def describe_call(call: AggregateCall) -> str:
    """An aggregate with its argument and filter."""
    arguments = [call.argument or "*", *map(text_literal, call.parameters)]
    argument = ("DISTINCT " if call.distinct else "") + ", ".join(arguments)
    where = f" FILTER {call.filter}" if call.filter else ""
    return f"{call.function}({argument}){where} AS {call.output.name}"


def kept(node: Node, *, changeable: bool) -> str:
    """How long an operator keeps its state; nothing where that is as long as its rows live.

    Args:
        node: of any kind.
        changeable: whether the time itself is told.
    """
    match node:
        case Join():
            sides = (("left rows", node.left_ttl), ("right rows", node.right_ttl))
        case Normalize() | GroupAggregate() | TopN() | Materialize() | ArrivalDeduplicate():
            sides = (("state", node.ttl), ("", None))
        case Deduplicate() | OverAggregate() | SortedOver() | TemporalJoin():
            sides = (("state", node.ttl), ("", None))
        case ArrivalOver():
            sides = (("state", node.expiry), ("", None))
        case _:
            return ""
    texts = [_expiry(what, ttl, changeable) for what, ttl in sides if ttl is not None]
    return f", {', '.join(texts)}" if texts else ""


def _expiry(what: str, ttl: timedelta, changeable: bool) -> str:
    verb = "expire" if what.endswith("s") else "expires"
    return f"{what} {verb} after {format_duration(ttl)}" if changeable else f"{what} {verb}"
