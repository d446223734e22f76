"""Spark SQL of the values of `datagen` columns.

A value is a function of the row's number and the run's seed. A row that is read again therefore has
the same values. Source of the rules: Flink's `RandomGeneratorVisitor`.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from streamtable.connectors.datagen.fields import (
    BITS,
    KIND,
    LENGTH,
    MAX,
    MAX_PAST,
    MIN,
    NULL_RATE,
    START,
    TOPS,
    VAR_LEN,
    FieldKind,
    FieldOptions,
)
from streamtable.core.types import (
    BYTES_ROOTS,
    CHARACTER,
    INTEGERS,
    MAX_LENGTH,
    MICROSECOND_DIGITS,
    TIMESTAMPS,
    DataType,
    Field,
    Root,
)

#: Flink's default length of STRING and BYTES, which declare no length.
_DEFAULT_LENGTH = 100
#: Flink's default number of elements of ARRAY, MAP and MULTISET.
_DEFAULT_SIZE = 3


def value_sql(field: Field, options: FieldOptions, place: str) -> str:
    """Return the Spark SQL of a column's value over `number`, `seed` and `time`.

    Args:
        field: name and type of the column.
        options: the checked options.
        place: a text that is unique among the columns.
    """
    kind = field.type.spark_sql()
    if options[KIND] is FieldKind.SEQUENCE:
        return f"CAST(number + {options[START]} AS {kind})"
    value = f"CAST({_random(field.type, options, place)} AS {kind})"
    rate = options[NULL_RATE]
    if not rate:
        return value
    return f"CASE WHEN {_share_sql(place + '/null')} < {rate!r}D THEN NULL ELSE {value} END"


def _random(kind: DataType, options: FieldOptions, place: str) -> str:
    root = kind.root
    if root is Root.BOOLEAN:
        return f"{_hash(place)} < 0"
    if root in INTEGERS:
        return _integer(root, options, place)
    if root in (Root.FLOAT, Root.DOUBLE):
        top = f"{TOPS[root]}D"
        low = f"{options[MIN]}D" if options[MIN] is not None else f"-{top}"
        high = f"{options[MAX]}D" if options[MAX] is not None else top
        share = _share_sql(place)
        return f"{low} * (1D - {share}) + {high} * {share}"
    if root is Root.DECIMAL:
        return _decimal(kind, options, place)
    if root in CHARACTER or root in BYTES_ROOTS:
        return _text(kind, options, place)
    if root in TIMESTAMPS:
        past = options[MAX_PAST] // timedelta(microseconds=1)
        micros = f"unix_micros(time) - CAST({_share_sql(place)} * {past} AS BIGINT)"
        digits = MICROSECOND_DIGITS if kind.precision is None else kind.precision
        step = 10 ** max(MICROSECOND_DIGITS - digits, 0)
        return f"timestamp_micros(({micros}) div {step} * {step})"
    if root in (Root.DATE, Root.TIME):
        return "time"
    if root is Root.INTERVAL_DAY_TIME:
        return f"make_dt_interval(0, 0, 0, {_share_sql(place)} * 86400)"
    if root is Root.INTERVAL_YEAR_MONTH:
        return f"make_ym_interval(0, CAST({_share_sql(place)} * 120 AS INT))"
    return _collection(kind, options, place)


def _integer(root: Root, options: FieldOptions, place: str) -> str:
    half = 1 << (BITS[root] - 1)
    low = -half if options[MIN] is None else int(options[MIN])
    high = half - 1 if options[MAX] is None else int(options[MAX])
    size = high - low + 1
    if size == 1 << 64:
        return _hash(place)
    if size >= 1 << 63:
        return f"{low}BD + pmod(CAST({_hash(place)} AS DECIMAL(20, 0)), {size}BD)"
    return f"{low}BD + pmod({_hash(place)}, {size}L)" if size > 1 else f"{low}BD"


def _decimal(kind: DataType, options: FieldOptions, place: str) -> str:
    precision, scale = kind.precision or 10, kind.scale or 0
    top = Decimal(10) ** (precision - scale) - Decimal(10) ** -scale
    low = options[MIN] if options[MIN] is not None else -top
    high = options[MAX] if options[MAX] is not None else top
    share = f"CAST({_share_sql(place)} AS DECIMAL(20, 18))"
    wide = f"DECIMAL({precision}, {scale})"
    return (
        f"CAST({low} AS {wide}) * (1 - {share}) + CAST({high} AS {wide}) * {share}"
        if low != high
        else f"{low}"
    )


def _text(kind: DataType, options: FieldOptions, place: str) -> str:
    """Return hexadecimal text of the given length, as Flink does; for binary types, bytes."""
    declared = kind.precision
    length = options[LENGTH] or (declared if declared and declared < MAX_LENGTH else None)
    length = length or _DEFAULT_LENGTH
    in_bytes = kind.root in BYTES_ROOTS
    digits = length * 2 if in_bytes else length
    blocks = -(-digits // 64)
    seeded = f"concat_ws('|', '{place}', seed, number, i)"
    text = f"array_join(transform(sequence(1, {blocks}), i -> sha2({seeded}, 256)), '')"
    cut = str(length)
    if options[VAR_LEN]:
        cut = f"CAST(1 + pmod({_hash(place + '/length')}, {length}L) AS INT)"
    return f"substring(unhex({text}), 1, {cut})" if in_bytes else f"substring({text}, 1, {cut})"


def _collection(kind: DataType, options: FieldOptions, place: str) -> str:
    """Return a collection of three elements, or of `length` elements, with random nested values."""
    plain = FieldOptions({}, {})
    size = options[LENGTH] or _DEFAULT_SIZE
    if kind.root is Root.ROW:
        fields = (f"'{f.name}', {value_sql(f, plain, f'{place}/{f.name}')}" for f in kind.fields)
        return f"named_struct({', '.join(fields)})"

    def elements(of: DataType | None, name: str) -> str:
        assert of is not None, "a constructed type without its parts"  # noqa: S101
        parts = (value_sql(Field("", of), plain, f"{place}/{name}{i}") for i in range(size))
        return f"array({', '.join(parts)})"

    if kind.root is Root.ARRAY:
        return elements(kind.element, "element")
    if kind.root is Root.MAP:
        return f"map_from_arrays({elements(kind.key, 'key')}, {elements(kind.element, 'value')})"
    counts = f"array_repeat(1, {size})"
    return f"map_from_arrays({elements(kind.element, 'element')}, {counts})"


def _hash(place: str) -> str:
    """Return a pseudo-random BIGINT."""
    return f"xxhash64('{place}', seed, number)"


def _share_sql(place: str) -> str:
    """Return a pseudo-random DOUBLE from 0 (inclusive) to 1 (exclusive)."""
    return f"(shiftrightunsigned({_hash(place)}, 11) * 1.1102230246251565E-16D)"
