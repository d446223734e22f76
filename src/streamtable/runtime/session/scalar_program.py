"""Runs a Python scalar or table function in Spark's Python UDFs and checks its results.

Spark converts results by other rules with Arrow than without it, and some values of another type
become NULL without a message. Values of the declared type give equal rows both ways. This module
is pickled by value, because workers may lack the package: it imports only PySpark and modules that
are pickled with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import types as t

from streamtable.runtime.session.plain_values import plain_value


class MisfitError(Exception):
    """A result that does not fit its type; its text has a traceback, which the driver reads."""


class ScalarProgram:
    """A scalar or table function with the type of its result."""

    def __init__(
        self, name: str, function: Callable[..., Any], result: t.DataType, is_table: bool
    ) -> None:
        """Create the program of a function.

        Args:
            name: its name in SQL.
            function: the user's function.
            result: type of its result; for a table function, an array of its rows.
            is_table: whether it is a table function.
        """
        self.__name__ = name
        self._function = function
        self._result = result
        self._is_table = is_table

    def __call__(self, *arguments: Any) -> Any:
        """Return the result as a value of the declared type.

        Raises:
            MisfitError: the result has another type.
        """
        value = self._function(*arguments)
        if self._is_table:
            value = _rows(value)
        try:
            return plain_value(value, self._result, rounds=True)
        except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
            raise MisfitError(self._misfit(error)) from None

    def _misfit(self, error: Exception) -> str:
        """Return a traceback at the first line of the function."""
        function: Any = self._function
        for wrapped in ("func", "__func__"):  # of functools.partial and of a method
            function = getattr(function, wrapped, function)
        code = getattr(function, "__code__", None) or getattr(
            type(function).__call__, "__code__", None
        )
        file, line = (code.co_filename, code.co_firstlineno) if code else ("<unknown>", 1)
        kind = self._result
        if self._is_table and isinstance(kind, t.ArrayType):
            kind = kind.elementType
        return (
            f"\nTraceback (most recent call last):\n"
            f'  File "{file}", line {line}, in {self.__name__}\n'
            f"TypeError: the result does not fit {kind.simpleString()}: {error}"
        )


def _rows(given: Any) -> list[Any]:
    """Return all rows of a table function as tuples.

    As in PyFlink, a tuple is a row, any other value is a row of one column, and None is no row.
    """
    if given is None:
        return []
    items = given if isinstance(given, list | range | Iterator) else [given]
    return [tuple(item) if isinstance(item, tuple) else (item,) for item in items]
