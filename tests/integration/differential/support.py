"""Queries over random histories, held against Spark's batch answers after every micro-batch."""

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
    """A table with a history: of upserts by the column `k`, or of rows that are only added.

    Attributes:
        columns: as SQL declares them, `k INT` first.
        appends: whether the history only adds rows.
        computed: further declarations: computed columns and a watermark.
    """

    columns: str
    history: Sequence[Change]
    appends: bool = False
    computed: str = ""

    def replayed(self, seed: int, cuts: int) -> Replayed:
        """The history in so many random pieces; after them every row that may be is deleted."""
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
        batch: the same in Spark's SQL, where that differs.
    """

    key: tuple[int, ...]
    sql: str
    batch: str | None = None

    @property
    def answer(self) -> str:
        """The same in Spark's SQL."""
        return self.batch or self.sql


def check(
    spark: SparkSession,
    seed: int,
    sources: Mapping[str, Source],
    queries: Mapping[str, Query],
    settings: Mapping[str, str] | None = None,
) -> int:
    """Runs all queries in memory; each must equal its batch answer after every micro-batch.

    Returns:
        How many entries their state holds after the last one, which has deleted what it may.
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
    """Without updates that change nothing, as Flink gives them where an array is built again."""
    found: list[list[Any]] = []
    for kind, row in changes:
        if kind == "+U" and found and found[-1] == ["-U", row]:
            found.pop()
        else:
            found.append([kind, row])
    return found
