"""Row: one row of a result, and the Python values of Flink's types."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from streamtable.core.changelog import RowKind
from streamtable.core.types import DataType, Field, Root


class Row(tuple[Any, ...]):
    """A row of a result: a tuple whose values also have names.

    >>> row = Row(["Ada", 42], ["customer", "amount"])
    >>> row.amount, row[1], row.as_dict()
    (42, 42, {'customer': 'Ada', 'amount': 42})
    >>> row
    Row(customer='Ada', amount=42)

    Attributes:
        kind: the row kind, such as `RowKind.INSERT`. It takes no part in comparisons.
    """

    kind: RowKind
    _names: tuple[str, ...]

    def __new__(
        cls, values: Iterable[Any], names: Sequence[str], kind: RowKind = RowKind.INSERT
    ) -> Row:
        """Create a row from its values and as many names."""
        made = super().__new__(cls, values)
        made.kind = kind
        made._names = tuple(names)
        return made

    def __getattr__(self, name: str) -> Any:
        """Return the value of a column."""
        if name in self._names:
            return self[self._names.index(name)]
        message = f"the row has no column '{name}'; its columns are {', '.join(self._names)}"
        raise AttributeError(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the row with its names and its kind."""
        return Row, (tuple(self), self._names, self.kind)

    def __repr__(self) -> str:
        pairs = zip(self._names, self, strict=True)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def as_dict(self) -> dict[str, Any]:
        """Return column -> value; of columns with the same name, the last one wins."""
        return dict(zip(self._names, self, strict=True))

    def get_row_kind(self) -> RowKind:
        """Return the row kind; PyFlink's name for `kind`."""
        return self.kind


def python_value(value: Any, kind: DataType) -> Any:
    """Return the Python value of what Spark gives for a type.

    A TIMESTAMP_LTZ becomes an aware datetime in UTC, a ROW a `Row`, and bytes and a BITMAP `bytes`.
    """
    if value is None:
        return None
    match kind.root:
        case Root.TIMESTAMP_LTZ:
            local: datetime.datetime = value
            return local.astimezone(datetime.UTC)
        case Root.BINARY | Root.VARBINARY | Root.BITMAP:
            return bytes(value)
        case Root.ROW:
            return python_row(value, kind.fields)
        case Root.ARRAY if kind.element is not None:
            return [python_value(each, kind.element) for each in value]
        case Root.MAP if kind.key is not None and kind.element is not None:
            parts = (kind.key, kind.element)
            return {python_value(k, parts[0]): python_value(v, parts[1]) for k, v in value.items()}
        case Root.MULTISET if kind.element is not None:
            return {python_value(k, kind.element): count for k, count in value.items()}
        case _:
            return value


def python_row(
    values: Sequence[Any], fields: Sequence[Field], kind: RowKind = RowKind.INSERT
) -> Row:
    """Return the row of Spark's values."""
    converted = (python_value(v, f.type) for v, f in zip(values, fields, strict=True))
    return Row(converted, [f.name for f in fields], kind)
