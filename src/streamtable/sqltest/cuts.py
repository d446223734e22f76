"""Random batch cuts: each step of a case becomes several micro-batches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from streamtable.sqltest.model import Batch
from streamtable.testing.histories import random_cuts

_MOST_PIECES = 4


def cut(batches: Sequence[Batch], seed: int) -> list[Batch]:
    """Split each batch at random positions; the rows of a table keep their order.

    Args:
        batches: the steps of a case.
        seed: the same seed gives the same cuts.
    """
    dice = random.Random(seed)  # noqa: S311 - reproducible on purpose
    return [piece for batch in batches for piece in _pieces(batch, dice)]


def _pieces(batch: Batch, dice: random.Random) -> Iterator[Batch]:
    longest = max((len(rows) for rows in batch.rows.values()), default=0)
    if longest < 2:
        yield batch
        return
    count = dice.randint(2, min(longest, _MOST_PIECES))
    ends = {
        name: random_cuts(dice.randrange(10**9), len(rows), min(count, len(rows)))
        for name, rows in batch.rows.items()
        if rows
    }
    for i in range(count):
        rows = {}
        for name, own in ends.items():
            if i < len(own):
                rows[name] = batch.rows[name][own[i - 1] if i else 0 : own[i]]
        yield replace(batch, rows=rows)
