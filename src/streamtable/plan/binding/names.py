"""Resolve names such as `a`, `t.a` and `t.a.b` to columns."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.types import quote
from streamtable.plan.binding.access import field_of, peeked
from streamtable.plan.binding.bound import Bound, Input, InputField, is_unnamed, whole

#: Maximum number of columns in a hint.
_FEW = 12


def column(inputs: Input, names: Sequence[str], at: Span | None) -> Bound:
    """Resolve the longest prefix of the names to a column; the rest are nested fields.

    Without such a column, the first name may be a field within a ROW, as in Flink.

    Raises:
        StreamtableError: UNKNOWN_COLUMN or AMBIGUOUS_COLUMN.
    """
    qualified = [f for f in inputs.fields if f.qualifier == names[0]]
    found = [f for f in qualified if len(names) > 1 and f.name == names[1]]
    rest = names[2:]
    if not found:
        found = [f for f in inputs.fields if f.name == names[0] and not f.merged]
        rest = names[1:]
    if not found:
        nested = _nested(inputs, qualified, names, at)
        if nested is None:
            raise _unknown(inputs, names, qualified, at)
        return nested
    if len(found) > 1:
        raise _ambiguous(found, at)
    value = input_field(found[0], at)
    for name in rest:
        value = field_of(value, name, at)
    return value


def _nested(
    inputs: Input, qualified: list[InputField], names: Sequence[str], at: Span | None
) -> Bound | None:
    """Resolve a name to the only field of this name within the ROW columns; None without one."""
    of_table = len(names) > 1 and bool(qualified)
    name, rest = (names[1], names[2:]) if of_table else (names[0], names[1:])
    found = [
        (column, value)
        for column in (qualified if of_table else inputs.fields)
        if column.field.type.fields and not column.merged
        for value in peeked(input_field(column, at), name, at)
    ]
    if len(found) > 1:
        raise StreamtableError(
            Condition.AMBIGUOUS_COLUMN,
            at=at,
            hint=f"write {found[0][0].name}.{name}",
            column=name,
            inputs=", ".join(dict.fromkeys(column.name for column, _ in found)),
        )
    if not found:
        return None
    value = found[0][1]
    for field in rest:
        value = field_of(value, field, at)
    return value


def _ambiguous(found: Sequence[InputField], at: Span | None) -> StreamtableError:
    """Return the error for a name of several columns, of one input or of several."""
    name = found[0].name
    qualifiers = list(dict.fromkeys(f.qualifier for f in found))
    named = [qualifier for qualifier in qualifiers if not is_unnamed(qualifier)]
    others = len(qualifiers) - len(named)
    other = "a subquery without alias" if others == 1 else "subqueries without alias"
    inputs = list(dict.fromkeys(str(q) if q in named else other for q in qualifiers))
    if len(qualifiers) == 1:
        return StreamtableError(
            Condition.DUPLICATE_COLUMN,
            at=at,
            hint="give the columns, or their inputs, different aliases",
            column=name,
            table=inputs[0],
        )
    return StreamtableError(
        Condition.AMBIGUOUS_COLUMN,
        at=at,
        hint=f"write {named[0]}.{name}" if named else "give the subqueries aliases",
        column=name,
        inputs=", ".join(inputs),
    )


def _unknown(
    inputs: Input, names: Sequence[str], qualified: list[InputField], at: Span | None
) -> StreamtableError:
    of_table = len(names) > 1 and bool(qualified)
    known = [f.name for f in (qualified if of_table else inputs.fields)]
    listed = f"there are {', '.join(known)}" if 0 < len(known) <= _FEW else None
    return StreamtableError(
        Condition.UNKNOWN_COLUMN,
        at=at,
        hint=closest(names[1] if of_table else names[0], known) or listed,
        column=".".join(names),
    )


def input_field(found: InputField, at: Span | None = None) -> Bound:
    """Return a column as an expression."""
    return Bound(
        quote(found.field.name),
        found.field.type,
        time_attribute=found.time_attribute,
        paths=whole([found.field.name]),
        at=at,
    )
