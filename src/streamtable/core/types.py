"""Flink's logical data types, and the Spark types that store their values.

Source of the rules: Flink's *Data Types* page. Spark keeps six fractional digits of a second. The
catalog therefore refuses a TIMESTAMP with 7 to 9 digits instead of truncating it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from streamtable.core.identity import stable


class Root(Enum):
    """The kind of a type; the value is Flink's SQL name."""

    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BOOLEAN = "BOOLEAN"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DECIMAL = "DECIMAL"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_LTZ = "TIMESTAMP_LTZ"
    INTERVAL_YEAR_MONTH = "INTERVAL YEAR TO MONTH"
    INTERVAL_DAY_TIME = "INTERVAL DAY TO SECOND"
    ARRAY = "ARRAY"
    MULTISET = "MULTISET"
    MAP = "MAP"
    ROW = "ROW"
    BITMAP = "BITMAP"
    NULL = "NULL"


MAX_LENGTH = 2_147_483_647
MAX_DECIMAL_PRECISION = 38
#: Fractional digits of a second in Spark; Flink's types may declare nine.
MICROSECOND_DIGITS = 6

CHARACTER = frozenset({Root.CHAR, Root.VARCHAR})
BYTES_ROOTS = frozenset({Root.BINARY, Root.VARBINARY})
INTEGERS = (Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT)
APPROXIMATE = (Root.FLOAT, Root.DOUBLE)
NUMERIC = frozenset({*INTEGERS, *APPROXIMATE, Root.DECIMAL})
TIMESTAMPS = frozenset({Root.TIMESTAMP, Root.TIMESTAMP_LTZ})
INTERVALS = frozenset({Root.INTERVAL_YEAR_MONTH, Root.INTERVAL_DAY_TIME})

_SPARK_NAMES = {
    Root.CHAR: "STRING",
    Root.VARCHAR: "STRING",
    Root.BOOLEAN: "BOOLEAN",
    Root.BINARY: "BINARY",
    Root.VARBINARY: "BINARY",
    Root.TINYINT: "TINYINT",
    Root.SMALLINT: "SMALLINT",
    Root.INT: "INT",
    Root.BIGINT: "BIGINT",
    Root.FLOAT: "FLOAT",
    Root.DOUBLE: "DOUBLE",
    Root.DATE: "DATE",
    Root.TIMESTAMP: "TIMESTAMP_NTZ",
    Root.TIMESTAMP_LTZ: "TIMESTAMP_LTZ",
    Root.INTERVAL_YEAR_MONTH: "INTERVAL YEAR TO MONTH",
    Root.INTERVAL_DAY_TIME: "INTERVAL DAY TO SECOND",
    # The binary form of a RoaringBitmap; equal sets have equal bytes.
    Root.BITMAP: "BINARY",
    Root.NULL: "VOID",
}


@stable("Field", name="name", type="type")
@dataclass(frozen=True)
class Field:
    """A named part of a ROW, or a column of a plan node's output."""

    name: str
    type: DataType


@dataclass(frozen=True)
class DataType:
    """A logical type with its nullability.

    Attributes:
        root: the kind of type.
        nullable: true by default, as in Flink; false for NOT NULL and primary keys.
        precision: digits of DECIMAL, fractional digits of TIME and TIMESTAMP, length of CHAR,
            VARCHAR, BINARY and VARBINARY; None for other types.
        scale: fractional digits of DECIMAL; None for other types.
        element: element type of ARRAY and MULTISET, value type of MAP.
        key: key type of MAP.
        fields: fields of ROW.
    """

    root: Root
    nullable: bool = True
    precision: int | None = None
    scale: int | None = None
    element: DataType | None = None
    key: DataType | None = None
    fields: tuple[Field, ...] = ()

    def with_nullable(self, nullable: bool) -> DataType:
        """Return the type with the given nullability."""
        return self if nullable == self.nullable else replace(self, nullable=nullable)

    @property
    def has_length(self) -> bool:
        """Whether values are strings or bytes of a limited or fixed length."""
        return self.root in CHARACTER | BYTES_ROOTS and self.precision not in (None, MAX_LENGTH)

    def same_shape(self, other: DataType) -> bool:
        """Return whether the types are equal, ignoring the nullability of the outermost level."""
        return self.with_nullable(True) == other.with_nullable(True)

    def holds(self, *roots: Root) -> bool:
        """Return whether the type is, or contains, one of these kinds of type."""
        parts = (self.element, self.key, *(f.type for f in self.fields))
        return self.root in roots or any(p is not None and p.holds(*roots) for p in parts)

    def sql(self) -> str:
        """Type in Flink SQL, e.g. `DECIMAL(10, 2) NOT NULL`."""
        return self._shape() + ("" if self.nullable else " NOT NULL")

    def _shape(self) -> str:
        name: str = self.root.value
        match self.root:
            case Root.DECIMAL:
                return f"DECIMAL({self.precision}, {self.scale})"
            case Root.VARCHAR if self.precision == MAX_LENGTH:
                return "STRING"
            case Root.VARBINARY if self.precision == MAX_LENGTH:
                return "BYTES"
            case Root.ARRAY | Root.MULTISET:
                return f"{name}<{_given(self.element).sql()}>"
            case Root.MAP:
                return f"MAP<{_given(self.key).sql()}, {_given(self.element).sql()}>"
            case Root.ROW:
                inside = ", ".join(f"`{f.name}` {f.type.sql()}" for f in self.fields)
                return f"ROW<{inside}>"
            case _ if self.precision is not None:
                return f"{name}({self.precision})"
            case _:
                return name

    def spark_sql(self) -> str:
        """Type in Spark SQL, for CAST and `fromDDL`."""
        match self.root:
            case Root.DECIMAL:
                return f"DECIMAL({self.precision},{self.scale})"
            case Root.TIME:
                return f"TIME({min(_given_digits(self.precision), MICROSECOND_DIGITS)})"
            case Root.ARRAY:
                return f"ARRAY<{_given(self.element).spark_sql()}>"
            case Root.MULTISET:
                return f"MAP<{_given(self.element).spark_sql()},INT>"
            case Root.MAP:
                return f"MAP<{_given(self.key).spark_sql()},{_given(self.element).spark_sql()}>"
            case Root.ROW:
                return f"STRUCT<{spark_ddl(self.fields, ': ')}>"
            case _:
                return _SPARK_NAMES[self.root]

    def __str__(self) -> str:
        return self.sql()


def _given_digits(digits: int | None) -> int:
    assert digits is not None, "a TIME without its digits"  # noqa: S101
    return digits


def _given(part: DataType | None) -> DataType:
    assert part is not None, "a constructed type without its parts"  # noqa: S101
    return part


def quote(name: str) -> str:
    """Quote an identifier with backticks, for Flink SQL and Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


def spark_ddl(fields: tuple[Field, ...], separator: str = " ") -> str:
    """Format fields as Spark's schema DDL: `` `a` BIGINT, `b` STRING ``."""
    return ", ".join(f"{quote(f.name)}{separator}{f.type.spark_sql()}" for f in fields)


BOOLEAN = DataType(Root.BOOLEAN)
TINYINT = DataType(Root.TINYINT)
SMALLINT = DataType(Root.SMALLINT)
INT = DataType(Root.INT)
BIGINT = DataType(Root.BIGINT)
FLOAT = DataType(Root.FLOAT)
DOUBLE = DataType(Root.DOUBLE)
DATE = DataType(Root.DATE)
STRING = DataType(Root.VARCHAR, precision=MAX_LENGTH)
BYTES = DataType(Root.VARBINARY, precision=MAX_LENGTH)
BITMAP = DataType(Root.BITMAP)
NULL = DataType(Root.NULL)
INTERVAL_YEAR_MONTH = DataType(Root.INTERVAL_YEAR_MONTH)
INTERVAL_DAY_TIME = DataType(Root.INTERVAL_DAY_TIME)


def char(length: int) -> DataType:
    """CHAR(length)."""
    return DataType(Root.CHAR, precision=length)


def varchar(length: int) -> DataType:
    """VARCHAR(length)."""
    return DataType(Root.VARCHAR, precision=length)


def decimal(precision: int = 10, scale: int = 0) -> DataType:
    """DECIMAL(precision, scale); Flink's defaults are 10 and 0."""
    return DataType(Root.DECIMAL, precision=precision, scale=scale)


def time(precision: int = 0) -> DataType:
    """TIME(precision)."""
    return DataType(Root.TIME, precision=precision)


def timestamp(precision: int = 6) -> DataType:
    """TIMESTAMP(precision) without time zone; Flink's default is 6 digits."""
    return DataType(Root.TIMESTAMP, precision=precision)


def timestamp_ltz(precision: int = 6) -> DataType:
    """TIMESTAMP_LTZ(precision), an instant shown in the session's time zone."""
    return DataType(Root.TIMESTAMP_LTZ, precision=precision)


def array(element: DataType) -> DataType:
    """ARRAY<element>."""
    return DataType(Root.ARRAY, element=element)


def multiset(element: DataType) -> DataType:
    """MULTISET<element>."""
    return DataType(Root.MULTISET, element=element)


def map_of(key: DataType, value: DataType) -> DataType:
    """MAP<key, value>."""
    return DataType(Root.MAP, key=key, element=value)


def row(*fields: Field) -> DataType:
    """ROW<fields>."""
    return DataType(Root.ROW, fields=fields)


_INTEGER_DIGITS = {Root.TINYINT: 3, Root.SMALLINT: 5, Root.INT: 10, Root.BIGINT: 19}


def as_decimal(exact: DataType) -> DataType:
    """Return the DECIMAL that holds every value of an exact numeric type."""
    if exact.root is Root.DECIMAL:
        return exact
    return decimal(_INTEGER_DIGITS[exact.root], 0).with_nullable(exact.nullable)
