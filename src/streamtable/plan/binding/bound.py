"""The values of binding: a bound expression, the names it may use, and texts to build it from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from streamtable.core.errors import Span
from streamtable.core.types import DataType, Field, Root

#: What a constant holds; DOUBLE constants are floats, exact numbers int or Decimal.
Constant = str | int | Decimal | float | bool

#: The type of a keyword that stands where an argument would; no value has it.
SYMBOL = DataType(Root.NULL, nullable=False)

#: Marks a column that carries time for the operators: the watermark's, or processing time.
TimeAttribute = Literal["event", "proc"]


@dataclass(frozen=True)
class Bound:
    """An expression after resolution.

    Attributes:
        sql: Spark SQL over the input's fields; fit to stand as an operand anywhere.
        type: Flink's type with nullability.
        deterministic: whether equal inputs give equal results.
        constant: the value of a literal; None where it is no literal (or NULL).
        time_attribute: what a column that passes through unchanged means to time operators.
        fields: names of the input fields it reads.
        json: whether it is a call whose text is JSON.
        at: where it stands in the script; not part of what it is.
    """

    sql: str
    type: DataType
    deterministic: bool = True
    constant: Constant | None = None
    time_attribute: TimeAttribute | None = None
    fields: frozenset[str] = frozenset()
    json: bool = False
    at: Span | None = field(default=None, compare=False)

    def located(self, at: Span | None) -> Bound:
        """The same expression, standing elsewhere."""
        return replace(self, at=at)

    def retyped(self, kind: DataType) -> Bound:
        """The same text and value under another type."""
        return replace(self, type=kind)


@dataclass(frozen=True)
class InputField:
    """A column that names may mean.

    Attributes:
        qualifier: the table's name or alias in the query; None where there is none.
        name: as the user writes it.
        field: its name in the plan node's output (unique there) and its type.
        time_attribute: whether it is the event time or the processing time.
        merged: whether a join has made it part of a column of the same name, so that only its
            qualified name means it.
    """

    qualifier: str | None
    name: str
    field: Field
    time_attribute: TimeAttribute | None = None
    merged: bool = False


@dataclass(frozen=True)
class Input:
    """Everything that names can mean in one place of a query."""

    fields: tuple[InputField, ...] = ()


def derived(sql: str, kind: DataType, parts: Iterable[Bound]) -> Bound:
    """An expression made of others: deterministic if all are, standing where the first does."""
    given = tuple(parts)
    return Bound(
        sql,
        kind,
        deterministic=all(part.deterministic for part in given),
        fields=frozenset().union(*(part.fields for part in given)),
        at=next((part.at for part in given if part.at is not None), None),
    )


def symbol(name: str, at: Span | None) -> Bound:
    """A keyword among a call's arguments, as the unit of `EXTRACT(YEAR FROM ...)`."""
    return Bound("", SYMBOL, constant=name, at=at)


def text_literal(value: str) -> str:
    """A string literal of Spark SQL (`spark.sql.parser.escapedStringLiterals` is off)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def failing(message: str, kind: DataType) -> str:
    """Spark SQL that stops the query; `message` is Spark SQL of a string."""
    return f"CAST(raise_error({message}) AS {kind.spark_sql()})"
