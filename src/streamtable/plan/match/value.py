"""Values of a match, and the conditions of its variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.aggregate.call import AggregateCall


@stable(
    "MatchValue",
    output="output",
    variable="variable",
    column="column",
    first="first",
    offset="offset",
    call="call",
)
@dataclass(frozen=True)
class MatchValue:
    """A column of one row of a match, or an aggregate over its rows.

    Attributes:
        output: name and type of the value.
        variable: the pattern variable of the rows; None: all rows.
        column: the input field; None for an aggregate.
        first: whether rows are counted from the first one, otherwise from the last one.
        offset: the number of rows to skip.
        call: the aggregate.
    """

    output: Field
    variable: str | None = None
    column: str | None = None
    first: bool = False
    offset: int = 0
    call: AggregateCall | None = None

    @property
    def reads(self) -> frozenset[str]:
        """The input fields that the value is computed from."""
        if self.call is not None:
            return self.call.fields
        return frozenset({self.column} if self.column is not None else ())


@stable("MatchDefinition", variable="variable", column="column", sql="sql", values="values")
@dataclass(frozen=True)
class MatchDefinition:
    """The condition of a pattern variable.

    Attributes:
        column: a BOOLEAN input field; None if the condition reads several rows.
        sql: Spark SQL over the values.
        values: what the condition reads.
    """

    variable: str
    column: str | None = None
    sql: str | None = None
    values: tuple[MatchValue, ...] = ()

    @property
    def reads(self) -> frozenset[str]:
        """The input fields that the condition reads."""
        return fields_of(self.values) | ({self.column} if self.column is not None else set())


def fields_of(values: Iterable[MatchValue]) -> frozenset[str]:
    """Return the input fields that values are computed from."""
    return frozenset().union(*(value.reads for value in values))
