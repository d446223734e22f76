"""A query into a sink, its batch answer beside it, and whether the two agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamtable.testing.folding import Fold, bag, listed
from streamtable.testing.replayed import Recorded, Replayed


@dataclass(frozen=True)
class Case:
    """One query into one sink.

    Attributes:
        sink: the CREATE TABLE of the table `out`.
        flink: the query.
        spark: the same in Spark's SQL.
        key: positions of the sink's key; None for a sink of complete changes.
        starts_empty: whether the answer may be missing until the query's first row has come; its
            first column then counts the rows.
        heaps: positions of columns whose values come in any order.
        one_of_each: whether several rows of the answer may have one key; then one of them is seen.
        at_end: whether rows wait for a watermark, so that only the end has the whole answer.
    """

    sink: str
    flink: str
    spark: str
    key: tuple[int, ...] | None = None
    starts_empty: bool = False
    heaps: tuple[int, ...] = ()
    one_of_each: bool = False
    at_end: bool = False

    def script(self, tables: Mapping[str, Replayed | Recorded]) -> str:
        """Everything as Flink SQL."""
        sources = "\n".join(table.ddl(name) for name, table in tables.items())
        return f"{sources}\n{self.sink}\nINSERT INTO out {self.flink};"


@dataclass(frozen=True)
class Difference:
    """Where a query's folded output is not the batch answer."""

    case: int
    batch: int
    found: Sequence[Any]
    expected: Sequence[Any]


def difference(
    case: Case, number: int, batch: int, folded: Fold, answer: Sequence[Sequence[Any]]
) -> Difference | None:
    """Where a case is wrong after a batch; None where it is not.

    Args:
        case: whose output has been folded.
        number: of the case.
        batch: which was the last.
        folded: what the output has added up to.
        answer: the rows that it should hold.
    """
    found, wanted = folded.rows(case.heaps), bag(answer, case.heaps)
    unborn = case.starts_empty and not found and len(answer) == 1 and answer[0][0] == 0
    if unborn or _fits(case, found, wanted):
        return None
    return Difference(number, batch, listed(found), listed(wanted))


def _fits(case: Case, found: Counter[str], wanted: Counter[str]) -> bool:
    if not case.one_of_each or case.key is None:
        return found == wanted
    keys = [{_key(text, case.key) for text in rows} for rows in (found, wanted)]
    return set(found) <= set(wanted) and keys[0] == keys[1] and len(found) == len(keys[0])


def _key(text: str, key: Sequence[int]) -> str:
    row = json.loads(text)
    return json.dumps([row[i] for i in key])
