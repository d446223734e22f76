"""Schemas of changelog DataFrames."""

from __future__ import annotations

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, spark_ddl


def changelog_ddl(fields: tuple[Field, ...]) -> str:
    """Row kind first, then the fields, as Spark's schema DDL."""
    columns = f"{ROW_KIND_COLUMN} TINYINT"
    return f"{columns}, {spark_ddl(fields)}" if fields else columns


def positions(key: tuple[str, ...] | None, fields: tuple[Field, ...]) -> list[int] | None:
    """Where the columns of a key stand among the fields; None for no key."""
    if key is None:
        return None
    names = [f.name for f in fields]
    return [names.index(name) for name in key]
