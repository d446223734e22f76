"""Which fields identify the rows of a node, and by which of them its changes come in order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import product

from streamtable.core.types import INTEGERS, Field, quote
from streamtable.plan.arrival_nodes import ArrivalOver
from streamtable.plan.expand_node import Expand
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import (
    Calc,
    EventTimeNode,
    GroupAggregate,
    Node,
    Projection,
    UnionAll,
)
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.source_nodes import Key, Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, JoinKind, Materialize, Repeat, TopN
from streamtable.plan.time_joins import WindowJoin
from streamtable.plan.time_nodes import TimeOperator, WatermarkAssigner, WindowTable

#: No plan needs more, and their number grows fast with columns that are selected twice.
_MOST_KEYS = 16
#: An integer, or a text without escapes.
_LITERAL = re.compile(r"\d+|\(-\d+\)|'[^'\\]*'")


def unique_keys(node: Node) -> tuple[Key, ...]:
    """Every set of fields that no two rows share the values of; best known first.

    An empty key: there is at most one row.
    """
    return _keys(node, ordered=False)


def ordered_keys(node: Node) -> tuple[Key, ...]:
    """The unique keys by which a consumer may replace rows.

    All changes of one value come through one task, deletes before what replaces them, and the two
    rows of an update have the same value. A key of a join is not one of them where it lacks the
    join's own key: a row that moves to another join key moves to another task.
    """
    return _keys(node, ordered=True)


def _keys(node: Node, *, ordered: bool) -> tuple[Key, ...]:
    match node:
        case Scan():
            key = node.table.schema.primary_key
            return (key,) if key and not node.mode.is_append else ()
        case Normalize() | Materialize():
            return (node.key,)
        case GroupAggregate():
            return (node.keys,)
        case Calc():
            found = (k for key in _keys(node.input, ordered=ordered) for k in _renamed(key, node))
            return _distinct(found)
        case Join():
            return _ordered_of_join(node) if ordered else _of_join(node)
        case Expand():
            return () if ordered else node.keys(unique_keys(node.input))
        case TopN():
            return _of_top_n(node, ordered=ordered)
        case Values():
            return _of_values(node)
        case TimeOperator():
            return _in_time(node, ordered=ordered)
        case StaticTable() | UnionAll() | Repeat():
            return ()


def _in_time(
    node: EventTimeNode,
    *,
    ordered: bool,
) -> tuple[Key, ...]:
    match node:
        case LookupJoin():
            return _of_lookup(node, ordered=ordered)
        case WatermarkAssigner() | OverAggregate() | ArrivalOver():
            return _keys(node.input, ordered=ordered)
        case SortedOver() if ordered:
            found = _keys(node.input, ordered=True)
            return tuple([k for k in found if set(node.partition) <= set(k)][:1])
        case SortedOver():
            return _keys(node.input, ordered=False)
        case WindowTable():
            # A row is once in each window.
            below = _keys(node.input, ordered=ordered)
            return tuple((*key, node.start, node.end) for key in below)
        case WindowJoin():
            # Rows are only added, so that every key is one by which a consumer may replace.
            return _of_join(node)
        case _:
            return node.keys_of_its_own


def _of_values(node: Values) -> tuple[Key, ...]:
    """Each field that holds another literal in every row."""
    if len(node.rows) == 1:
        return ((),)
    columns = zip(node.fields, zip(*node.rows, strict=True), strict=True)
    return tuple((f.name,) for f, texts in columns if _are_distinct(texts))


def _are_distinct(texts: Sequence[str]) -> bool:
    """Whether these are literals of one type whose values differ as their texts do."""
    return len(set(texts)) == len(texts) and all(map(_LITERAL.fullmatch, texts))


def _of_lookup(node: LookupJoin, *, ordered: bool) -> tuple[Key, ...]:
    """Those of the input where no row finds several; else with a key of what is found."""
    below = _keys(node.input, ordered=ordered)
    if node.single:
        return below
    found = product(below, unique_keys(node.table))
    return () if ordered else _distinct((*own, *theirs) for own, theirs in found)


def _renamed(key: Key, node: Calc) -> Iterable[Key]:
    """The key under each set of names that a projection gives its fields."""
    fields = {f.name: f for f in node.input.fields if f.name in key}
    if len(fields) < len(set(key)):
        return ()
    names = [
        [p.field.name for p in node.projections if _stands_for(p, fields[name])] for name in key
    ]
    return product(*names)


def _stands_for(column: Projection, field: Field) -> bool:
    """Whether a column has another value for each of a field's: it is that, or a wider integer.

    Flink's planner keeps keys through every implicit cast; BIGINT to FLOAT makes two values one.
    """
    if column.source == field.name:
        return True
    roots = (field.type.root, column.field.type.root)
    if not set(roots) <= set(INTEGERS) or INTEGERS.index(roots[0]) > INTEGERS.index(roots[1]):
        return False
    return column.sql == f"CAST({quote(field.name)} AS {column.field.type.spark_sql()})"


def _of_join(node: Join | WindowJoin) -> tuple[Key, ...]:
    left, right = unique_keys(node.left), unique_keys(node.right)
    return _distinct(
        variant for key in _combined(node, left, right) for variant in _variants(key, node)
    )


def _ordered_of_join(node: Join) -> tuple[Key, ...]:
    """Those that hold the join key, of inputs whose changes come in order themselves.

    Updates are paired by the first of them, so that the others must mean the same.
    """
    found = _combined(node, ordered_keys(node.left), ordered_keys(node.right))
    held = [key for key in found if _holds_join_key(set(key), node)]
    return _distinct(_variants(held[0], node)) if held else ()


def _holds_join_key(key: set[str], node: Join) -> bool:
    """Whether rows of one value of the key always share a join key, partners missing or not."""
    by_left, by_right = set(node.left_keys) <= key, set(node.right_keys) <= key
    if node.kind.left_only:
        return by_left
    if node.kind is JoinKind.INNER:
        return by_left or by_right
    return (by_left or not node.kind.pads_right) and (by_right or not node.kind.pads_left)


def _of_top_n(node: TopN, *, ordered: bool) -> tuple[Key, ...]:
    """The place in a partition is a key, as is what identifies a row of the input."""
    own: list[Key] = []
    if node.limit == 1:
        own.append(node.partition)
    elif node.rank is not None:
        own.append((*node.partition, node.rank.name))
    if not ordered:
        return _distinct([*own, *unique_keys(node.input)])
    held = [k for k in ordered_keys(node.input) if set(node.partition) <= set(k)]
    return tuple([*own, *held][:1])


def _combined(node: Join | WindowJoin, left: Iterable[Key], right: Iterable[Key]) -> list[Key]:
    """Keys of a join out of keys of its inputs.

    Where a row meets one row at most, its own key is enough, unless the join also gives rows in
    which that key is NULL for want of a partner.
    """
    if node.kind.left_only:
        return list(left)
    one_right = is_single(node.right, node.right_keys)
    one_left = is_single(node.left, node.left_keys)
    found: list[Key] = []
    if one_right and not node.kind.pads_left:
        found.extend(left)
    if one_left and not node.kind.pads_right:
        found.extend(right)
    for one, other in product(left, right):
        # In a full join either part may be missing; were both NULL of themselves, two rows would
        # look alike.
        told_apart = _never_null(one, node.left) or _never_null(other, node.right)
        if node.kind is not JoinKind.FULL or told_apart:
            found.append((*one, *other))
    return found


def _never_null(key: Key, node: Node) -> bool:
    """Whether some field of the key holds a value in every row."""
    return any(f.name in key and not f.type.nullable for f in node.fields)


def side_key(node: Node, join_key: Key) -> Key | None:
    """The fields by which a join tells the rows of one join key apart.

    Empty: there is one at most. None: equal rows may come twice, or out of order.
    """
    known = ordered_keys(node)
    if any(set(key) <= set(join_key) for key in known):
        return ()
    return min(known, key=len, default=None)


def upsert_key(node: Node, join_key: Key) -> Key | None:
    """The fields that identify the rows of upserts which a join may take as they are.

    That is so for an upsert scan, projected and filtered, whose primary key decides what the join
    key is: then all versions of a row, and its delete, come to the same place. None for all else.
    """
    if node.mode.is_append or node.mode.has_before:
        return None
    decided = decided_by_key(node)
    there = {f.name for f in node.fields if not f.type.nullable}
    if decided is None or not set(join_key) <= decided & there:
        return None
    return next(iter(ordered_keys(node)), None)


def decided_by_key(node: Node) -> frozenset[str] | None:
    """The fields that a scan's primary key alone decides; None for more than a filtered scan."""
    match node:
        case Scan():
            return frozenset(node.table.schema.primary_key)
        case Calc():
            below = decided_by_key(node.input)
            return None if below is None else frozenset(decided_fields(node, below))
        case _:
            return None


def decided_fields(node: Calc, below: Collection[str]) -> list[str]:
    """The fields of a projection that are computed from these fields of its input and no others."""
    return [
        p.field.name
        for p in node.projections
        if p.constant or (p.reads and p.reads <= frozenset(below))
    ]


def is_single(node: Node, fields: Key) -> bool:
    """Whether these fields identify a row of the node."""
    return any(set(key) <= set(fields) for key in unique_keys(node))


def _variants(key: Key, node: Join | WindowJoin) -> Iterable[Key]:
    """The key itself, then with fields that an inner join makes equal in each other's place."""
    if node.kind is not JoinKind.INNER:
        return [key]
    partners: dict[str, str] = {}
    for left, right in node.keys:
        partners.setdefault(left, right)
        partners.setdefault(right, left)
    return product(*([name, partners[name]] if name in partners else [name] for name in key))


def _distinct(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Each set of fields once, in the order in which they came."""
    found: dict[frozenset[str], Key] = {}
    for key in keys:
        found.setdefault(frozenset(key), tuple(dict.fromkeys(key)))
        if len(found) == _MOST_KEYS:
            break
    return tuple(found.values())


def constants(node: Node) -> frozenset[str]:
    """The fields of a node that have the same value in every row."""
    if isinstance(node, Values) and len(node.rows) == 1:
        return frozenset(f.name for f in node.fields)
    if not isinstance(node, Calc):
        return frozenset()
    below = constants(node.input)
    return frozenset(p.field.name for p in node.projections if p.constant or p.source in below)
