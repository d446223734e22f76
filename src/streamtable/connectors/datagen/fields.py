"""Column generators of `datagen` tables: their options, checks, and Spark SQL of the values.

Source of the rules: Flink's *DataGen SQL Connector* page and `RandomGeneratorVisitor`. A value is a
function of the row's number and the run's seed. A row that is read again therefore has the same
values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.option_kinds import BOOLEAN, DURATION, Kind, choice, integer, long_integer
from streamtable.core.options import Given, Option
from streamtable.core.types import (
    BYTES_ROOTS,
    CHARACTER,
    INTEGERS,
    MAX_LENGTH,
    MICROSECOND_DIGITS,
    NUMERIC,
    TIMESTAMPS,
    DataType,
    Field,
    Root,
)


class FieldKind(Enum):
    """Generator of a column's values."""

    SEQUENCE = "sequence"
    RANDOM = "random"


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    if not number.is_finite():
        raise ValueError(text)
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError(text)
    return number


NUMBER: Kind[Decimal] = Kind("Number", "a number", _number)
RATE: Kind[float] = Kind("Float", "a number between 0 and 1", _share)


#: Options of one column, after the prefix `fields.<column>.`.
KIND = Option("kind", choice(FieldKind), default=FieldKind.RANDOM)
MIN = Option("min", NUMBER)
MAX = Option("max", NUMBER)
MAX_PAST = Option("max-past", DURATION, default=timedelta(0))
LENGTH = Option("length", integer(minimum=1))
VAR_LEN = Option("var-len", BOOLEAN, default=False)
START = Option("start", long_integer())
END = Option("end", long_integer())
NULL_RATE = Option("null-rate", RATE, default=0.0)
FIELD_OPTIONS = (KIND, MIN, MAX, MAX_PAST, LENGTH, VAR_LEN, START, END, NULL_RATE)

#: Flink's default length of STRING and BYTES, which declare no length.
_DEFAULT_LENGTH = 100
#: Flink's default number of elements of ARRAY, MAP and MULTISET.
_DEFAULT_SIZE = 3

#: The largest values of the floating-point types.
_TOPS = {Root.FLOAT: "3.4028235E38", Root.DOUBLE: "1.7976931348623157E308"}
_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}


@dataclass(frozen=True)
class FieldOptions:
    """The options of one column in a script.

    Attributes:
        values: typed values, by option key.
        at: the position of each option.
    """

    values: Mapping[str, Any]
    at: Mapping[str, Span | None]

    @classmethod
    def read(cls, column: str, given: Mapping[str, Given]) -> FieldOptions:
        """Read the options of a column from a WITH clause.

        Raises:
            StreamtableError: INVALID_OPTION.
        """
        prefix = f"fields.{column}."
        values, places = {}, {}
        for option in FIELD_OPTIONS:
            found = given.get(prefix + option.key)
            if found is not None:
                named: Option[Any] = Option(prefix + option.key, option.kind)
                values[option.key] = named.read(found)
                places[option.key] = found.at
        return cls(values, places)

    def __getitem__(self, option: Option[Any]) -> Any:
        return self.values.get(option.key, option.default)


def check(table: str, field: Field, options: FieldOptions, at: Span | None) -> None:
    """Refuse a type without a generator, and options that do not apply to the column's type.

    Raises:
        StreamtableError: UNSUPPORTED_TYPE; OPTION_CONFLICT, at the option.
    """
    if field.type.holds(Root.BITMAP):
        raise StreamtableError(
            Condition.UNSUPPORTED_TYPE,
            at=at,
            found=field.type,
            reason=f"no generator makes it (column {field.name})",
            hint="declare the column AS BITMAP_BUILD(...)",
        )
    kind, root = options[KIND], field.type.root
    allowed: set[str] = {KIND.key}
    if kind is FieldKind.SEQUENCE:
        allowed |= {START.key, END.key}
        if root not in (*INTEGERS, Root.FLOAT, Root.DOUBLE, Root.DECIMAL, *CHARACTER):
            raise _conflict(table, field, "a sequence of this type", options.at.get(KIND.key), at)
        for option in (START, END):
            if options[option] is None:
                raise StreamtableError(
                    Condition.MISSING_OPTION,
                    at=options.at.get(KIND.key) or at,
                    table=table,
                    option=f"fields.{field.name}.{option.key}",
                    owner="a sequence",
                )
        if root not in CHARACTER:
            _check_range(table, field, options, (START, END), at)
        if options[START] > options[END]:
            raise _conflict(table, field, "a start after its end", options.at.get(END.key), at)
    else:
        allowed |= {NULL_RATE.key}
        allowed |= {MIN.key, MAX.key} if root in NUMERIC else set()
        allowed |= {MAX_PAST.key} if root in TIMESTAMPS else set()
        allowed |= {LENGTH.key} if _has_length(field.type) else set()
        allowed |= {VAR_LEN.key} if root in (Root.VARCHAR, Root.VARBINARY) else set()
    for key, place in options.at.items():
        if key not in allowed:
            raise _conflict(table, field, f"'fields.{field.name}.{key}'", place, at)
    _check_range(table, field, options, (MIN, MAX), at)
    low, high = options[MIN], options[MAX]
    if low is not None and high is not None and low > high:
        raise _conflict(table, field, "a min above its max", options.at.get(MAX.key), at)
    _check_length(table, field, options, at)


def _check_range(
    table: str,
    field: Field,
    options: FieldOptions,
    limits: tuple[Option[Any], Option[Any]],
    at: Span | None,
) -> None:
    """Refuse a number that the column's type cannot hold."""
    for option in limits:
        number = options[option]
        if number is not None and not _holds(field.type, Decimal(number)):
            article = "an" if option is END else "a"
            what = f"{article} {option.key} of {number}"
            raise _conflict(table, field, what, options.at.get(option.key), at)


def _holds(kind: DataType, number: Decimal) -> bool:
    if kind.root in INTEGERS:
        half = 1 << (_BITS[kind.root] - 1)
        return -half <= number < half and number == int(number)
    if kind.root is Root.DECIMAL:
        return abs(number) < Decimal(10) ** ((kind.precision or 10) - (kind.scale or 0))
    return abs(number) <= Decimal(_TOPS.get(kind.root, _TOPS[Root.DOUBLE]))


def _check_length(table: str, field: Field, options: FieldOptions, at: Span | None) -> None:
    declared, wanted = field.type.precision, options[LENGTH]
    if wanted is None or field.type.root not in CHARACTER | BYTES_ROOTS:
        return
    fixed = field.type.root in (Root.CHAR, Root.BINARY)
    if (fixed and wanted != declared) or (declared is not None and wanted > declared):
        raise _conflict(
            table,
            field,
            f"a length of {wanted}, its type says {declared},",
            options.at["length"],
            at,
        )


def _has_length(kind: DataType) -> bool:
    return kind.root in CHARACTER | BYTES_ROOTS | {Root.ARRAY, Root.MAP, Root.MULTISET}


def _conflict(
    table: str, field: Field, what: str, place: Span | None, at: Span | None
) -> StreamtableError:
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=place or at,
        reason=f"{table} asks for {what} of column {field.name}, which is {field.type}",
        hint="see `streamtable options datagen`",
    )


def rows_of(options: FieldOptions) -> int | None:
    """Return the number of rows of a sequence; None for a random column."""
    if options[KIND] is not FieldKind.SEQUENCE:
        return None
    return min(int(options[END]) - int(options[START]) + 1, (1 << 63) - 1)


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
        top = f"{_TOPS[root]}D"
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
    half = 1 << (_BITS[root] - 1)
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
