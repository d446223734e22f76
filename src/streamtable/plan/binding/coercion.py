"""Common types of different operands in CASE, COALESCE, IN, arithmetic and comparison.

The rules reproduce results of Flink 2.2's planner (`tests/compat/functions/functions.json`):
Calcite's "least restrictive type" with Flink's type system.
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
    """Return whether any of the types is nullable."""
    return any(t.nullable for t in types)


def precision_of(kind: DataType) -> int:
    """Return the precision or length of a type that has one."""
    assert kind.precision is not None, kind  # noqa: S101
    return kind.precision


def scale_of(kind: DataType) -> int:
    """Return the scale of a DECIMAL."""
    assert kind.scale is not None, kind  # noqa: S101
    return kind.scale


def common_type(types: Sequence[DataType], *, merging: bool = False) -> DataType | None:
    """Return the common type, nullable if any type is; None if there is no common type.

    Args:
        types: at least one type; untyped NULLs take the type of the others.
        merging: whether to use the rule of Flink's own functions (`LogicalTypeMerging`: COALESCE,
            GREATEST) instead of Calcite's (CASE, IF, operators). Calcite's rule returns the first
            type for FLOAT with DOUBLE, and for TIMESTAMP with TIMESTAMP_LTZ of the same precision.
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
        # Calcite keeps the type of the more precise operand, or of the first one on a tie.
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
    """Return the varying type of the longer length, as Flink does for unequal lengths."""
    length = max(precision_of(left), precision_of(right))
    fixed = left.root is right.root and precision_of(left) == precision_of(right)
    kind = left.root if fixed else varying
    return DataType(kind, left.nullable or right.nullable, precision=length)


def common_numeric(left: DataType, right: DataType, *, merging: bool = False) -> DataType:
    """Return the wider of two numeric types; `merging` as in `common_type`.

    FLOAT with an integer stays FLOAT. FLOAT with a DECIMAL becomes DOUBLE. Two exact types become
    the DECIMAL that contains both.
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
