"""State depends on live rows: no state without rows, and no more state after a longer history."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from streamtable.testing.cases import Case
from streamtable.testing.histories import Change, Values
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g STRING, v INT"
_KEYS = 12

_QUERIES = (
    "SELECT g, COUNT(*), SUM(v), MIN(v), COUNT(DISTINCT v), VAR_POP(v) FROM a GROUP BY g",
    "SELECT g, FIRST_VALUE(v), LISTAGG(g), ARRAY_AGG(DISTINCT v) FROM a GROUP BY g",
    "SELECT COUNT(*), MAX(v) FROM a",
    "SELECT x.k, y.k FROM a AS x FULL JOIN b AS y ON x.v = y.v",
    "SELECT k FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.v = a.v)",
    "SELECT v FROM (SELECT v, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v) n FROM a) WHERE n < 3",
    "SELECT v FROM a INTERSECT ALL SELECT v FROM b",
)


def _values(dice: random.Random) -> Values:
    return {"g": dice.choice("abc"), "v": dice.randrange(4)}


def _table(seed: int, length: int, *, deleted: bool) -> Replayed:
    """Return a history that ends with the same rows at any length, or with no rows."""
    dice = random.Random(seed)
    history = [
        Change(dice.randrange(_KEYS), None if dice.random() < 0.3 else _values(dice))
        for _ in range(length)
    ]
    last = random.Random(0)
    end = [Change(key, None if deleted else _values(last)) for key in range(_KEYS)]
    return Replayed(Style.UPSERT, _COLUMNS, [history[: length // 2], history[length // 2 :], end])


def tables(length: int, *, deleted: bool = False) -> dict[str, Replayed]:
    """Return two tables with histories of this length."""
    return {name: _table(seed, length, deleted=deleted) for seed, name in enumerate("ab")}


def cases() -> list[Case]:
    """Return one case for each kind of state."""
    found = []
    for query in (*_QUERIES, "SELECT v, k FROM a"):
        fields = [column.field for column in planned(query, tables(1)).columns]
        key = None if query in _QUERIES else (0,)
        found.append(Case(sink(fields, key), query, query, key))
    return found


def test_deleted_rows_leave_no_state(spark: SparkSession) -> None:
    assert Replay(spark, tables(60, deleted=True)).state_rows(cases()) == {}


def test_state_does_not_grow_with_history(spark: SparkSession) -> None:
    for case in cases():
        (short, small), (long, large) = (
            Replay(spark, tables(length)).state_size([case]) for length in (60, 600)
        )
        # Past retractions decide how a ranking divides its rows; both parts hold live rows.
        assert 0 < long <= short + _KEYS, case.flink
        assert large <= 2 * small, case.flink
