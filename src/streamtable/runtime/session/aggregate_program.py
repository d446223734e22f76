"""Runs a Python aggregate function in a process beside a task.

The Java operator keeps the encoded accumulator of each group. For each batch of a group it sends a
request with the accumulator and the changes, and gets the new accumulator and the result. This
module is pickled by value, because workers may lack the package: it imports only PySpark and
modules that are pickled with it.

An encoded accumulator is a part of checkpoints: the pickled form, protocol 4, of None, bool, int,
float, str, bytes, Decimal, date, time, datetime, tuple (a ROW), list (an ARRAY), dict (a MAP), and
of `(_LIST_VIEW, list)` and `(_MAP_VIEW, dict)`.
"""

from __future__ import annotations

import json
import pickle
import struct
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import types as t

from streamtable.common import Row
from streamtable.runtime.session.plain_values import plain_value
from streamtable.udaf import AggregateFunction, ListView, MapView

_PROTOCOL = 4
_TRACEBACK = "Traceback (most recent call last):\n"


class FailedError(Exception):
    """An error of the function; `traceback_text` is what the driver reads."""

    def __init__(self, text: str) -> None:
        """Create an error with a traceback as Python prints it."""
        super().__init__(text)
        self.traceback_text = text


class AggregateProgram:
    """An aggregate function with its types."""

    def __init__(
        self, name: str, function: AggregateFunction, accumulator: t.DataType, result: t.DataType
    ) -> None:
        """Create the program of a function with its name in SQL."""
        self.__name__ = name
        self._function = function
        self._accumulator = accumulator
        self._result = result
        self._arguments: dict[str, Callable[[Any], Any]] = {}

    def __call__(self, rows: Sequence[Any] | None) -> Any:
        """Return the result over an array of rows of arguments, as a UDF of Spark."""
        made = self._user("create_accumulator")
        for row in rows or ():
            self._user("accumulate", made, *(row if isinstance(row, tuple) else ()))
        return self._checked("result", self._user("get_value", made), self._result)

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request of the Java class `PythonAccumulator`.

        Args:
            request: length of the accumulator or -1, accumulator, and the pickled tuple of
                additions, retractions, whether to compute the result, and the type of the
                arguments as JSON, empty without arguments. The answer has the same form:
                length, accumulator and pickled result.

        Raises:
            FailedError: the function raised an exception, or returned a value of a wrong type.
        """
        (length,) = struct.unpack_from(">i", request)
        end = 4 + max(0, length)
        if length < 0:
            accumulator = self._user("create_accumulator")
        else:
            plain = pickle.loads(request[4:end])  # noqa: S301 - written below
            accumulator = _decoded(plain, self._accumulator)
        added, retracted, computes, types = pickle.loads(request[end:])  # noqa: S301 - of the JVM
        to_python = self._to_python(types)
        for name, changes in (("accumulate", added), ("retract", retracted)):
            for values in changes:
                self._user(name, accumulator, *to_python(values))
        result = None
        if computes:
            value = self._user("get_value", accumulator)
            result = self._result.toInternal(self._checked("result", value, self._result))
        plain = self._checked("accumulator", accumulator, self._accumulator)
        encoded = pickle.dumps(plain, _PROTOCOL)
        return struct.pack(">i", len(encoded)) + encoded + pickle.dumps(result, _PROTOCOL)

    def _to_python(self, types: str) -> Callable[[Any], Any]:
        if types not in self._arguments:
            kind = t.StructType.fromJson(json.loads(types)) if types else t.StructType()
            self._arguments[types] = _to_python(kind)
        return self._arguments[types]

    def _user(self, name: str, *arguments: Any) -> Any:
        """Call a method of the user's function; its exceptions keep only the user's frames."""
        method = getattr(self._function, name)
        try:
            return method(*arguments)
        except BaseException as error:
            raise FailedError(_traceback(self._function, method, error)) from None

    def _checked(self, what: str, value: Any, kind: t.DataType) -> Any:
        try:
            return plain_value(value, kind)
        except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
            reason = f"the {what} of {self.__name__} does not fit {kind.simpleString()}: {error}"
            text = f"{_TRACEBACK}TypeError: {reason}"
            raise FailedError(text) from None


def _traceback(function: object, method: Callable[..., Any], error: BaseException) -> str:
    """Return a traceback that begins at the user's method."""
    below = error.__traceback__.tb_next if error.__traceback__ else None
    frames = traceback.extract_tb(below)
    code = method.__func__.__code__  # type: ignore[attr-defined]
    place = (frames[0].filename, frames[0].lineno) if frames else _first_line(code)
    name = f"{type(function).__name__}.{method.__name__}"
    first = traceback.FrameSummary(*place, name, lookup_line=False, line="")
    listed = traceback.StackSummary.from_list([first, *frames[1:]]).format()
    ends = traceback.format_exception_only(type(error), error)
    return "".join([_TRACEBACK, *listed, *ends])


def _first_line(code: Any) -> tuple[str, int]:
    return code.co_filename, code.co_firstlineno


def _to_python(kind: t.DataType) -> Callable[[Any], Any]:
    """Return the conversion of Spark's internal values, with a list or tuple for a row."""
    convert: Callable[[Any], Any]
    if isinstance(kind, t.StructType):
        parts = [_to_python(f.dataType) for f in kind.fields]
        names = kind.names

        def convert(row: Any) -> Any:
            return Row.of([part(v) for part, v in zip(parts, row, strict=True)], names)

    elif isinstance(kind, t.ArrayType):
        element = _to_python(kind.elementType)

        def convert(items: Any) -> Any:
            return [element(item) for item in items]

    elif isinstance(kind, t.MapType):
        key, item = _to_python(kind.keyType), _to_python(kind.valueType)

        def convert(entries: Any) -> Any:
            return {key(k): item(v) for k, v in entries.items()}

    elif isinstance(kind, t.BinaryType):
        convert = bytes
    else:
        convert = kind.fromInternal
    return lambda value: None if value is None else convert(value)


def _decoded(plain: Any, kind: t.DataType) -> Any:
    """Return the accumulator of a plain value; its rows and lists may be changed."""
    if plain is None:
        return None
    if isinstance(kind, t.StructType):
        values = [_decoded(v, f.dataType) for v, f in zip(plain, kind.fields, strict=True)]
        return Row.of(values, kind.names)
    if isinstance(kind, t.ArrayType):
        view = isinstance(plain, tuple)
        items = [_decoded(item, kind.elementType) for item in (plain[1] if view else plain)]
        return ListView(items) if view else items
    if isinstance(kind, t.MapType):
        view = isinstance(plain, tuple)
        entries = plain[1] if view else plain
        found = {key: _decoded(item, kind.valueType) for key, item in entries.items()}
        return MapView(found.items()) if view else found
    return plain
