"""Specs of MATCH_RECOGNIZE for `Bridge.operator`.

Variables and states are numbers; columns are positions in the input, whose first column is the row
kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.jvm.specs.operator import (
    Aggregation,
    Lateness,
    Named,
    OperatorSpec,
    SortColumn,
)


@dataclass(frozen=True)
class PatternEdge(Named):
    """A transition of the automaton.

    Attributes:
        take: whether it consumes the row; if not, the same row is tried on the target.
        variable: the variable that the row belongs to.
        target: the state that it leads to.
        holds: variables whose conditions must be true.
        fails: variables whose conditions must not be true.
    """

    take: bool
    variable: int
    target: int
    holds: Sequence[int]
    fails: Sequence[int]


@dataclass(frozen=True)
class PatternState(Named):
    """A state of the automaton; the end has no transitions."""

    edges: Sequence[PatternEdge]


@dataclass(frozen=True)
class MatchPattern(Named):
    """A pattern.

    Attributes:
        variables: the names of the variables.
        states: the start is the last one.
        skip_to: name of a `SkipTo`.
        skip_variable: its variable; -1 for none.
        within: how long a match may take, in milliseconds; 0 for no limit.
    """

    variables: Sequence[str]
    states: Sequence[PatternState]
    skip_to: str
    skip_variable: int
    within: int


@dataclass(frozen=True)
class MatchValue(Named):
    """A value of a match.

    Attributes:
        variable: the variable of its rows; -1 for all rows.
        column: position of the column.
        first: whether rows are counted from the first one, otherwise from the last one.
        offset: the number of rows to skip.
        aggregation: the aggregate; None for a column.
    """

    variable: int
    column: int
    first: bool
    offset: int
    aggregation: Aggregation | None


@dataclass(frozen=True)
class MatchDefinition(Named):
    """The condition of a variable; without column and text it is true.

    Attributes:
        column: position of a BOOLEAN column; -1 if the condition reads several rows.
        text: Spark SQL over the values.
        values_ddl: names and types of the values.
    """

    column: int
    text: str | None
    values: Sequence[MatchValue]
    values_ddl: str


@dataclass(frozen=True, kw_only=True)
class MatchOperator(OperatorSpec, package="match"):
    """Emits a row per match, from rows of columns, their time in milliseconds, and positions.

    The output has the keys, the values, and the time in milliseconds of the match.

    Attributes:
        keys: the partition columns.
        event_time: whether rows wait for the watermark.
        definitions: one for each variable.
        order: the order of rows with the same time.
        positions: the number of columns after the time that give the arrival order.
    """

    keys: Sequence[str]
    event_time: bool
    pattern: MatchPattern
    definitions: Sequence[MatchDefinition]
    values: Sequence[MatchValue]
    order: Sequence[SortColumn]
    positions: int
    lateness: Lateness
    output_ddl: str
