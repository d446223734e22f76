"""Replay after a crash: queries that emit every row again (`plan.rules.replay`).

A run in small batches stops early, as real-time mode does in a crash. A second run reads the same
records from the beginning, all at once or in another order, into the same sink.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from streamtable.plan.rules.replay import replay_obstacle
from streamtable.session import Session
from streamtable.testing.cases import Case
from streamtable.testing.folding import Fold
from streamtable.testing.histories import Change
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "k INT, g INT, v INT"
REPEATED = (
    "SELECT g, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY g",
    "SELECT g, MIN(v) AS lo, MAX(v) AS hi, COUNT(DISTINCT v) AS n FROM t GROUP BY g",
    "SELECT DISTINCT g, v FROM t",
)
TAKEN_BACK = "SELECT n, COUNT(*) AS m FROM (SELECT COUNT(*) AS n FROM t GROUP BY g) AS c GROUP BY n"


def _table(batches: list[list[Change]]) -> dict[str, Replayed]:
    return {"t": Replayed(Style.APPEND, COLUMNS, batches)}


def _case(query: str) -> Case:
    fields = [column.field for column in planned(query, _table([])).columns]
    key = (0, 1) if "DISTINCT g" in query else (0,)
    return Case(sink(fields, key), query, query, key)


def _left(query: str) -> str | None:
    session = Session()
    session.load(_case(query).script(_table([])), "job.sql")
    (plan,) = session.plans
    return replay_obstacle(plan.input)


def test_a_replay_emits_every_row_again(spark: SparkSession) -> None:
    dice = random.Random(7)
    rows = [Change(k, {"g": dice.randrange(4), "v": dice.randrange(-3, 4)}) for k in range(40)]
    queries = (*REPEATED, TAKEN_BACK)
    cases = [_case(query) for query in queries]
    broken_off = [[row] for row in rows[:25]]
    shuffled = [[row] for row in dice.sample(rows, len(rows))]
    for again in ([rows], shuffled):
        first, second, alone = (
            Replay(spark, _table(batches), in_memory=True).changes(cases)
            for batches in (broken_off, again, [rows])
        )
        for at, query in enumerate(queries):
            folded, wanted = Fold(cases[at].key), Fold(cases[at].key)
            for batch in (*first[at], *second[at]):
                for kind, row in batch:
                    folded.add(kind, row)
            for batch in alone[at]:
                for kind, row in batch:
                    wanted.add(kind, row)
            if query in REPEATED:
                assert folded.rows() == wanted.rows(), query
                assert _left(query) is None
            elif len(again) == 1:
                # A temporary count stays. Therefore a start rolls the sink of such a query back.
                assert folded.rows() != wanted.rows()
                assert _left(query) == "its GroupAggregate"
