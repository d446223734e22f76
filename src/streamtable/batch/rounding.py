"""Columns with sums of FLOAT or DOUBLE, whose last digits depend on the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from streamtable.batch.aggregates import Aggregate, rounded_results
from streamtable.core.types import APPROXIMATE, DataType
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.node import Node
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rows.expand import Expand
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.plan.window.window_top_n import WindowTopN

#: Takes an operator that decides by a rounded value.
Note = Callable[[Node], None]


def rounded_fields(node: Node, note: Note) -> frozenset[str]:
    """Return the fields of an operator with rounded values.

    Args:
        node: the operator.
        note: takes each operator that filters, groups, joins or sorts by a rounded value: the last
            digit of such a value may decide about rows.
    """
    below = [rounded_fields(child, note) for child in node.inputs]
    found: frozenset[str] = frozenset().union(*below)
    match node:
        case Calc():
            return _calc(node, found, note)
        case GroupAggregate() | WindowAggregate():
            return rounded_results(node) | _aggregate(node, found, note)
        case PairNode():
            read = {*node.left_keys, *node.right_keys, *node.condition_fields}
            return _passed(node, found, read, note)
        case TopN() | WindowTopN():
            read = {*node.partition, *(key.field for key in node.order)}
            if found and not (isinstance(node, TopN) and node.ties):
                read |= found  # rows that tie have the order of all columns
            return _passed(node, found, read, note)
        case LookupJoin():
            return _passed(node, found, node.condition_fields, note)
        case Expand():
            return _passed(node, found, node.array_fields, note)
        case _:
            return _passed(node, found, (), note)


def _calc(node: Calc, found: frozenset[str], note: Note) -> frozenset[str]:
    rounded = set()
    if found & node.condition_fields:
        note(node)
    for projection in node.projections:
        if not projection.reads & found:
            continue
        rounded.add(projection.field.name)
        if projection.source is None and not _is_approximate(projection.field.type):
            note(node)
    return frozenset(rounded)


def _aggregate(node: Aggregate, found: frozenset[str], note: Note) -> frozenset[str]:
    if found & set(node.keys):
        note(node)
    rounded = set()
    for call in node.calls:
        if not found & call.fields:
            continue
        rounded.add(call.output.name)
        if call.filter in found or call.distinct or call.function not in ("SUM", "AVG"):
            note(node)
    return frozenset(rounded | (found & set(node.keys)))


def _passed(node: Node, found: frozenset[str], read: Iterable[str], note: Note) -> frozenset[str]:
    if found & frozenset(read):
        note(node)
    return found & {f.name for f in node.fields}


def _is_approximate(kind: DataType) -> bool:
    return kind.root in APPROXIMATE
