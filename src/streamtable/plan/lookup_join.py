"""`JOIN dim FOR SYSTEM_TIME AS OF l.proctime` over a table that does not change -> `LookupJoin`.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Lookup Join*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamtable.core.types import Field, Root, quote
from streamtable.plan.conditions import Part, all_of
from streamtable.plan.keys import is_single, ordered_keys
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, Node, Projection
from streamtable.plan.relation import Relation
from streamtable.plan.source_nodes import Key, StaticTable, Values
from streamtable.plan.stateful_nodes import JoinKind

#: Types of which a cast to BIGINT keeps all values apart.
_INTEGERS = frozenset({Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT})


def is_static(node: Node) -> bool:
    """Whether a tree reads no topic and keeps nothing."""
    leaf = isinstance(node, Values | StaticTable)
    return leaf or (isinstance(node, Calc) and is_static(node.input))


def lookup_join(left: Relation, right: Relation, kind: JoinKind, parts: Sequence[Part]) -> Node:
    """The rows of the left relation with what the right one has for them.

    Args:
        left: its fields have other names than those of the right one.
        right: a table that does not change.
        kind: inner or left.
        parts: the condition of ON.
    """
    condition = all_of(parts)
    reads = condition.fields if condition else frozenset()
    decides = reads & {f.name for f in left.node.fields}
    node = LookupJoin(
        left.node,
        right.node,
        kind,
        condition.sql if condition else None,
        reads,
        single=is_single(right.node, _equal_fields(left.node, right.node, parts)),
        by_key=any(decides <= set(key) for key in ordered_keys(left.node)),
    )
    there = next((f.name for f in right.node.fields if not f.type.nullable), None)
    changes = node.single and not node.keeps_kinds and not left.node.mode.is_append
    return _found(node, there) if changes and there else node


def _found(node: LookupJoin, there: str) -> Calc:
    """An inner lookup of one row as a left one under a filter, which knows the halves of updates.

    before:  LookupJoin on a = x
    after:   Calc where x is not null <- LeftLookupJoin on a = x

    Args:
        node: the inner one.
        there: a field of the table that is never NULL.
    """
    kept = tuple(Projection(f, quote(f.name), f.name, frozenset({f.name})) for f in node.fields)
    padded = replace(node, kind=JoinKind.LEFT)
    return Calc(padded, kept, f"({quote(there)} IS NOT NULL)", frozenset({there}))


def _equal_fields(left: Node, right: Node, parts: Sequence[Part]) -> Key:
    """The fields of the table that must equal something of the input."""
    names = [frozenset(f.name for f in node.fields) for node in (left, right)]
    sides = filter(None, (part.across(*names) for part in parts))
    equal = {theirs.sql for _, theirs in sides}
    return tuple(f.name for f in right.fields if equal.intersection(_texts(f)))


def _texts(field: Field) -> tuple[str, ...]:
    """A field as an operand, and under a wider type that keeps its values apart."""
    name = quote(field.name)
    return (name, f"CAST({name} AS BIGINT)") if field.type.root in _INTEGERS else (name,)
