"""Parts of EXPLAIN that several operators show."""

from __future__ import annotations

from streamtable.plan.binding.bound import text_literal
from streamtable.plan.nodes import AggregateCall
from streamtable.plan.stateful_nodes import SortKey


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
