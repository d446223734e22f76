"""Access to rows, arrays and maps: `r.x`, `a[1]` (counted from 1), `m['k']`."""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.types import CHARACTER, INT, INTEGERS, Root, quote
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.casts import implicit_cast


def field_of(value: Bound, name: str, at: Span | None) -> Bound:
    """Return field `value.name` of a ROW; NULL if the row is NULL.

    Raises:
        StreamtableError: UNKNOWN_COLUMN if the value has no such field.
    """
    for field in value.type.fields:
        if field.name == name:
            kind = field.type.with_nullable(field.type.nullable or value.type.nullable)
            found = derived(f"{value.sql}.{quote(name)}", kind, (value,))
            path = value.path
            return found if path is None else replace(found, paths=frozenset({(*path, name)}))
    names = [field.name for field in value.type.fields]
    raise StreamtableError(
        Condition.UNKNOWN_COLUMN,
        at=at,
        hint=closest(name, names) or f"the value is a {value.type.sql()}",
        column=name,
    )


def item_of(value: Bound, index: Bound, at: Span | None) -> Bound:
    """Return item `value[index]` of an ARRAY, a MAP or a ROW; NULL if there is no such item.

    The index of a ROW is a literal: the name of a field, or its number from 1.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for an index of another type, a constant below 1, or a
            field number that a ROW does not have; UNKNOWN_COLUMN.
    """
    if value.type.fields:
        return _field_at(value, index, at)
    if value.type.root is Root.ARRAY and value.type.element is not None:
        if index.type.root not in INTEGERS or _below_one(index):
            raise _mismatch(index, at, "an array's item", "an index that counts from 1")
        # `get` counts from 0. It returns NULL for an index outside the array and does not fail.
        sql = f"get({value.sql}, CAST({index.sql} AS {INT.spark_sql()}) - 1)"
        return derived(sql, value.type.element.with_nullable(True), (value, index))
    if value.type.root is Root.MAP and value.type.key is not None and value.type.element:
        wanted = value.type.key
        texts = {wanted.root, index.type.root} <= CHARACTER
        key = index if texts else implicit_cast(index, wanted)
        if key is None:
            raise _mismatch(index, at, "a map's item", f"a key that is {wanted.sql()}")
        sql = f"element_at({value.sql}, {key.sql})"
        return derived(sql, value.type.element.with_nullable(True), (value, index))
    raise _mismatch(value, at, "[ ]", "an ARRAY, a MAP or a ROW before it")


def _field_at(value: Bound, index: Bound, at: Span | None) -> Bound:
    if isinstance(index.constant, str):
        return field_of(value, index.constant, at)
    count = len(value.type.fields)
    number = index.constant if isinstance(index.constant, int) else 0
    if not 1 <= number <= count:
        expected = f"a literal: the name of a field, or a number from 1 to {count}"
        raise _mismatch(index, at, "a row's field", expected)
    return field_of(value, value.type.fields[number - 1].name, at)


def peeked(value: Bound, name: str, at: Span | None) -> list[Bound]:
    """Return the fields of a name within a ROW, at any depth of rows.

    In Flink a name without its ROW finds a nested field (Calcite's `PEEK_FIELDS_NO_EXPAND`).
    """
    found: list[Bound] = []
    for field in value.type.fields:
        inner = field_of(value, field.name, at)
        found += [inner] if field.name == name else peeked(inner, name, at)
    return found


def _below_one(index: Bound) -> bool:
    return isinstance(index.constant, int) and index.constant < 1


def _mismatch(found: Bound, at: Span | None, function: str, expected: str) -> StreamtableError:
    shown = found.type.sql() if found.constant is None else str(found.constant)
    return StreamtableError(
        Condition.ARGUMENT_MISMATCH, at=at, function=function, expected=expected, found=shown
    )
