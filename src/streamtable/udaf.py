"""`AggregateFunction` and `udaf`: aggregate functions in Python, as in PyFlink."""

from __future__ import annotations

import abc
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Sequence, ValuesView
from dataclasses import dataclass
from typing import Any


class AggregateFunction(abc.ABC):
    """An aggregate function; a subclass keeps what it needs of the rows in an accumulator.

    class Total(AggregateFunction):
        def create_accumulator(self):
            return [0]

        def accumulate(self, accumulator, value):
            accumulator[0] += value

        def retract(self, accumulator, value):
            accumulator[0] -= value

        def get_value(self, accumulator):
            return accumulator[0]

    total = udaf(Total(), result_type="BIGINT", accumulator_type="ARRAY<BIGINT>")

    An accumulator is a value of the type that `get_accumulator_type` names. For a ROW it is a
    `streamtable.common.Row`, a list or a tuple, for an ARRAY a list, for a MAP a dict.
    """

    @abc.abstractmethod
    def create_accumulator(self) -> Any:
        """Return the accumulator of a group without rows."""

    @abc.abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Change the accumulator for a new row, with the arguments of the call; None is NULL."""

    @abc.abstractmethod
    def get_value(self, accumulator: Any) -> Any:
        """Return the result."""

    def retract(self, accumulator: Any, *args: Any) -> None:
        """Change the accumulator for a row that is removed. Inputs with changes need it."""
        raise NotImplementedError

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        """Add accumulators to the first one. PyFlink's sessions need it; streamtable's do not."""
        raise NotImplementedError

    def get_result_type(self) -> str:
        """Return the type of the result, a type of Flink SQL such as `BIGINT`."""
        raise NotImplementedError

    def get_accumulator_type(self) -> str:
        """Return the type of the accumulator, a type of Flink SQL such as `ROW<f0 BIGINT>`."""
        raise NotImplementedError

    def is_deterministic(self) -> bool:
        """Return whether equal rows give equal results."""
        return True


class ListView:
    """A list in an accumulator, declared as `DataTypes.LIST_VIEW` or ARRAY."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        """Create a list of values."""
        self._values = list(values)

    def get(self) -> Iterable[Any]:
        """Return the values."""
        return iter(self._values)

    def add(self, value: Any) -> None:
        """Append a value."""
        self._values.append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append values."""
        self._values.extend(values)

    def clear(self) -> None:
        """Remove all values."""
        self._values.clear()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListView) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]  # its values change


class MapView:
    """A map in an accumulator, declared as `DataTypes.MAP_VIEW` or MAP."""

    def __init__(self, entries: Iterable[tuple[Any, Any]] = ()) -> None:
        """Create a map of pairs of key and value."""
        self._entries = dict(entries)

    def get(self, key: Any) -> Any:
        """Return the value of a key, None if there is none."""
        return self._entries.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key."""
        self._entries[key] = value

    def put_all(self, entries: dict[Any, Any]) -> None:
        """Set the values of several keys."""
        self._entries.update(entries)

    def remove(self, key: Any) -> None:
        """Remove a key."""
        del self._entries[key]

    def contains(self, key: Any) -> bool:
        """Return whether the map has a key."""
        return key in self._entries

    def items(self) -> ItemsView[Any, Any]:
        """Return the pairs of key and value."""
        return self._entries.items()

    def keys(self) -> KeysView[Any]:
        """Return the keys."""
        return self._entries.keys()

    def values(self) -> ValuesView[Any]:
        """Return the values."""
        return self._entries.values()

    def is_empty(self) -> bool:
        """Return whether the map has no keys."""
        return not self._entries

    def clear(self) -> None:
        """Remove all keys."""
        self._entries.clear()

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapView) and self._entries == other._entries

    __hash__ = None  # type: ignore[assignment]  # its entries change


@dataclass(frozen=True)
class UserDefinedAggregateFunction:
    """An aggregate function with its types.

    Attributes:
        function: the function.
        result_type: a type of Flink SQL.
        accumulator_type: a type of Flink SQL.
        input_types: one per argument, or None to go by the hints of `accumulate`.
        deterministic: whether equal rows give equal results.
    """

    function: AggregateFunction
    result_type: str
    accumulator_type: str
    input_types: tuple[str, ...] | None = None
    deterministic: bool = True


def udaf(
    f: AggregateFunction | Callable[..., Any] | None = None,
    input_types: str | Sequence[str] | None = None,
    result_type: str | None = None,
    accumulator_type: str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserDefinedAggregateFunction:
    """Declare an aggregate function for CREATE FUNCTION ... LANGUAGE PYTHON.

    Args:
        f: the function, an object of a subclass of `AggregateFunction`.
        input_types: one type, or one per argument; arguments are cast to them as Flink does
            implicitly.
        result_type: a type of Flink SQL; None: `get_result_type()`.
        accumulator_type: a type of Flink SQL; None: `get_accumulator_type()`.
        deterministic: whether equal rows give equal results; None: `is_deterministic()`.
        name: accepted for PyFlink's sake; CREATE FUNCTION and `register_function` name functions.
        func_type: `general`. PyFlink's `pandas` is not supported.

    Raises:
        NotImplementedError: `func_type` is `pandas`.
        TypeError: `f` is not an object of a subclass of `AggregateFunction`, or a type is missing.
        ValueError: `func_type` has another value.
    """
    del name
    if func_type == "pandas":
        message = (
            'udaf with func_type="pandas" is not supported: write a subclass of AggregateFunction'
        )
        raise NotImplementedError(message)
    if func_type != "general":
        message = f"func_type is {func_type!r}, and must be 'general'"
        raise ValueError(message)
    if not isinstance(f, AggregateFunction):
        message = f"udaf takes an object of a subclass of AggregateFunction, not {f!r}"
        raise TypeError(message)
    inputs = (input_types,) if isinstance(input_types, str) else input_types
    return UserDefinedAggregateFunction(
        f,
        _type(f, result_type, "get_result_type"),
        _type(f, accumulator_type, "get_accumulator_type"),
        None if inputs is None else tuple(inputs),
        f.is_deterministic() if deterministic is None else deterministic,
    )


def _type(function: AggregateFunction, given: str | None, method: str) -> str:
    if given is not None:
        return given
    if getattr(type(function), method) is getattr(AggregateFunction, method):
        message = f"{type(function).__name__} does not implement {method}()"
        raise TypeError(message)
    found: str = getattr(function, method)()
    return found
