"""Fold a changelog into the rows that are left."""

from __future__ import annotations

import datetime
import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from streamtable.core.changelog import RowKind


class Folded:
    """Rows of a changing table. A table without a key can hold a row several times."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, tuple[tuple[Any, ...], int]] = {}

    def add(self, kind: RowKind, values: tuple[Any, ...]) -> None:
        """Process one change; the changelog has the old row of every update."""
        key = _key(values)
        count = self._rows.get(key, (values, 0))[1] + (-1 if kind.removes else 1)
        if count:
            self._rows[key] = (values, count)
        else:
            self._rows.pop(key, None)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the current rows, in the order in which they came."""
        for values, count in self._rows.values():
            for _ in range(count):
                yield values

    def __len__(self) -> int:
        """Return the number of different rows."""
        return len(self._rows)


def _key(value: Any) -> Hashable:
    """Return a hashable value that is equal for equal rows only.

    In Python, NaN does not equal itself, -0.0 equals 0.0, and lists and maps have no hash.
    """
    if isinstance(value, tuple | list):
        return tuple(map(_key, value))
    if isinstance(value, Mapping):
        return frozenset((_key(k), _key(v)) for k, v in value.items())
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1.0, value))
    if isinstance(value, datetime.datetime):
        # In the hour that a change of the clock repeats, two instants are equal but for the fold.
        return (value, value.fold)
    return value  # type: ignore[no-any-return]
