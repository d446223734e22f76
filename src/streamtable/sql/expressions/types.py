"""Parser layer for types: all types of Flink; unsupported ones are refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from streamtable.core import types as t
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.types import DataType, Field
from streamtable.sql.expressions.intervals import MONTHS, Qualifier, can_end_with, unit_of
from streamtable.sql.lexer.cursor import Cursor
from streamtable.sql.lexer.tokens import Kind
from streamtable.sql.nodes import FlinkType
from streamtable.sql.place import put_at

_PLAIN = {
    "BOOLEAN": t.BOOLEAN,
    "TINYINT": t.TINYINT,
    "SMALLINT": t.SMALLINT,
    "INT": t.INT,
    "INTEGER": t.INT,
    "BIGINT": t.BIGINT,
    "FLOAT": t.FLOAT,
    "DOUBLE": t.DOUBLE,
    "DATE": t.DATE,
    "STRING": t.STRING,
    "BYTES": t.BYTES,
    "BITMAP": t.BITMAP,
}
#: Types of text and bytes: root and default length, as in Flink's planner.
_WITH_LENGTH = {
    "CHAR": (t.Root.CHAR, 1),
    "VARCHAR": (t.Root.VARCHAR, t.MAX_LENGTH),
    "BINARY": (t.Root.BINARY, 1),
    "VARBINARY": (t.Root.VARBINARY, t.MAX_LENGTH),
}
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
_REFUSED = {
    "RAW": "its values are Java objects",
    "STRUCTURED": "its values are Java objects",
    "REAL": "Flink has FLOAT and DOUBLE",
    "VARIANT": "the formats do not carry it",
    "DESCRIPTOR": "it is not the type of a value",
}
#: Types of other systems -> Flink's.
_ELSEWHERE = {
    "BLOB": "BYTES",
    "BYTEA": "BYTES",
    "DATETIME": "TIMESTAMP(3)",
    "JSON": "STRING",
    "LONG": "BIGINT",
    "TEXT": "STRING",
    "TIMESTAMPTZ": "TIMESTAMP_LTZ(3)",
    "UUID": "STRING",
}
#: Clauses that follow the columns of a table; these words are not field names by accident.
_BEHIND_COLUMNS = (("PRIMARY", "KEY"), ("WATERMARK", "FOR"), ("CONSTRAINT",))
_FLINK_DIGITS = 9
#: Maximum digits of an interval's first unit, as in Flink's planner.
_INTERVAL_DIGITS = 10


class TypeParser(Cursor):
    """Parse types."""

    def type_node(self) -> FlinkType:
        """Parse a type as a node of an expression; a following NULL is not part of the type."""
        at = self.peek().at
        return put_at(FlinkType(this=self._shape()), at)

    def data_type(self) -> DataType:
        """Parse a type with its nullability."""
        return self._nullability(self._shape())

    def _shape(self) -> DataType:
        found = self.nested(self._base)
        while True:
            collection = 2 if self.sees("NOT", "NULL") else 0
            if self.peek(collection).key not in ("ARRAY", "MULTISET"):
                return found
            found = self._nullability(found)
            make = t.array if self.take().key == "ARRAY" else t.multiset
            found = make(found)

    def _nullability(self, found: DataType) -> DataType:
        if self.accept("NOT", "NULL"):
            return found.with_nullable(nullable=False)
        self.accept("NULL")
        return found

    def _base(self) -> DataType:
        token = self.peek()
        if token.kind is not Kind.WORD:
            self.fail("a type")
        name = token.key
        if reader := self._constructed(name):
            self.take()
            return reader()
        self.take()
        if name == "CHARACTER":
            name = "VARCHAR" if self.accept("VARYING") else "CHAR"
        if name in _PLAIN:
            if name == "DOUBLE":
                self.accept("PRECISION")
            return _PLAIN[name]
        if name in _WITH_LENGTH:
            return self._sized(name, token.at)
        if name in _DECIMALS:
            return self._decimal(token.at)
        return self._unknown(token.text, token.at)

    def _constructed(self, name: str) -> Callable[[], DataType] | None:
        readers: dict[str, Callable[[], DataType]] = {
            "ARRAY": lambda: t.array(self._inside("ARRAY")[0]),
            "MULTISET": lambda: t.multiset(self._inside("MULTISET")[0]),
            "MAP": self._map,
            "ROW": self._row,
            "INTERVAL": self._interval,
            "TIME": self._time,
            "TIMESTAMP": self._timestamp,
            "TIMESTAMP_LTZ": lambda: t.timestamp_ltz(self._fraction("TIMESTAMP_LTZ", 6)),
        }
        return readers.get(name)

    def _inside(self, name: str, count: int = 1) -> list[DataType]:
        self.expect("<")
        found = [self.data_type()]
        while len(found) < count:
            self.expect(",")
            found.append(self.data_type())
        if not self.accept(">"):
            self.fail(f"'>' to end {name}<...>")
        return found

    def _map(self) -> DataType:
        key, value = self._inside("MAP", 2)
        return t.map_of(key, value)

    def _row(self) -> DataType:
        if self.accept("<>") or self.accept("(", ")"):
            return t.row()
        closing = ">" if self.accept("<") else ")"
        if closing == ")":
            self.expect("(")
        fields = self.comma_separated(self._field)
        if not self.accept(closing):
            self.fail(f"',' or '{closing}' to end ROW{'<...>' if closing == '>' else '(...)'}")
        names = [field.name for field in fields]
        for name in names:
            if names.count(name) > 1:
                self._cannot("ROW", f"field '{name}' is declared twice")
        return t.row(*fields)

    def _field(self) -> Field:
        if any(self.sees(*words) for words in _BEHIND_COLUMNS):
            self.fail("a field of ROW<...>", "the '>' that ends the type may be missing before it")
        name = self.identifier("the name of a field").name
        found = self.data_type()
        if self.peek().kind is Kind.STRING:
            self.take()  # the field's comment is not part of the type, as in Flink
        return Field(name, found)

    def _sized(self, name: str, at: Span) -> DataType:
        root, length = _WITH_LENGTH[name]
        if self.accept("("):
            length = self.whole_number("a length")
            self.expect(")")
            if not 1 <= length <= t.MAX_LENGTH:
                self._cannot(f"{name}({length})", f"lengths range from 1 to {t.MAX_LENGTH}", at)
        return DataType(root, precision=length)

    def _decimal(self, at: Span) -> DataType:
        precision, scale = 10, 0
        if self.accept("("):
            precision = self.whole_number("a precision")
            if self.accept(","):
                scale = self.whole_number("a scale")
            self.expect(")")
        if not 1 <= precision <= t.MAX_DECIMAL_PRECISION or scale > precision:
            self._cannot(
                f"DECIMAL({precision}, {scale})",
                f"precision ranges from 1 to {t.MAX_DECIMAL_PRECISION}, scale from 0 to precision",
                at,
            )
        return t.decimal(precision, scale)

    def _fraction(self, name: str, default: int) -> int:
        """Parse `(digits)`, the fractional digits of a second."""
        at = self.last.at
        if not self.accept("("):
            return default
        digits = self.whole_number("a number of digits")
        self.expect(")")
        if digits > _FLINK_DIGITS:
            self._cannot(f"{name}({digits})", f"precision ranges from 0 to {_FLINK_DIGITS}", at)
        self.report_cut_digits(f"{name}({digits})", digits, at)
        return digits

    def report_cut_digits(self, what: str, digits: int, at: Span) -> None:
        """Add a notice if a time has more fractional digits than Spark keeps."""
        if digits > t.MICROSECOND_DIGITS:
            self.notices.append(
                f"{at}: {what}: fractional digits after the sixth are cut, because Spark keeps"
                " microseconds"
            )

    def _time(self) -> DataType:
        digits = self._fraction("TIME", 0)
        self.accept("WITHOUT", "TIME", "ZONE")
        return t.time(digits)

    def _timestamp(self) -> DataType:
        at = self.last.at
        digits = self._fraction("TIMESTAMP", 6)
        if self.accept("WITH", "LOCAL", "TIME", "ZONE"):
            return t.timestamp_ltz(digits)
        if self.sees("WITH", "TIME", "ZONE"):
            self._cannot(
                "TIMESTAMP WITH TIME ZONE", "Flink has TIMESTAMP and TIMESTAMP_LTZ only", at
            )
        self.accept("WITHOUT", "TIME", "ZONE")
        return t.timestamp(digits)

    def _interval(self) -> DataType:
        return interval_type(self.interval_qualifier())

    def interval_qualifier(self) -> Qualifier:
        """Parse `MINUTE`, `DAY(3) TO SECOND(3)`, ..."""
        first = self._interval_unit()
        digits = self._interval_digits()
        last = first
        if self.accept("TO"):
            at = self.peek()
            last = self._interval_unit()
            if not can_end_with(first, last):
                raise StreamtableError(
                    Condition.SYNTAX,
                    at=at.at,
                    expected=f"a unit that {first} can run to",
                    found=at.described(),
                )
            self._interval_digits(ending=True)
        return Qualifier(first, last) if digits is None else Qualifier(first, last, digits)

    def _interval_unit(self) -> str:
        unit = unit_of(self.peek().key)
        if unit is None:
            self.fail("a unit such as SECOND, MINUTE, HOUR, DAY, MONTH or YEAR")
        self.take()
        return unit

    def _interval_digits(self, *, ending: bool = False) -> int | None:
        """Parse `(digits)` or `(digits, fractional digits)`, which only limit the value."""
        at, unit = self.last.at, self.last.key
        if not self.accept("("):
            return None
        digits = self.whole_number("a number of digits")
        most = _FLINK_DIGITS if ending and unit == "SECOND" else _INTERVAL_DIGITS
        self._check_digits(unit, digits, most, at)
        if self.accept(","):
            self._check_digits(unit, self.whole_number("a number of digits"), _FLINK_DIGITS, at)
        self.expect(")")
        return digits

    def _check_digits(self, unit: str, digits: int, most: int, at: Span) -> None:
        if not 1 <= digits <= most:
            self._cannot(f"INTERVAL {unit}({digits})", f"precision ranges from 1 to {most}", at)

    def _unknown(self, written: str, at: Span) -> NoReturn:
        reason = _REFUSED.get(written.upper())
        if reason:
            self._cannot(written.upper(), reason, at)
        ours = _ELSEWHERE.get(written.upper())
        known = (*_PLAIN, *_WITH_LENGTH, *_DECIMALS, "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "ARRAY",
                 "MAP", "ROW", "MULTISET", "INTERVAL")  # fmt: skip
        raise StreamtableError(
            Condition.UNSUPPORTED_TYPE,
            at=at,
            hint=f"use {ours}" if ours else closest(written, known),
            found=written,
            reason="Flink has no such type",
        )

    def _cannot(self, found: str, reason: str, at: Span | None = None) -> NoReturn:
        raise StreamtableError(
            Condition.UNSUPPORTED_TYPE, at=at or self.peek().at, found=found, reason=reason
        )


def interval_type(qualifier: Qualifier) -> DataType:
    """Return the type of an interval with these units."""
    return t.INTERVAL_YEAR_MONTH if qualifier.kind == MONTHS else t.INTERVAL_DAY_TIME
