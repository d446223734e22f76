"""Unique keys of a node, and the ordered keys by which its changes arrive in order."""

from __future__ import annotations

from collections.abc import Iterable

from streamtable.plan.node import Key, Node

#: Maximum number of keys per node. No plan needs more, and the number grows fast with columns that
#: are selected twice.
_MOST_KEYS = 16


def unique_keys(node: Node) -> tuple[Key, ...]:
    """Return the field sets that identify a row of the node, best known first.

    An empty key means that there is at most one row.
    """
    return _remembered(node, ordered=False)


def ordered_keys(node: Node) -> tuple[Key, ...]:
    """Return the unique keys by which a consumer may replace rows.

    An ordered key has these properties:

    - One task emits all changes of a key value, and deletes precede the rows that replace them.
    - The two rows of an update have the same key value, and are neighbours.

    A key of a join that does not contain the join key is not ordered: a row whose join key changes
    moves to another task. Neither is a key that rests on a key of an input that is not ordered.
    """
    return _remembered(node, ordered=True)


def _remembered(node: Node, *, ordered: bool) -> tuple[Key, ...]:
    """Return the keys of a node, computed once and cached.

    A join reads the keys of its inputs several times, and these inputs do the same recursively.
    Without the cache, a chain of 40 joins would take days.
    """
    name = "_ordered_keys" if ordered else "_unique_keys"
    known: tuple[Key, ...] | None = node.__dict__.get(name)
    if known is None:
        known = node.__dict__[name] = node.row_keys(ordered=ordered)
    return known


def is_single(node: Node, fields: Key) -> bool:
    """Return whether these fields identify a row of the node."""
    return has_key(unique_keys(node), fields)


def has_key(keys: Iterable[Key], fields: Key) -> bool:
    """Return whether the fields contain one of the keys."""
    return any(set(key) <= set(fields) for key in keys)


def side_key(node: Node, join_key: Key) -> Key | None:
    """Return the fields that distinguish the rows of one join key on one side of a join.

    Empty: a join key has at most one row. None: equal rows may occur twice, or out of order.
    """
    known = ordered_keys(node)
    if has_key(known, join_key):
        return ()
    return min(known, key=len, default=None)


def removal_key(node: Node, *, expires: bool) -> Key | None:
    """Return the unique key by which a retraction removes a row if no equal row is stored.

    The last row of an unordered key may arrive before the retraction of the row that it replaces.
    If that row has expired, the retraction must not remove the last one.

    Args:
        node: the input of an operator that keeps its rows.
        expires: whether rows expire.
    """
    known = ordered_keys(node) or (() if expires else unique_keys(node))
    return min(known, key=len, default=None)


def upsert_key(node: Node, join_key: Key) -> Key | None:
    """Return the key of upserts that a join can read without a normalizer.

    A join can do so for an upsert scan, projected and filtered, whose primary key determines the
    join key. Then all versions of a row and its delete arrive at the same task. None for all other
    inputs.
    """
    if node.mode.is_append or node.mode.has_before:
        return None
    decided = node.decided_by_key()
    there = {f.name for f in node.fields if not f.type.nullable}
    if decided is None or not set(join_key) <= decided & there:
        return None
    return next(iter(ordered_keys(node)), None)


def distinct(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Remove duplicate keys; a key is a set of fields, and the order of keys is kept."""
    found: dict[frozenset[str], Key] = {}
    for key in keys:
        found.setdefault(frozenset(key), tuple(dict.fromkeys(key)))
        if len(found) == _MOST_KEYS:
            break
    return tuple(found.values())


def listed(key: Key) -> str:
    """Format a key."""
    return f"({', '.join(key)})"


def by(key: Key) -> str:
    """Format the grouping fields of an operator for EXPLAIN."""
    return f"by {listed(key)}" if key else "over all rows"
