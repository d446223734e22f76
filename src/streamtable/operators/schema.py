"""Schemas of changelog DataFrames."""

from __future__ import annotations

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, spark_ddl


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
