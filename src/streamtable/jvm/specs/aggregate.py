"""Specs of aggregations for `Bridge.operator`.

The first column of input and output is the row kind. A `ttl` is the state TTL in milliseconds after
the last change; with 0, state is kept as long as its rows exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.jvm.specs.operator import Aggregation, OperatorSpec
from streamtable.jvm.specs.restored import RestoredGroups


@dataclass(frozen=True, kw_only=True)
class GroupAggregateOperator(OperatorSpec, package="aggregate"):
    """Aggregates a changelog: one row per group with grouping columns and aggregates.

    Attributes:
        keys: the grouping columns.
        retracting: whether the input may retract rows.
        unknown: whether the input may retract rows that it has never added.
        before: whether to emit update-before rows.
        bitmaps: whether distinct integers may be stored as bitmaps.
        fold: whether each task aggregates its rows locally before the shuffle.
        order: positions that order the rows of a batch for order-dependent aggregates; all other
            columns follow from left to right.
        restored: state with which the operator starts, if any.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    retracting: bool
    unknown: bool
    before: bool
    bitmaps: bool
    fold: bool
    order: Sequence[int]
    ttl: int
    output_ddl: str
    restored: RestoredGroups | None = None
