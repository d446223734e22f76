"""Plan lookup joins: `JOIN dim FOR SYSTEM_TIME AS OF l.proctime` over a static table.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Lookup Join*.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.core.types import Field, Root, quote
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.keys import is_single, ordered_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.query.conditions import Part, all_of
from streamtable.plan.query.relation import Relation

#: Types whose values stay distinct in a cast to BIGINT.
_INTEGERS = frozenset({Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT})


def lookup_join(left: Relation, right: Relation, kind: JoinKind, parts: Sequence[Part]) -> Node:
    """Join the rows of the left relation with the matching rows of the right one.

    Args:
        left: its field names differ from those of the right relation.
        right: a static table.
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
    return node.with_updates()


def _equal_fields(left: Node, right: Node, parts: Sequence[Part]) -> Key:
    """Return the fields of the table that must equal a value of the input."""
    names = [frozenset(f.name for f in node.fields) for node in (left, right)]
    sides = filter(None, (part.across(*names) for part in parts))
    equal = {theirs.sql for _, theirs in sides}
    return tuple(f.name for f in right.fields if equal.intersection(_texts(f)))


def _texts(field: Field) -> tuple[str, ...]:
    """Return the field as an operand, and as a cast to a wider type that keeps values distinct."""
    name = quote(field.name)
    return (name, f"CAST({name} AS BIGINT)") if field.type.root in _INTEGERS else (name,)
