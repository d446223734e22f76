"""`udf` and `udtf`: types for Python functions that a script calls, as in PyFlink.

    from streamtable.udf import udf

    @udf(result_type="DECIMAL(10, 2)")
    def net(gross, rate):
        return ...

    @udtf(result_types=["STRING", "INT"])
    def words(text):
        yield from ((word, len(word)) for word in text.split())

    @udf(result_type="DOUBLE", func_type="pandas")
    def mean(low, high):
        return (low + high) / 2

A scalar function whose arguments and result have type hints needs no decorator. A function is
called once per row, or once per batch of rows with `func_type="pandas"`, in Python processes beside
Spark's tasks. `streamtable.udaf` has aggregate functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from streamtable.udaf import AggregateFunction, UserDefinedAggregateFunction, udaf

__all__ = [
    "AggregateFunction",
    "UserDefinedAggregateFunction",
    "UserDefinedFunction",
    "UserDefinedTableFunction",
    "udaf",
    "udf",
    "udtf",
]

_FUNC_TYPES = ("general", "pandas")


@dataclass(frozen=True)
class UserDefinedFunction:
    """A function with what the decorator says of it.

    Attributes:
        function: called once per row, with None for NULL; with `func_type="pandas"` once per batch,
            with one `pandas.Series` per argument.
        result_type: a type of Flink SQL, or None to go by the hint.
        input_types: one per argument, or None to go by the hints.
        deterministic: whether equal arguments give equal results.
        func_type: `general` or `pandas`.
    """

    function: Callable[..., Any]
    result_type: str | None = None
    input_types: tuple[str, ...] | None = None
    deterministic: bool = True
    func_type: str = "general"

    def __call__(self, *arguments: Any) -> Any:
        """Calls the function itself."""
        return self.function(*arguments)


@dataclass(frozen=True)
class UserDefinedTableFunction:
    """A table function with the types that its decorator declares.

    Attributes:
        function: called once per row, with None for NULL. It yields or returns the rows: a tuple is
            a row, any other value is a row of one column, None is no row.
        result_types: a type of Flink SQL per column, or one text whose ROW fields are the columns.
        input_types: one per argument, or None to go by the hints.
        deterministic: whether equal arguments give equal rows.
    """

    function: Callable[..., Any]
    result_types: str | tuple[str, ...]
    input_types: tuple[str, ...] | None = None
    deterministic: bool = True

    def __call__(self, *arguments: Any) -> Any:
        """Call the function itself."""
        return self.function(*arguments)


@overload
def udf(
    f: Callable[..., Any],
    *,
    result_type: str | None = None,
    input_types: str | Sequence[str] | None = None,
    deterministic: bool = True,
    func_type: str = "general",
) -> UserDefinedFunction: ...


@overload
def udf(
    *,
    result_type: str | None = None,
    input_types: str | Sequence[str] | None = None,
    deterministic: bool = True,
    func_type: str = "general",
) -> Callable[[Callable[..., Any]], UserDefinedFunction]: ...


def udf(
    f: Callable[..., Any] | None = None,
    *,
    result_type: str | None = None,
    input_types: str | Sequence[str] | None = None,
    deterministic: bool = True,
    func_type: str = "general",
) -> UserDefinedFunction | Callable[[Callable[..., Any]], UserDefinedFunction]:
    """Marks a function for CREATE FUNCTION ... LANGUAGE PYTHON.

    Args:
        f: the function, where the decorator stands without parentheses.
        result_type: a type of Flink SQL such as `BIGINT NOT NULL`.
        input_types: one type, or one per argument; arguments are cast to them as Flink does
            implicitly.
        deterministic: whether equal arguments give equal results.
        func_type: `general` for a function that is called once per row; `pandas` for one that is
            called once per batch of rows. It takes a `pandas.Series` per argument, and a
            `pandas.DataFrame` for a ROW, and returns one of the same length.

    Raises:
        ValueError: `func_type` has another value.
    """
    if func_type not in _FUNC_TYPES:
        message = f"func_type is {func_type!r}, and must be one of {', '.join(_FUNC_TYPES)}"
        raise ValueError(message)
    inputs = (input_types,) if isinstance(input_types, str) else input_types

    def decorate(function: Callable[..., Any]) -> UserDefinedFunction:
        types = None if inputs is None else tuple(inputs)
        return UserDefinedFunction(function, result_type, types, deterministic, func_type)

    return decorate if f is None else decorate(f)


@overload
def udtf(
    f: Any,
    *,
    result_types: str | Sequence[str],
    input_types: str | Sequence[str] | None = None,
    deterministic: bool = True,
) -> UserDefinedTableFunction: ...


@overload
def udtf(
    *,
    result_types: str | Sequence[str],
    input_types: str | Sequence[str] | None = None,
    deterministic: bool = True,
) -> Callable[[Any], UserDefinedTableFunction]: ...


def udtf(
    f: Any = None,
    *,
    result_types: str | Sequence[str],
    input_types: str | Sequence[str] | None = None,
    deterministic: bool = True,
) -> UserDefinedTableFunction | Callable[[Any], UserDefinedTableFunction]:
    """Mark a table function for CREATE FUNCTION ... LANGUAGE PYTHON.

    Args:
        f: the function, or an object with a method `eval`.
        result_types: one type of Flink SQL per column; or a text: a ROW type, whose fields are the
            columns, or the type of a single column.
        input_types: one type, or one per argument; arguments are cast to them as Flink does
            implicitly.
        deterministic: whether equal arguments give equal rows.
    """
    inputs = (input_types,) if isinstance(input_types, str) else input_types

    def decorate(function: Any) -> UserDefinedTableFunction:
        types = None if inputs is None else tuple(inputs)
        results = result_types if isinstance(result_types, str) else tuple(result_types)
        code = getattr(function, "eval", function)
        return UserDefinedTableFunction(code, results, types, deterministic)

    return decorate if f is None else decorate(f)
