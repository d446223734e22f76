"""Compare queries over random histories with Spark's batch answers after every micro-batch."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamtable.testing.cases import Case
from streamtable.testing.histories import Change, pieces, random_cuts
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Source:
    """A table with a history of upserts by the column `k`, or of inserts only.

    Attributes:
        columns: the columns in SQL, `k INT` first.
        appends: whether the history is append-only.
        computed: further declarations: computed columns and a watermark.
    """

    columns: str
    history: Sequence[Change]
    appends: bool = False
    computed: str = ""

    def replayed(self, seed: int, cuts: int) -> Replayed:
        """Return the history in `cuts` random pieces, and a last piece that deletes all rows.

        The last piece of an append-only table is empty.
        """
        batches = pieces(self.history, random_cuts(seed, len(self.history), cuts))
        keys = sorted({change.key for change in self.history})
        end = [] if self.appends else [Change(key, None) for key in keys]
        style = Style.APPEND if self.appends else Style.UPSERT
        return Replayed(style, self.columns, [*batches, end], self.computed)


@dataclass(frozen=True)
class Query:
    """One query into an upsert table of its own.

    Attributes:
        key: positions of the sink's key.
        batch: the query in Spark's SQL; None if the text is the same.
    """

    key: tuple[int, ...]
    sql: str
    batch: str | None = None

    @property
    def answer(self) -> str:
        """The query in Spark's SQL."""
        return self.batch or self.sql


def check(
    spark: SparkSession,
    seed: int,
    sources: Mapping[str, Source],
    queries: Mapping[str, Query],
    settings: Mapping[str, str] | None = None,
) -> int:
    """Run all queries in memory, and compare each with its batch answer after every micro-batch.

    Returns:
        The number of state entries after the last micro-batch, which deletes all rows of upsert
        tables.
    """
    cuts = random.Random(seed).choice((2, 3, 4))
    tables = {
        name: source.replayed(seed + i, cuts) for i, (name, source) in enumerate(sources.items())
    }
    cases = []
    for query in queries.values():
        fields = [column.field for column in planned(query.sql, tables).columns]
        cases.append(Case(sink(fields, query.key), query.sql, query.answer, query.key))
    replay = Replay(spark, tables, settings or {}, in_memory=True)
    wrong, entries = replay.differences_and_entries(cases)
    names = list(queries)
    assert not wrong, "\n".join(f"{names[d.case]}, seed {seed}: {d}" for d in wrong)
    return entries


def telling(changes: list[list[Any]]) -> list[list[Any]]:
    """Remove updates that change nothing; Flink emits them if it builds an array again."""
    found: list[list[Any]] = []
    for kind, row in changes:
        if kind == "+U" and found and found[-1] == ["-U", row]:
            found.pop()
        else:
            found.append([kind, row])
    return found
