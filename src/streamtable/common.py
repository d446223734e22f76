"""PyFlink's `Row` for Python functions: accumulators of the type ROW.

    from streamtable.common import Row

The rows of query results are `streamtable.Row`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class Row:
    """A row with values that may be changed, by position or by name.

    >>> total = Row(0, 0)
    >>> total[0] += 5
    >>> total
    Row(5, 0)
    >>> named = Row(sum=0, count=0)
    >>> named["count"] += 1
    >>> named
    Row(sum=0, count=1)
    """

    _names: tuple[str, ...]
    _values: list[Any]

    def __init__(self, *values: Any, **named: Any) -> None:
        """Create a row from values, or from values with names.

        Raises:
            ValueError: some values have names and some have none.
        """
        if values and named:
            message = "give the values of a Row either all with names or all without"
            raise ValueError(message)
        self.__dict__["_names"] = tuple(named)
        self.__dict__["_values"] = [*values, *named.values()]

    @classmethod
    def of(cls, values: Sequence[Any], names: Sequence[str]) -> Row:
        """Return the row of values with names."""
        row = cls(*values)
        row.__dict__["_names"] = tuple(names)
        return row

    def __getitem__(self, item: int | slice | str) -> Any:
        return self._values[self._position(item)]

    def __setitem__(self, item: int | slice | str, value: Any) -> None:
        self._values[self._position(item)] = value

    def _position(self, item: int | slice | str) -> Any:
        if not isinstance(item, str):
            return item
        if item not in self._names:
            raise KeyError(item)
        return self._names.index(item)

    def __getattr__(self, name: str) -> Any:
        """Return the value with a name."""
        if name.startswith("__") or name not in self._names:
            message = f"the row has no field '{name}'"
            raise AttributeError(message)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set the value with a name."""
        if name not in self._names:
            message = f"the row has no field '{name}'"
            raise AttributeError(message)
        self[name] = value

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __contains__(self, item: object) -> bool:
        return item in (self._names or self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and (self._names, self._values) == (
            other._names,
            other._values,
        )

    __hash__ = None  # type: ignore[assignment]  # its values change

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the row."""
        return Row.of, (self._values, self._names)

    def __repr__(self) -> str:
        names = [f"{name}=" for name in self._names] or [""] * len(self)
        return f"Row({', '.join(f'{n}{v!r}' for n, v in zip(names, self, strict=True))})"

    def as_dict(self) -> dict[str, Any]:
        """Return name -> value."""
        return dict(zip(self._names, self._values, strict=True))
