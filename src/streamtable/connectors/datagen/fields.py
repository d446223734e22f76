"""Options of the columns of `datagen` tables, and their checks.

Source of the rules: Flink's *DataGen SQL Connector* page.
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

#: The largest values of the floating-point types.
TOPS = {Root.FLOAT: "3.4028235E38", Root.DOUBLE: "1.7976931348623157E308"}
#: The bits of the integer types.
BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}


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
        half = 1 << (BITS[kind.root] - 1)
        return -half <= number < half and number == int(number)
    if kind.root is Root.DECIMAL:
        return abs(number) < Decimal(10) ** ((kind.precision or 10) - (kind.scale or 0))
    return abs(number) <= Decimal(TOPS.get(kind.root, TOPS[Root.DOUBLE]))


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
