"""Common types: what CASE, COALESCE, IN, arithmetic and comparison make of operands that differ.

Follows what Flink 2.2's planner answers (`tests/compat/functions.json`), which is Calcite's "least
restrictive type" with Flink's type system on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamtable.core.types import (
    APPROXIMATE,
    BYTES_ROOTS,
    CHARACTER,
    DOUBLE,
    FLOAT,
    INTEGERS,
    MAX_DECIMAL_PRECISION,
    NULL,
    NUMERIC,
    TIMESTAMPS,
    DataType,
    Field,
    Root,
    as_decimal,
    decimal,
    row,
)


def any_nullable(types: Sequence[DataType]) -> bool:
    """Whether any of the types admits NULL."""
    return any(t.nullable for t in types)


def precision_of(kind: DataType) -> int:
    """The precision or length of a type that must have one."""
    assert kind.precision is not None, kind  # noqa: S101
    return kind.precision


def scale_of(kind: DataType) -> int:
    """The scale of a DECIMAL."""
    assert kind.scale is not None, kind  # noqa: S101
    return kind.scale


def common_type(types: Sequence[DataType], *, merging: bool = False) -> DataType | None:
    """The type that holds the values of all types, nullable if any is; None where there is none.

    Args:
        types: at least one; untyped NULLs take the type of the others.
        merging: by the rule of Flink's own functions (`LogicalTypeMerging`: COALESCE, GREATEST)
            rather than Calcite's (CASE, IF, operators), which of FLOAT and DOUBLE, and of
            TIMESTAMP and TIMESTAMP_LTZ of one precision, takes the one that comes first.
    """
    known = [t for t in types if t.root is not Root.NULL]
    if not known:
        return NULL
    found: DataType | None = known[0]
    for other in known[1:]:
        found = _common(found, other, merging=merging) if found is not None else None
    return found.with_nullable(any_nullable(types)) if found is not None else None


def _common(left: DataType, right: DataType, *, merging: bool) -> DataType | None:
    nullable = left.nullable or right.nullable
    roots = {left.root, right.root}
    if left.same_shape(right):
        return left.with_nullable(nullable)
    if roots <= NUMERIC:
        return common_numeric(left, right, merging=merging)
    if roots <= CHARACTER:
        return _longer(left, right, Root.VARCHAR)
    if roots <= BYTES_ROOTS:
        return _longer(left, right, Root.VARBINARY)
    if roots <= TIMESTAMPS and merging:
        digits = max(precision_of(left), precision_of(right))
        instant = left if left.root is Root.TIMESTAMP_LTZ else right
        return replace(instant, precision=digits, nullable=nullable)
    if roots <= TIMESTAMPS:
        # Calcite keeps the kind of the more precise operand, of the first one where they tie.
        kept = right if precision_of(right) > precision_of(left) else left
        return kept.with_nullable(nullable)
    if len(roots) > 1:
        return None
    return _common_constructed(left, right, merging=merging)


def _common_constructed(left: DataType, right: DataType, *, merging: bool) -> DataType | None:
    nullable = left.nullable or right.nullable
    match left.root:
        case Root.TIME:
            digits = max(precision_of(left), precision_of(right))
            return replace(left, precision=digits, nullable=nullable)
        case Root.ARRAY | Root.MULTISET | Root.MAP:
            element = _common_part(left.element, right.element, merging=merging)
            key = _common_part(left.key, right.key, merging=merging)
            if element is None or (left.root is Root.MAP and key is None):
                return None
            return replace(left, element=element, key=key, nullable=nullable)
        case Root.ROW if len(left.fields) == len(right.fields):
            pairs = zip(left.fields, right.fields, strict=True)
            parts = [_common_part(a.type, b.type, merging=merging) for a, b in pairs]
            names = [field.name for field in left.fields]
            fields = [Field(n, p) for n, p in zip(names, parts, strict=True) if p is not None]
            return row(*fields).with_nullable(nullable) if len(fields) == len(parts) else None
        case Root.INTERVAL_DAY_TIME | Root.INTERVAL_YEAR_MONTH:
            return left.with_nullable(nullable)
        case _:
            return None


def _common_part(
    left: DataType | None, right: DataType | None, *, merging: bool
) -> DataType | None:
    if left is None or right is None:
        return None
    return common_type((left, right), merging=merging)


def _longer(left: DataType, right: DataType, varying: Root) -> DataType:
    """Unequal lengths give the varying type of the longer one, as Flink's ragged unions do."""
    length = max(precision_of(left), precision_of(right))
    fixed = left.root is right.root and precision_of(left) == precision_of(right)
    kind = left.root if fixed else varying
    return DataType(kind, left.nullable or right.nullable, precision=length)


def common_numeric(left: DataType, right: DataType, *, merging: bool = False) -> DataType:
    """The wider of two numeric types; `merging` as in `common_type`.

    FLOAT with an integer stays FLOAT, with a DECIMAL it becomes DOUBLE; exact types meet in the
    DECIMAL that holds both.
    """
    nullable = left.nullable or right.nullable
    roots = {left.root, right.root}
    if roots & set(APPROXIMATE):
        if roots == set(APPROXIMATE) and not merging:
            return left.with_nullable(nullable)
        kind = DOUBLE if Root.DOUBLE in roots or Root.DECIMAL in roots else FLOAT
        return kind.with_nullable(nullable)
    if Root.DECIMAL in roots:
        a, b = as_decimal(left), as_decimal(right)
        scale = max(scale_of(a), scale_of(b))
        whole = max(precision_of(a) - scale_of(a), precision_of(b) - scale_of(b))
        fitted = decimal(
            min(whole + scale, MAX_DECIMAL_PRECISION),
            min(scale, MAX_DECIMAL_PRECISION - min(whole, MAX_DECIMAL_PRECISION)),
        )
        return fitted.with_nullable(nullable)
    return max(left, right, key=lambda t: INTEGERS.index(t.root)).with_nullable(nullable)
