"""`JOIN dim FOR SYSTEM_TIME AS OF l.proctime` over a table that does not change -> `LookupJoin`.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Lookup Join*.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.plan.conditions import Part, all_of
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, Node
from streamtable.plan.relation import Relation
from streamtable.plan.source_nodes import StaticTable, Values
from streamtable.plan.stateful_nodes import JoinKind


def is_static(node: Node) -> bool:
    """Whether a tree reads no topic and keeps nothing."""
    leaf = isinstance(node, Values | StaticTable)
    return leaf or (isinstance(node, Calc) and is_static(node.input))


def lookup_join(
    left: Relation, right: Relation, kind: JoinKind, parts: Sequence[Part]
) -> LookupJoin:
    """The rows of the left relation, which are only added, with what the right one has for them.

    Args:
        left: its fields have other names than those of the right one.
        right: a table that does not change.
        kind: inner or left.
        parts: the condition of ON.
    """
    condition = all_of(parts)
    return LookupJoin(
        left.node,
        right.node,
        kind,
        condition.sql if condition else None,
        condition.fields if condition else frozenset(),
    )
