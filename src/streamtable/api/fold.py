"""Fold a changelog into the rows that are left."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from streamtable.core.changelog import RowKind
from streamtable.core.row_key import row_key


class Folded:
    """Rows of a changing table. A table without a key can hold a row several times."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, tuple[tuple[Any, ...], int]] = {}

    def add(self, kind: RowKind, values: tuple[Any, ...]) -> None:
        """Process one change; the changelog has the old row of every update."""
        key = row_key(values)
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
