"""Bound expressions, the columns that names can refer to, and helpers for Spark SQL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from streamtable.core.errors import Span
from streamtable.core.types import DataType, Field, Root, quote

#: Value of a constant: float for DOUBLE, int or Decimal for exact numbers.
Constant = str | int | Decimal | float | bool

#: Type of a keyword in an argument position; no value has this type.
SYMBOL = DataType(Root.NULL, nullable=False)

#: A field of the input, or a part of a ROW in it: the names from the field on.
Path = tuple[str, ...]

#: Marks a time attribute: the event time of the watermark, or processing time.
TimeAttribute = Literal["event", "proc"]


@dataclass(frozen=True)
class Bound:
    """A bound expression.

    Attributes:
        sql: Spark SQL over the input's fields; usable as an operand in any expression.
        type: Flink's type with nullability.
        deterministic: whether equal inputs give equal results.
        constant: value of a literal; None for NULL and for other expressions.
        time_attribute: time attribute of a column that passes through unchanged.
        paths: the input fields that the expression reads, or the parts of them.
        json: whether the expression is a call that returns JSON text.
        at: place in the script; not part of equality.
    """

    sql: str
    type: DataType
    deterministic: bool = True
    constant: Constant | None = None
    time_attribute: TimeAttribute | None = None
    paths: frozenset[Path] = frozenset()
    json: bool = False
    at: Span | None = field(default=None, compare=False)

    @property
    def fields(self) -> frozenset[str]:
        """Names of the input fields that the expression reads."""
        return roots(self.paths)

    @property
    def path(self) -> Path | None:
        """The path, if the expression is an input field or a part of it."""
        if len(self.paths) != 1:
            return None
        (path,) = self.paths
        return path if self.sql == ".".join(map(quote, path)) else None

    def located(self, at: Span | None) -> Bound:
        """Return the same expression at another place."""
        return replace(self, at=at)

    def retyped(self, kind: DataType) -> Bound:
        """Return the same Spark SQL and value with another type."""
        return replace(self, type=kind)


#: Beginning of the name that an item of FROM without an alias has, as in Flink.
_UNNAMED = "EXPR$"


def unnamed(number: int) -> str:
    """Return the name of an item of FROM without an alias; `number` counts them from 0."""
    return f"{_UNNAMED}{number}"


def is_unnamed(qualifier: str | None) -> bool:
    """Return whether the input of a column has no name in the query."""
    return qualifier is None or qualifier.startswith(_UNNAMED)


@dataclass(frozen=True)
class InputField:
    """A column that names can refer to.

    Attributes:
        qualifier: name or alias of the table in the query; None: no table.
        name: name of the column in the query.
        field: name (unique) and type of the field in the plan node's output.
        time_attribute: whether the column is the event time or the processing time.
        merged: whether a join has merged the column into another one of the same name, so that only
            the qualified name refers to it.
        base: the name before a number was added to it; None for other columns.
    """

    qualifier: str | None
    name: str
    field: Field
    time_attribute: TimeAttribute | None = None
    merged: bool = False
    base: str | None = None

    @property
    def field_name(self) -> str:
        """Name for a field that is made from the column; a plan's shape has it, without numbers."""
        return self.name if self.base is None else self.base


@dataclass(frozen=True)
class Input:
    """Columns that names can refer to in one place of a query."""

    fields: tuple[InputField, ...] = ()


def whole(names: Iterable[str]) -> frozenset[Path]:
    """Return the paths of whole input fields."""
    return frozenset((name,) for name in names)


def roots(paths: Iterable[Path]) -> frozenset[str]:
    """Return the input fields of paths."""
    return frozenset(path[0] for path in paths)


def derived(sql: str, kind: DataType, parts: Iterable[Bound]) -> Bound:
    """Derive an expression from its parts: deterministic if all are, at the first one's place."""
    given = tuple(parts)
    return Bound(
        sql,
        kind,
        deterministic=all(part.deterministic for part in given),
        paths=frozenset().union(*(part.paths for part in given)),
        at=next((part.at for part in given if part.at is not None), None),
    )


def symbol(name: str, at: Span | None) -> Bound:
    """Return a keyword as an argument of a call, such as the unit of `EXTRACT(YEAR FROM ...)`."""
    return Bound("", SYMBOL, constant=name, at=at)


def text_literal(value: str) -> str:
    """Return a string literal of Spark SQL (`spark.sql.parser.escapedStringLiterals` is off)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def failing(message: str, kind: DataType) -> str:
    """Return Spark SQL that fails the query; `message` is Spark SQL of a string."""
    return f"CAST(raise_error({message}) AS {kind.spark_sql()})"
