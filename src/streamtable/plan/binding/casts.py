"""CAST, TRY_CAST and the implicit casts of INSERT.

A failing CAST of a string stops the query, as in Flink since 1.15. TRY_CAST returns NULL instead,
also for an ARRAY, MAP or ROW that contains such a string.
Numbers are narrowed as in Java: integers wrap, and DOUBLE saturates. Decimals that do not fit
become NULL. The matrices of supported casts were recorded from Flink 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import (
    BYTES_ROOTS,
    CHARACTER,
    MAX_LENGTH,
    NUMERIC,
    DataType,
    Root,
    quote,
)
from streamtable.plan.binding.bound import Bound, text_literal
from streamtable.plan.binding.cast_text import fitted, to_text
from streamtable.plan.binding.cast_time import TEMPORAL, from_text, temporal_to_temporal
from streamtable.plan.binding.coercion import precision_of

_CONSTRUCTED = frozenset({Root.ARRAY, Root.MAP, Root.ROW})
#: Implicit casts: target -> source types, in addition to its own.
_IMPLICIT: Mapping[Root, frozenset[Root]] = {
    Root.VARCHAR: frozenset({Root.CHAR}),
    Root.VARBINARY: frozenset({Root.BINARY}),
    Root.SMALLINT: frozenset({Root.TINYINT}),
    Root.INT: frozenset({Root.TINYINT, Root.SMALLINT}),
    Root.BIGINT: frozenset({Root.TINYINT, Root.SMALLINT, Root.INT}),
    Root.DECIMAL: NUMERIC,
    Root.FLOAT: NUMERIC - {Root.DOUBLE},
    Root.DOUBLE: NUMERIC,
    Root.DATE: frozenset({Root.TIMESTAMP}),
    Root.TIME: frozenset({Root.TIMESTAMP}),
    Root.TIMESTAMP: frozenset({Root.TIMESTAMP_LTZ}),
    Root.TIMESTAMP_LTZ: frozenset({Root.TIMESTAMP}),
}


def explicit_cast(bound: Bound, target: DataType) -> Bound:
    """Bind `CAST(bound AS target)`; a value that cannot be cast stops the query.

    Raises:
        StreamtableError: CAST_UNSUPPORTED if Flink refuses the pair of types, NOT_YET if only
            streamtable does.
    """
    return _cast(bound, target, nullable=bound.type.nullable, fails=True)


def try_cast(bound: Bound, target: DataType) -> Bound:
    """Bind `TRY_CAST(bound AS target)`: NULL for a value that cannot be cast; errors as above."""
    return _cast(bound, target, nullable=True, fails=False)


def implicit_cast(bound: Bound, target: DataType) -> Bound | None:
    """Bind the implicit cast of an INSERT; None if Flink requires an explicit cast.

    Nullability is not changed: the sink checks NOT NULL columns when it writes.
    """
    if not can_cast_implicitly(bound.type, target):
        return None
    if bound.type.root is Root.NULL or target.root not in CHARACTER | BYTES_ROOTS:
        return _cast(bound, target, nullable=bound.type.nullable, fails=True)
    # Sinks do not enforce lengths (`type-length-enforcer` is IGNORE).
    return bound.retyped(target.with_nullable(bound.type.nullable))


def can_cast_implicitly(source: DataType, target: DataType) -> bool:
    """Return the result of Flink's `LogicalTypeCasts.supportsImplicitCast`, nullability aside."""
    if source.root is Root.NULL or source.same_shape(target):
        return True
    if source.root is not target.root:
        return source.root in _IMPLICIT.get(target.root, frozenset())
    if target.root is Root.ROW:
        return len(source.fields) == len(target.fields) and all(
            can_cast_implicitly(a.type, b.type)
            for a, b in zip(source.fields, target.fields, strict=True)
        )
    return all(
        can_cast_implicitly(a, b)
        for a, b in ((source.element, target.element), (source.key, target.key))
        if a is not None and b is not None
    )


def _cast(bound: Bound, target: DataType, *, nullable: bool, fails: bool) -> Bound:
    kind = target.with_nullable(nullable)
    if bound.type.root is Root.NULL and target.root is not Root.NULL:
        return replace(bound, sql=f"CAST(NULL AS {target.spark_sql()})", type=kind)
    if bound.type.same_shape(target):
        return bound.retyped(kind)
    sql = convert(bound.sql, bound.type, target, fails=fails)
    broken = None if fails else _broken_part(bound.sql, bound.type, target)
    if sql is not None and broken is not None:
        sql = f"if({broken}, NULL, {sql})"
    if sql is None and target.root in CHARACTER:
        what = f"CAST of {bound.type.sql()} to a string"
        raise StreamtableError(Condition.NOT_YET, at=bound.at, what=what)
    if sql is None:
        raise StreamtableError(
            Condition.CAST_UNSUPPORTED, at=bound.at, found=bound.type.sql(), target=target.sql()
        )
    return replace(bound, sql=sql, type=kind, constant=None, time_attribute=None)


def convert(
    sql: str, source: DataType, target: DataType, *, fails: bool, depth: int = 0
) -> str | None:
    """Return Spark SQL that casts a value; None if the types cannot be cast.

    Args:
        sql: the value.
        source: its type.
        target: the wanted type.
        fails: whether a value that cannot be cast stops the query; otherwise it becomes NULL.
        depth: number of enclosing lambdas.
    """
    if _same_values(source, target):
        return sql
    if target.root in CHARACTER:
        text = to_text(sql, source, depth)
        return None if text is None else fitted(text, source, target)
    if source.root in CHARACTER:
        return _from_text(sql, source, target, fails=fails)
    if source.root in TEMPORAL and target.root in TEMPORAL:
        return temporal_to_temporal(sql, source, target)
    if source.root is target.root and target.root in _CONSTRUCTED:
        return _constructed(sql, source, target, fails=fails, depth=depth)
    return _plain(sql, source, target, fails=fails)


def _same_values(source: DataType, target: DataType) -> bool:
    if source.root is not target.root or source.root in _CONSTRUCTED:
        return source.same_shape(target)
    return (source.precision, source.scale) == (target.precision, target.scale)


def _plain(sql: str, source: DataType, target: DataType, *, fails: bool) -> str | None:
    cast = f"CAST({sql} AS {target.spark_sql()})"
    if target.root in NUMERIC and source.root in NUMERIC | {Root.BOOLEAN}:
        endless = source.root in (Root.FLOAT, Root.DOUBLE) and target.root is Root.DECIMAL
        if endless and fails:
            broken = f"isnan({sql}) OR abs({sql}) = double('Infinity')"
            return f"if({broken}, {_failure(sql, source, target)}, {cast})"
        return cast
    if target.root is Root.BOOLEAN and source.root in NUMERIC:
        return cast
    if source.root in BYTES_ROOTS and target.root in BYTES_ROOTS:
        return _fitted_bytes(sql, target)
    return None


def _fitted_bytes(sql: str, target: DataType) -> str:
    length = precision_of(target)
    if target.root is Root.BINARY:
        return f"rpad({sql}, {length}, X'00')"
    return sql if length == MAX_LENGTH else f"substring({sql}, 1, {length})"


#: Texts that Spark, but not Java, accepts as a DOUBLE.
_SPARK_ONLY_DOUBLE = r"^\\s*[-+]?(?!NaN|Infinity)(?i:nan|inf|infinity)\\s*$"


def _from_text(sql: str, source: DataType, target: DataType, *, fails: bool) -> str | None:
    cast = f"CAST({sql} AS {target.spark_sql()})"
    if target.root in BYTES_ROOTS:
        return _fitted_bytes(f"CAST({sql} AS BINARY)", target)
    if target.root in (Root.FLOAT, Root.DOUBLE):
        converted: str | None = f"if({sql} RLIKE '{_SPARK_ONLY_DOUBLE}', NULL, {cast})"
    elif target.root is Root.BOOLEAN:
        # Spark trims the text first. Flink does not.
        converted = f"if({sql} = trim({sql}), {cast}, NULL)"
    elif target.root in NUMERIC:
        converted = cast
    else:
        converted = from_text(sql, target)
    if converted is None or not fails:
        return converted
    failure = _failure(sql, source, target)
    return f"coalesce({converted}, if({sql} IS NULL, NULL, {failure}))"


def _failure(sql: str, source: DataType, target: DataType) -> str:
    """Return Spark SQL that fails the query with the value in the message."""
    value = to_text(sql, source) or sql
    message = f"concat('cannot cast \\'', {value}, '\\' to {target.with_nullable(True).sql()}')"
    return f"CAST(raise_error({message}) AS {target.spark_sql()})"


def _constructed(
    sql: str, source: DataType, target: DataType, *, fails: bool, depth: int
) -> str | None:
    variable = f"e{depth}"
    if target.root is Root.ROW:
        return _row(sql, source, target, fails=fails, depth=depth)
    element = _inner(variable, source.element, target.element, fails=fails, depth=depth)
    if target.root is Root.ARRAY:
        if element is None or element == variable:
            return sql if element else None
        return f"transform({sql}, {variable} -> {element})"
    key = _inner(f"{variable}.key", source.key, target.key, fails=fails, depth=depth)
    value = _inner(f"{variable}.value", source.element, target.element, fails=fails, depth=depth)
    if key is None or value is None:
        return None
    entries = f"transform(map_entries({sql}), {variable} -> struct({key}, {value}))"
    return f"map_from_entries({entries})"


def _row(sql: str, source: DataType, target: DataType, *, fails: bool, depth: int) -> str | None:
    if len(source.fields) != len(target.fields):
        return None
    parts: list[str] = []
    for have, want in zip(source.fields, target.fields, strict=True):
        part = convert(f"{sql}.{quote(have.name)}", have.type, want.type, fails=fails, depth=depth)
        if part is None:
            return None
        parts.append(f"{text_literal(want.name)}, {part}")
    return f"if({sql} IS NULL, NULL, named_struct({', '.join(parts)}))"


def _inner(
    sql: str, source: DataType | None, target: DataType | None, *, fails: bool, depth: int
) -> str | None:
    if source is None or target is None:
        return None
    return convert(sql, source, target, fails=fails, depth=depth + 1)


def _broken_part(sql: str, source: DataType, target: DataType, depth: int = 0) -> str | None:
    """Return Spark SQL of whether a text in an ARRAY, MAP or ROW cannot be cast; None if never.

    TRY_CAST then returns NULL for the whole value.
    """
    if source.root is not target.root or target.root not in _CONSTRUCTED:
        return None
    if target.root is Root.ROW:
        fields = zip(source.fields, target.fields, strict=False)
        return _any_broken([(f"{sql}.{quote(a.name)}", a.type, b.type) for a, b in fields], depth)
    entry = f"e{depth}"
    if target.root is Root.ARRAY:
        entries = sql
        parts = [(entry, source.element, target.element)]
    else:
        entries = f"map_entries({sql})"
        parts = [
            (f"{entry}.key", source.key, target.key),
            (f"{entry}.value", source.element, target.element),
        ]
    broken = _any_broken(parts, depth + 1)
    return None if broken is None else f"exists({entries}, {entry} -> {broken})"


def _any_broken(
    parts: Sequence[tuple[str, DataType | None, DataType | None]], depth: int
) -> str | None:
    found = [
        _broken(sql, source, target, depth)
        for sql, source, target in parts
        if source is not None and target is not None
    ]
    return " OR ".join(broken for broken in found if broken is not None) or None


def _broken(sql: str, source: DataType, target: DataType, depth: int) -> str | None:
    if target.root in CHARACTER | BYTES_ROOTS or source.root not in CHARACTER:
        return _broken_part(sql, source, target, depth)
    converted = convert(sql, source, target, fails=False)
    return f"({sql} IS NOT NULL AND {converted} IS NULL)"
