"""A query with a sink and its batch result, and the comparison of both."""

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
    """One query with one sink.

    Attributes:
        sink: the CREATE TABLE of the table `out`.
        flink: the query in Flink's SQL.
        spark: the same query in Spark's SQL.
        key: positions of the sink's key; None for a sink of a full changelog.
        starts_empty: whether the result may be missing before the query's first row; its first
            column then counts the rows.
        heaps: positions of columns whose values have no order.
        one_of_each: whether several rows of the batch result may have the same key; the sink then
            has one of them.
        at_end: whether rows wait for a watermark, so that only the end has the complete result.
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
        """Return the tables, the sink and the query as a script of Flink SQL."""
        sources = "\n".join(table.ddl(name) for name, table in tables.items())
        return f"{sources}\n{self.sink}\nINSERT INTO out {self.flink};"


@dataclass(frozen=True)
class Difference:
    """A difference between a query's folded output and the batch result."""

    case: int
    batch: int
    found: Sequence[Any]
    expected: Sequence[Any]


def difference(
    case: Case, number: int, batch: int, folded: Fold, answer: Sequence[Sequence[Any]]
) -> Difference | None:
    """Compare a case with its batch result after a batch; return None if they are equal.

    Args:
        case: the case with the folded output.
        number: the number of the case.
        batch: the last batch.
        folded: the folded output.
        answer: the expected rows.
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
