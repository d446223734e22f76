"""Specs of state with which operators start, for `Bridge.operator`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamtable.jvm.specs.operator import Named

#: Sources of a call in `RestoredGroups`: it starts without values; its state is the number of rows.
EMPTY, ROWS = -1, -2


@dataclass(frozen=True)
class RestoredState(Named):
    """State of another operator with which an operator starts.

    Attributes:
        rows: a row for each value and each map entry: the grouping columns, or one column for the
            group of all rows; the position of its variable in `variables` (INT); then `key<n>` and
            `value<n>` for each variable. The key of a value is NULL, and so are the columns of
            other variables.
        variables: names of the state variables in the new operator.
    """

    rows: DataFrame
    variables: Sequence[str]


@dataclass(frozen=True)
class StoredCall(Named):
    """A call of a stored aggregation: what decides how many state columns it has."""

    function: str
    distinct: bool
    parameters: Sequence[str]
    python: bool


@dataclass(frozen=True)
class RestoredGroups(Named):
    """State of another group aggregation with which an operator starts.

    Attributes:
        state: its state; the first variable is the state row of a group.
        calls: its calls.
        sources: for each call of the operator the position of a call with the same state, `ROWS` or
            `EMPTY`.
        emitted: whether the output is a batch DataFrame with an insert for each group, instead of
            the streaming operator.
    """

    state: RestoredState
    calls: Sequence[StoredCall]
    sources: Sequence[int]
    emitted: bool = False


@dataclass(frozen=True)
class RestoredQuery:
    """State with which the operators of a query start.

    Attributes:
        groups: state of its group aggregation.
        upserts: state of the normalizer of its source, if it has one.
    """

    groups: RestoredGroups
    upserts: RestoredState | None
