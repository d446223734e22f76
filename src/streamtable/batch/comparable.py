"""Spark SQL of values that can be compared: Spark compares no maps, and merges both zeros."""

from __future__ import annotations

from streamtable.core.types import APPROXIMATE, DataType, Root, quote


def comparable(sql: str, kind: DataType) -> str:
    """Return Spark SQL of a value that is equal for equal values: maps as sorted entries.

    Args:
        sql: the value.
        kind: its type.
    """
    return _deep(sql, kind, (), 0)


def identity(sql: str, kind: DataType) -> str:
    """Return Spark SQL of a value that is equal for equal bytes only.

    -0.0 and 0.0 are two keys of a topic, and two rows of a changelog. Spark's groups and partitions
    merge them. FLOAT and DOUBLE are therefore texts, which are equal for equal bytes and for NaN.

    Args:
        sql: the value.
        kind: its type.
    """
    return _deep(sql, kind, APPROXIMATE, 0)


def _deep(sql: str, kind: DataType, as_text: tuple[Root, ...], depth: int) -> str:
    """Return Spark SQL of a value without maps, and with values of some types as texts.

    `depth` is the number of enclosing lambdas, which makes their variables unique.
    """
    if kind.root in as_text:
        return f"CAST({sql} AS STRING)"
    if not kind.holds(Root.MAP, Root.MULTISET, *as_text):
        return sql
    each = f"__x{depth}"
    if kind.root in (Root.MAP, Root.MULTISET):
        # The order of the entries of a map has no meaning.
        is_map = kind.root is Root.MAP
        key, value = (kind.key, kind.element) if is_map else (kind.element, None)
        parts = [
            _deep(f"{each}.{name}", part, as_text, depth + 1) if part else f"{each}.{name}"
            for name, part in (("key", key), ("value", value))
        ]
        entries = f"transform(map_entries({sql}), {each} -> struct({', '.join(parts)}))"
        return f"array_sort({entries})"
    if kind.root is Root.ARRAY and kind.element is not None:
        return f"transform({sql}, {each} -> {_deep(each, kind.element, as_text, depth + 1)})"
    parts = [_deep(f"{sql}.{quote(f.name)}", f.type, as_text, depth) for f in kind.fields]
    return f"if(isnull({sql}), NULL, struct({', '.join(parts)}))"


def holds_map(kind: DataType) -> bool:
    """Return whether a type is a map or contains one."""
    return kind.holds(Root.MAP, Root.MULTISET)
