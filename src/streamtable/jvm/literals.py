"""Constant columns. `pyspark.sql.functions.lit` imports pandas and numpy if they are installed."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows


def null(kind: str) -> Column:
    """Return a column of nulls.

    Args:
        kind: its type in Spark's DDL, such as `binary`.
    """
    return F.expr(f"CAST(NULL AS {kind})")
