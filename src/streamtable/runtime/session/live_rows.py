"""Twins of Python functions for changelogs whose deletes carry only the key of their row.

Spark evaluates a Python UDF for every row. The first argument of a twin is false for a delete,
which does not call the function. This module is pickled by value, because workers may lack the
package: it imports only PySpark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import types as t


class Twin:
    """The twin of a function that is called once per row."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__name__ = function.__name__
        self._function = function

    def __call__(self, live: bool, *arguments: Any) -> Any:
        """Return the result of the function for a live row, and None for a delete."""
        return self._function(*arguments) if live else None


class VectorisedTwin:
    """The twin of a function over pandas objects.

    Args:
        function: called with the live rows of a batch.
        result: type of its result.
    """

    def __init__(self, function: Callable[..., Any], result: t.DataType) -> None:
        self._function = function
        self._columns = result.fieldNames() if isinstance(result, t.StructType) else None

    def __call__(self, live: Any, *arguments: Any) -> Any:
        """Return the results of live rows, and any values for deletes; all are pandas objects."""
        import pandas as pd  # only for functions that have it

        if live.all():
            return self._function(*arguments)
        if not live.any() and self._columns is not None:
            return pd.DataFrame(None, live.index, self._columns, dtype=object)
        if not live.any():
            return pd.Series(None, live.index, dtype=object)
        found = self._function(*(part[live].reset_index(drop=True) for part in arguments))
        if len(found) != live.sum():
            return found  # which Spark refuses
        # A delete gets the result of a live row, so that the results keep their type.
        rows = found if isinstance(found, pd.DataFrame) else pd.Series(found)
        return rows.take((live.cumsum() - 1).clip(lower=0))
