"""Specs of operators that convert changelogs, for `Bridge.operator`.

The first column of input and output is the row kind. A `ttl` is the state TTL in milliseconds after
the last change; with 0, state is kept as long as its rows exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.jvm.specs.operator import OperatorSpec
from streamtable.jvm.specs.restored import RestoredState


@dataclass(frozen=True, kw_only=True)
class NormalizeOperator(OperatorSpec, package="changelog"):
    """Normalizes upserts, followed by Kafka's partition and offset, to a full changelog.

    Attributes:
        keys: the columns of the primary key.
        row_ddl: the columns without the row kind.
        before: whether to emit update-before rows.
        positions: whether the output also ends with partition and offset.
        restored: state with which the operator starts, if any.
    """

    keys: Sequence[str]
    row_ddl: str
    before: bool
    positions: bool
    ttl: int
    output_ddl: str
    restored: RestoredState | None = None


@dataclass(frozen=True, kw_only=True)
class MaterializeOperator(OperatorSpec, package="changelog"):
    """Materializes unordered changes, followed by the columns of `order`, to one row per key.

    Attributes:
        keys: the columns of the key.
        row_ddl: the columns without the row kind.
        order: positions of the columns that order the changes of a batch.
        unique: whether a key has at most one row.
        begins: whether the first change of a row may be a retraction; it is then ignored.
        row_key: positions of a unique key of the rows, by which a retraction removes a row if no
            equal row is stored; None if there is none.
    """

    keys: Sequence[str]
    row_ddl: str
    order: Sequence[int]
    unique: bool
    begins: bool
    row_key: Sequence[int] | None
    ttl: int
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class PairedFilterOperator(OperatorSpec, package="changelog"):
    """Filters rows of (row kind, matches, columns...); both rows of an update are kept or dropped.

    Attributes:
        before: whether to emit update-before rows.
    """

    before: bool
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class BatchSortOperator(OperatorSpec, package="changelog"):
    """Sorts the rows of each task of a micro-batch, in memory.

    Attributes:
        order: positions of the columns to sort by, ascending.
    """

    order: Sequence[int]
