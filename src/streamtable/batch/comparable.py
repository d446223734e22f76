"""Spark SQL of values that can be compared: Spark compares no maps."""

from __future__ import annotations

from streamtable.core.types import DataType, Root, quote


def comparable(sql: str, kind: DataType, depth: int = 0) -> str:
    """Return Spark SQL of a value that is equal for equal values: maps as sorted entries.

    Args:
        sql: the value.
        kind: its type.
        depth: number of enclosing lambdas, which makes their variables unique.
    """
    if not holds_map(kind):
        return sql
    each = f"__x{depth}"
    if kind.root in (Root.MAP, Root.MULTISET):
        # The order of the entries of a map has no meaning. Keys of maps are no maps.
        element = comparable(f"{each}.value", kind.element, depth + 1) if kind.element else ""
        value = element if kind.root is Root.MAP else f"{each}.value"
        entries = f"transform(map_entries({sql}), {each} -> struct({each}.key, {value}))"
        return f"array_sort({entries})"
    if kind.root is Root.ARRAY and kind.element is not None:
        return f"transform({sql}, {each} -> {comparable(each, kind.element, depth + 1)})"
    parts = [comparable(f"{sql}.{quote(f.name)}", f.type, depth) for f in kind.fields]
    return f"if(isnull({sql}), NULL, struct({', '.join(parts)}))"


def holds_map(kind: DataType) -> bool:
    """Return whether a type is a map or contains one."""
    return kind.holds(Root.MAP, Root.MULTISET)
