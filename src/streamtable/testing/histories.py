"""Random histories of a keyed table, reproducible by their seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: A row without its key: column -> JSON value.
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One record of an upsert topic: the new values of a key, or None for a delete."""

    key: int
    values: Values | None


def random_history(
    seed: int, length: int, keys: int, make: Callable[[random.Random], Values]
) -> list[Change]:
    """Generate inserts, updates, deletes and re-inserts in random order.

    The history contains cases that often fail: deletes of missing keys, repeated values, and keys
    that alternate between two values.

    Args:
        seed: the same seed gives the same history.
        length: number of changes.
        keys: the number of keys; keys are integers from 0.
        make: generates the values of one row.
    """
    source = random.Random(seed)  # noqa: S311 - reproducible on purpose
    live: dict[int, Values] = {}
    before: dict[int, Values] = {}
    history = []
    for _ in range(length):
        key = source.randrange(keys)
        dice = source.random()
        values: Values | None
        if dice < 0.25:
            values = None
        elif dice < 0.35 and key in live:
            values = live[key]
        elif dice < 0.45 and key in before:
            values = before[key]
        else:
            values = make(source)
        if key in live:
            before[key] = live.pop(key)
        if values is not None:
            live[key] = values
        history.append(Change(key, values))
    return history


def fold(history: Iterable[Change]) -> dict[int, Values]:
    """Fold a history into a table: the last values of each key that is not deleted."""
    table: dict[int, Values] = {}
    for change in history:
        if change.values is None:
            table.pop(change.key, None)
        else:
            table[change.key] = change.values
    return table


def random_cuts(seed: int, length: int, pieces: int) -> list[int]:
    """Return random end positions of pieces of a history; the last end is its length."""
    source = random.Random(seed)  # noqa: S311 - reproducible on purpose
    inner = sorted(source.sample(range(1, length), pieces - 1)) if pieces > 1 else []
    return [*inner, length]


def pieces(history: Sequence[Change], ends: Iterable[int]) -> list[Sequence[Change]]:
    """Cut the history at these positions."""
    found, start = [], 0
    for end in ends:
        found.append(history[start:end])
        start = end
    return found
