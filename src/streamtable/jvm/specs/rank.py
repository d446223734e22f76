"""Specs of Top-N and deduplication for `Bridge.operator`.

The first column of input and output is the row kind. A `ttl` is the state TTL in milliseconds after
the last change; with 0, state is kept as long as its rows exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.jvm.specs.operator import Lateness, OperatorSpec, SortColumn


@dataclass(frozen=True, kw_only=True)
class TopNOperator(OperatorSpec, package="rank"):
    """Emits the changes of the first rows of each partition of a changelog.

    Attributes:
        keys: the partition columns.
        fold: whether each task prunes its rows before the shuffle; only for append-only input.
        skip: the number of rows to skip in a partition.
        limit: the number of rows after the skipped rows.
        retracting: whether the input may retract rows.
        begins: whether the first change of a row may be a retraction; it is then ignored.
        row_key: positions of a unique key of the rows, by which a retraction removes a row if no
            equal row is stored; None if there is none.
        ranked: whether the output ends with each row's rank.
        output_key: positions in the output; a delete and an insert with the same values there
            become an update.
        before: whether to emit update-before rows.
    """

    keys: Sequence[str]
    fold: bool
    order: Sequence[SortColumn]
    skip: int
    limit: int
    retracting: bool
    begins: bool
    row_key: Sequence[int] | None
    ranked: bool
    output_key: Sequence[int] | None
    before: bool
    ttl: int
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class LimitOperator(OperatorSpec, package="rank"):
    """Emits the first rows to arrive, from columns and positions.

    Attributes:
        fold: whether each task prunes its rows before the shuffle.
        skip: the number of rows to skip.
        limit: the number of rows after the skipped rows.
        positions: the number of columns at the end that order the rows of a batch.
    """

    fold: bool
    skip: int
    limit: int
    positions: int
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class FirstRowOperator(OperatorSpec, package="rank"):
    """Emits the first row of each partition, with the input of `OverAggregateOperator`.

    Attributes:
        keys: the partition columns.
        positions: the number of columns after the event time that order the rows of one time.
    """

    keys: Sequence[str]
    positions: int
    lateness: Lateness
    ttl: int
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class ProcessingTimeDeduplicateOperator(OperatorSpec, package="rank"):
    """Emits the first or the last arrived row of each partition, from columns and positions.

    Attributes:
        keys: the partition columns.
        last: whether to emit the last row.
        before: whether to emit update-before rows.
        positions: the number of columns at the end that order the rows.
    """

    keys: Sequence[str]
    last: bool
    before: bool
    positions: int
    ttl: int
    output_ddl: str
