"""CAST to a character string in Flink's format.

Booleans are upper case. Fractions of a second have as many digits as the type. Decimals never use
scientific notation. Constructed values print as `[1, NULL]`, `{k=v}` and `(1, x)`.
"""

from __future__ import annotations

from streamtable.core.types import CHARACTER, TIMESTAMPS, DataType, Root, quote
from streamtable.plan.binding.coercion import precision_of, scale_of

#: Above this scale, Java's BigDecimal, and so Spark's CAST, uses scientific notation.
_PLAIN_SCALE = 6


def to_text(sql: str, source: DataType, depth: int = 0) -> str | None:
    """Return Spark SQL of the value's text; None if Flink's format is not supported.

    Args:
        sql: the value.
        source: its type.
        depth: number of enclosing lambdas, which makes their variables unique.
    """
    match source.root:
        case Root.CHAR | Root.VARCHAR:
            return sql
        case Root.BOOLEAN:
            return f"upper(CAST({sql} AS STRING))"
        case Root.DECIMAL:
            # While ANSI mode is off, only TRY_CAST uses plain notation.
            cast = "CAST" if scale_of(source) <= _PLAIN_SCALE else "try_cast"
            return f"{cast}({sql} AS STRING)"
        case Root.BINARY | Root.VARBINARY:
            return f"make_valid_utf8(CAST({sql} AS STRING))"
        case Root.BITMAP:
            return f"flink_bitmap_to_string({sql})"
        case _ if source.root in TIMESTAMPS or source.root is Root.TIME:
            return _with_fraction(sql, source)
        case Root.ARRAY | Root.MAP | Root.ROW:
            return _constructed(sql, source, depth)
        case Root.INTERVAL_YEAR_MONTH:
            return _months(sql)
        case Root.INTERVAL_DAY_TIME:
            return _milliseconds(sql)
        case Root.MULTISET:
            return None
        case _:
            return f"CAST({sql} AS STRING)"


def _months(sql: str) -> str:
    """Format a year-month interval: `+1-02`."""
    month = f"lpad(abs(extract(MONTH FROM {sql})), 2, '0')"
    sign = f"if({sql} < INTERVAL '0' MONTH, '-', '+')"
    return f"concat({sign}, abs(extract(YEAR FROM {sql})), '-', {month})"


def _milliseconds(sql: str) -> str:
    """Format a day-time interval: `+1 02:03:04.500`."""
    zero = "INTERVAL '0' SECOND"
    parts = [f"lpad(abs(extract({unit} FROM {sql})), 2, '0')" for unit in ("HOUR", "MINUTE")]
    second = f"lpad(CAST(abs(extract(SECOND FROM {sql})) AS DECIMAL(5, 3)), 6, '0')"
    clock = f"concat_ws(':', {', '.join(parts)}, {second})"
    days = f"abs(extract(DAY FROM {sql}))"
    return f"concat(if({sql} < {zero}, '-', '+'), {days}, ' ', {clock})"


def _with_fraction(sql: str, source: DataType) -> str:
    """Print all fractional digits of the type; Spark drops trailing zeros."""
    text = f"CAST({sql} AS STRING)"
    digits = precision_of(source)
    if digits == 0:
        return text
    whole = len("12:34:56") if source.root is Root.TIME else len("2024-12-31 12:34:56")
    dotted = f"if(length({text}) = {whole}, concat({text}, '.'), {text})"
    return f"rpad({dotted}, {whole + 1 + digits}, '0')"


def _constructed(sql: str, source: DataType, depth: int) -> str | None:
    variable = f"e{depth}"
    if source.root is Root.ARRAY:
        element = _part(variable, source.element, depth)
        if element is None:
            return None
        items = f"transform({sql}, {variable} -> {element})"
        return f"concat('[', array_join({items}, ', ', 'NULL'), ']')"
    if source.root is Root.MAP:
        key = _part(f"{variable}.key", source.key, depth)
        value = _part(f"{variable}.value", source.element, depth)
        if key is None or value is None:
            return None
        entry = f"concat({key}, '=', coalesce({value}, 'NULL'))"
        items = f"transform(map_entries({sql}), {variable} -> {entry})"
        return f"concat('{{', array_join({items}, ', '), '}}')"
    parts = [_part(f"{sql}.{quote(f.name)}", f.type, depth) for f in source.fields]
    texts = [f"coalesce({part}, 'NULL')" for part in parts if part is not None]
    if len(texts) < len(parts):
        return None
    inside = ", ', ', ".join(texts)
    return f"if({sql} IS NULL, NULL, concat('(', {inside}, ')'))"


def _part(sql: str, source: DataType | None, depth: int) -> str | None:
    return to_text(sql, source, depth + 1) if source is not None else None


def fitted(text: str, source: DataType, target: DataType) -> str:
    """Cut a string to VARCHAR(n), or cut and pad it to CHAR(n), unless it already fits."""
    length = precision_of(target)
    known = precision_of(source) if source.root in CHARACTER else None
    if target.root is Root.CHAR:
        same = source.root is Root.CHAR and known == length
        return text if same else f"rpad({text}, {length}, ' ')"
    if known is not None and known <= length:
        return text
    unbounded = target.precision == (1 << 31) - 1
    return text if unbounded else f"left({text}, {length})"
