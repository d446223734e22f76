"""Rows of one scan for several queries, or for several places of one query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pyspark.sql import DataFrame

from streamtable.jvm.bridge import Bridge


def fan_out(
    bridge: Bridge, rows: DataFrame, queries: Mapping[int, Callable[[DataFrame], DataFrame]]
) -> DataFrame:
    """Apply several queries to each row.

    Args:
        bridge: the JVM side.
        rows: the input.
        queries: by the number of the query in its state. Each returns a query over a DataFrame with
            the columns of the input; the results have equal types of columns.

    Returns:
        The rows of all queries, with the place of their query in another last column (INT).
    """
    found = [query(recorded(bridge, rows)) for query in queries.values()]
    frames = bridge.java_list(frame._jdf for frame in found)  # noqa: SLF001 - no public way
    numbers = bridge.java_list(queries)
    return bridge.frame(bridge.java.operators.fanout.FanOut.of(rows._jdf, frames, numbers))  # noqa: SLF001


def recorded(bridge: Bridge, rows: DataFrame) -> DataFrame:
    """Return an empty DataFrame over which a query of `fan_out` or `union` is written.

    Args:
        bridge: the JVM side.
        rows: the rows that the query takes.
    """
    return bridge.frame(bridge.java.operators.fanout.Recording.begin(rows._jdf))  # noqa: SLF001


def union(bridge: Bridge, inputs: Iterable[DataFrame], *, real_time: bool) -> DataFrame:
    """Return the rows of DataFrames with equal types of columns.

    If they are filters and projections over `recorded` frames of the same rows, these rows are
    computed once.

    Args:
        bridge: the JVM side.
        inputs: the DataFrames.
        real_time: whether the result is for real-time mode, where Spark's own union has no input
            with state.
    """
    frames = bridge.java_list(frame._jdf for frame in inputs)  # noqa: SLF001
    return bridge.frame(bridge.java.operators.fanout.FanOut.union(frames, real_time))


def filtered(bridge: Bridge, rows: DataFrame, condition: str) -> DataFrame:
    """Drop rows for which a condition is not true; all rows stay if it is not deterministic."""
    return bridge.frame(bridge.java.query.StoredRows.filtered(rows._jdf, condition))  # noqa: SLF001


def stored(bridge: Bridge, rows: DataFrame) -> DataFrame:
    """Shuffle rows once in each micro-batch, for all places of a plan that read the result.

    The rows of a task stay together, in their order.
    """
    return bridge.frame(bridge.java.query.StoredRows.of(rows._jdf))  # noqa: SLF001
