"""Derive Flink SQL types of Python functions from type hints or the decorator."""

from __future__ import annotations

import datetime
import decimal
import functools
import importlib.util
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from streamtable.core import types as t
from streamtable.core.types import DataType
from streamtable.sql.parse import parse_type
from streamtable.udaf import AggregateFunction, UserDefinedAggregateFunction, udaf
from streamtable.udf import UserDefinedFunction, UserDefinedTableFunction

_PLAIN: dict[Any, DataType] = {
    bool: t.BOOLEAN,
    int: t.BIGINT,
    float: t.DOUBLE,
    str: t.STRING,
    bytes: t.BYTES,
    bytearray: t.BYTES,
    decimal.Decimal: t.decimal(38, 18),
    datetime.date: t.DATE,
    datetime.datetime: t.timestamp(6),
}


@dataclass(frozen=True)
class Signature:
    """Signature of a Python function: argument types and result type.

    Attributes:
        parameters: type of each argument; None accepts any type without a cast.
        required: number of arguments that a call must pass.
        variadic: whether further arguments of any type are allowed.
        result: type of the result; for a table function, an ARRAY of its rows.
        deterministic: whether equal arguments give equal results.
        is_table: whether it is a table function.
        vectorised: whether it takes and returns pandas objects for a batch of rows.
        accumulator: type of the accumulator of an aggregate function; None for other functions.
        retracts: whether an aggregate function implements `retract`.
    """

    parameters: tuple[DataType | None, ...]
    required: int
    variadic: bool
    result: DataType
    deterministic: bool = True
    is_table: bool = False
    vectorised: bool = False
    accumulator: DataType | None = None
    retracts: bool = False

    @property
    def is_aggregate(self) -> bool:
        """Whether it is an aggregate function."""
        return self.accumulator is not None

    @property
    def kind(self) -> str:
        """Kind of the function in messages."""
        if self.is_aggregate:
            return "an aggregate function"
        return "a table function" if self.is_table else "a scalar function"

    def usage(self) -> str:
        """Argument list as messages show it."""
        shown = ["any type" if p is None else p.with_nullable(True).sql() for p in self.parameters]
        listed = [p if i < self.required else f"[{p}]" for i, p in enumerate(shown)]
        return "(" + ", ".join([*listed, *(["..."] if self.variadic else [])]) + ")"


def signature_of(found: object) -> Signature:
    """Return the signature of a function, decorated or not.

    Raises:
        ValueError: the function has no usable signature; the message says why.
        StreamtableError: SYNTAX in a type of the decorator.
    """
    if isinstance(found, AggregateFunction | UserDefinedAggregateFunction):
        return _aggregate(found)
    if inspect.isclass(found) and issubclass(found, AggregateFunction):
        msg = f"it is a class; create an object: udaf({found.__name__}())"
        raise ValueError(msg)
    marked = found if isinstance(found, UserDefinedFunction | UserDefinedTableFunction) else None
    function = marked.function if marked else found
    if not callable(function) or inspect.isclass(function):
        msg = "it is not a function"
        raise ValueError(msg)
    parameters = _positional(function)
    vectorised = isinstance(marked, UserDefinedFunction) and marked.func_type == "pandas"
    if vectorised:
        _check_vectorised(parameters, marked)
    hints = {} if vectorised else _hints(function)
    given = _given(parameters, marked.input_types if marked else None, hints)
    is_table = isinstance(marked, UserDefinedTableFunction)
    if isinstance(marked, UserDefinedTableFunction):
        result = _rows_of(marked.result_types)
    elif marked and marked.result_type is not None:
        result = parse_type(marked.result_type)
    else:
        result = _result(hints)
    deterministic = marked.deterministic if marked else True
    return Signature(
        given, parameters.required, parameters.variadic, result, deterministic, is_table, vectorised
    )


def _aggregate(found: AggregateFunction | UserDefinedAggregateFunction) -> Signature:
    """Return the signature of an aggregate function: that of `accumulate` after the accumulator."""
    try:
        marked = found if isinstance(found, UserDefinedAggregateFunction) else udaf(found)
    except TypeError as error:
        raise ValueError(str(error)) from error
    function = marked.function
    listed = _positional(function.accumulate)
    if not listed.fixed:
        msg = "its accumulate() takes no accumulator"
        raise ValueError(msg)
    parameters = _Parameters(listed.fixed[1:], max(0, listed.required - 1), listed.variadic)
    given: tuple[DataType | None, ...]
    if marked.input_types is not None and listed.variadic and not parameters.fixed:
        given = tuple(parse_type(text) for text in marked.input_types)
        parameters = _Parameters((), len(given), variadic=False)
    else:
        given = _given(parameters, marked.input_types, _hints(function.accumulate))
    return Signature(
        given,
        parameters.required,
        parameters.variadic,
        parse_type(marked.result_type),
        marked.deterministic,
        accumulator=parse_type(marked.accumulator_type),
        retracts=type(function).retract is not AggregateFunction.retract,
    )


def _given(
    parameters: _Parameters, input_types: tuple[str, ...] | None, hints: dict[str, Any]
) -> tuple[DataType | None, ...]:
    """Return the types of the arguments, by the decorator or by the hints."""
    if input_types is None:
        return tuple(_hinted(hints.get(name)) for name in parameters.fixed)
    if len(input_types) != len(parameters.fixed):
        msg = f"it takes {len(parameters.fixed)} arguments, input_types names {len(input_types)}"
        raise ValueError(msg)
    return tuple(parse_type(text) for text in input_types)


def _check_vectorised(parameters: _Parameters, marked: object) -> None:
    """Check what a function over pandas objects needs, whose hints name no types of SQL."""
    if isinstance(marked, UserDefinedFunction) and marked.result_type is None:
        msg = 'it has func_type="pandas" and no result_type'
        raise ValueError(msg)
    if not parameters.fixed and not parameters.variadic:
        msg = 'it has func_type="pandas" and no argument, whose length is that of its result'
        raise ValueError(msg)
    lacking = [name for name in ("pandas", "pyarrow") if importlib.util.find_spec(name) is None]
    if lacking:
        msg = f'it has func_type="pandas", and {lacking[0]} is not installed'
        raise ValueError(msg)


def _rows_of(columns: str | tuple[str, ...]) -> DataType:
    """Return the ARRAY of the rows of a table function; columns without a name are f0, f1, ..."""
    if isinstance(columns, str):
        given = parse_type(columns)
        if given.root is t.Root.ROW:
            return t.array(given.with_nullable(False))
        columns = (columns,)
    if not columns:
        msg = "its result_types are empty"
        raise ValueError(msg)
    listed = ", ".join(f"f{i} {kind}" for i, kind in enumerate(columns))
    return t.array(parse_type(f"ROW<{listed}> NOT NULL"))


@dataclass(frozen=True)
class _Parameters:
    fixed: tuple[str, ...]
    required: int
    variadic: bool


def _positional(function: Callable[..., Any]) -> _Parameters:
    fixed: list[str] = []
    required, variadic = 0, False
    for parameter in inspect.signature(function).parameters.values():
        match parameter.kind:
            case inspect.Parameter.POSITIONAL_ONLY | inspect.Parameter.POSITIONAL_OR_KEYWORD:
                fixed.append(parameter.name)
                required += parameter.default is inspect.Parameter.empty
            case inspect.Parameter.VAR_POSITIONAL:
                variadic = True
            case inspect.Parameter.KEYWORD_ONLY if parameter.default is inspect.Parameter.empty:
                msg = f"its argument '{parameter.name}' can only be given by name"
                raise ValueError(msg)
            case _:
                continue
    return _Parameters(tuple(fixed), required, variadic)


def without_partial(function: Any) -> Any:
    """Return the function to which `functools.partial` gives arguments."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the type hints of a function; those of `__call__` for an object, {} for none."""
    function = without_partial(function)
    if not inspect.isroutine(function) and not hasattr(function, "__wrapped__"):
        function = type(function).__call__
    try:
        return get_type_hints(function)
    except NameError as error:
        msg = f"a type hint of it is not defined: {error.name}"
        raise ValueError(msg) from error


def _result(hints: dict[str, Any]) -> DataType:
    kind = _hinted(hints.get("return"))
    if kind is None:
        msg = "its result type is unknown"
        raise ValueError(msg)
    return kind


def _hinted(hint: Any) -> DataType | None:
    """Return the nullable type of a hint; None for Any or no hint."""
    if hint is None or hint is Any:
        return None
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        options = [option for option in inside if option is not type(None)]
        if len(options) == 1:
            return _hinted(options[0])
    elif origin is list and inside:
        return t.array(_inside(inside[0]))
    elif origin is dict and inside:
        return t.map_of(_inside(inside[0]), _inside(inside[1]))
    msg = f"type hint {getattr(hint, '__name__', hint)} has no Flink SQL type"
    raise ValueError(msg)


def _inside(hint: Any) -> DataType:
    kind = _hinted(hint)
    if kind is None:
        msg = "a type hint of a list or dict must declare its element types"
        raise ValueError(msg)
    return kind
