"""Schemas of changelog DataFrames, and the positions of their columns."""

from __future__ import annotations

from collections.abc import Iterable

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, spark_ddl
from streamtable.jvm.specs.operator import SortColumn
from streamtable.plan.rank.sort_key import SortKey


def changelog_ddl(fields: tuple[Field, ...]) -> str:
    """Return the schema of a changelog as Spark DDL: the row kind, then the fields."""
    columns = f"{ROW_KIND_COLUMN} TINYINT"
    return f"{columns}, {spark_ddl(fields)}" if fields else columns


def positions(key: tuple[str, ...] | None, fields: tuple[Field, ...]) -> list[int] | None:
    """Return the positions of the key columns among the fields; None for no key."""
    if key is None:
        return None
    names = [f.name for f in fields]
    return [names.index(name) for name in key]


def sort_columns(
    order: Iterable[SortKey],
    fields: Iterable[Field],
    ties: Iterable[str] = (),
    *,
    last: bool = False,
) -> list[SortColumn]:
    """Return the columns of an order, then those that break ties.

    Args:
        order: the order.
        fields: the fields of the rows.
        ties: fields with the position of a row.
        last: whether the last of equal rows comes first.
    """
    names = [f.name for f in fields]
    return [
        *(SortColumn(names.index(k.field), k.descending, k.nulls_first) for k in order),
        *(SortColumn(names.index(name), last, True) for name in ties),
    ]
