"""Fold changelogs into tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from streamtable.core.changelog import RowKind


class Fold:
    """The table that a changelog folds to, in a sink with a key or of a full changelog."""

    def __init__(self, key: tuple[int, ...] | None) -> None:
        self._key = key
        self._keyed: dict[str, Any] = {}
        self._bag: Counter[str] = Counter()

    def add(self, kind: int, row: Sequence[Any]) -> None:
        """Apply one change."""
        adds = kind in (RowKind.INSERT, RowKind.UPDATE_AFTER)
        if self._key is None:
            self._bag[json.dumps(row)] += 1 if adds else -1
        elif kind != RowKind.UPDATE_BEFORE:
            key = json.dumps([row[i] for i in self._key])
            if adds:
                self._keyed[key] = row
            else:
                self._keyed.pop(key, None)

    def values(self) -> list[Any]:
        """Return the rows, each as often as it occurs."""
        if self._key is not None:
            return list(self._keyed.values())
        return [json.loads(text) for text in self._bag.elements()]

    def rows(self, heaps: Sequence[int] = ()) -> Counter[str]:
        """Return the count of each row; negative if more rows were retracted than inserted."""
        if self._key is not None:
            return bag(self._keyed.values(), heaps)
        found: Counter[str] = Counter()
        for text, count in self._bag.items():
            if count:
                found[_sorted(json.loads(text), heaps)] += count
        return found


def bag(rows: Iterable[Sequence[Any]], heaps: Sequence[int] = ()) -> Counter[str]:
    """Return the count of each row."""
    return Counter(_sorted(row, heaps) for row in rows)


def _sorted(row: Sequence[Any], heaps: Sequence[int]) -> str:
    columns = list(row)
    for i in heaps:
        value = columns[i]
        if isinstance(value, str):
            value = value.split(",")
        if isinstance(value, list):
            columns[i] = sorted(value, key=json.dumps)
    return json.dumps(columns, sort_keys=True)


def listed(rows: Counter[str]) -> list[Any]:
    """Return each row with its count, for messages."""
    return sorted((json.loads(text), count) for text, count in rows.items()) if rows else []
