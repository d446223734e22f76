"""UNNEST, grouping sets and windows over changing tables equal Spark's batch answers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.testing.histories import random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NONE = "COALESCE(x, 'none') AS x, COALESCE(y, -1) AS y, COUNT(*) AS n"
_BY = "GROUP BY COALESCE(x, 'none'), COALESCE(y, -1)"


def _counted(flink: str, spark: str) -> Query:
    return Query(
        (0, 1),
        f"SELECT {_NONE} FROM ({flink}) {_BY}",
        f"SELECT {_NONE} FROM ({spark}) {_BY}",
    )


_SETS = "SELECT g AS x, CAST({grouping} AS INT) * 100 + v AS y FROM a GROUP BY {sets}"

# SUM(w) adds the values of the input, also in grouping sets in which column w is NULL.
_GROUPS = (
    "SELECT {grouping}(g, w) * 10 + COALESCE(w, 9) AS place, COALESCE(g, 'none') AS g,"
    " COUNT(*) AS n, SUM(w) AS s FROM (SELECT g, v % 3 AS w FROM a WHERE g IS NOT NULL)"
    " GROUP BY CUBE (g, w)"
)
_CUBE = f"SELECT place, g, MAX(n), MAX(s) FROM ({_GROUPS.format(grouping='GROUPING_ID')})"
_CUBE += " GROUP BY place, g"
_CUBE_OF_SPARK = _CUBE.replace("MAX(s)", "CAST(MAX(s) AS INT)")

QUERIES = {
    "numbers": _counted(
        "SELECT a.g AS x, y FROM a CROSS JOIN UNNEST(ns) AS y WHERE a.v > 1",
        "SELECT a.g AS x, y FROM a LATERAL VIEW explode(ns) t AS y WHERE a.v > 1",
    ),
    "numbers_or_none": _counted(
        "SELECT a.g AS x, y * 10 + o AS y FROM a LEFT JOIN UNNEST(ns) WITH ORDINALITY AS u (y, o)"
        " ON TRUE",
        "SELECT a.g AS x, y * 10 + o + 1 AS y FROM a LATERAL VIEW OUTER posexplode(ns) t AS o, y",
    ),
    "greater_numbers": _counted(
        "SELECT a.g AS x, y FROM a LEFT JOIN UNNEST(ns) AS y ON y > a.v",
        "SELECT a.g AS x, y FROM a LATERAL VIEW OUTER explode(filter(ns, n -> n > v)) t AS y",
    ),
    "tags": _counted(
        "SELECT x, y FROM a JOIN b ON a.k = b.k, UNNEST(a.m) AS u (x, y) WHERE b.v <> u.y",
        "SELECT x, y FROM a JOIN b ON a.k = b.k LATERAL VIEW explode(a.m) t AS x, y WHERE b.v <> y",
    ),
    "sets": _counted(
        _SETS.format(grouping="GROUPING(g, v)", sets="GROUPING SETS ((g, v), g, ())"),
        _SETS.format(grouping="grouping_id(g, v)", sets="g, v GROUPING SETS ((g, v), (g), ())"),
    ),
    "cube": Query((0, 1), _CUBE, _CUBE_OF_SPARK),
}

_WINDOW = "TABLE c, DESCRIPTOR(ts), INTERVAL '{}' SECOND"
_ROWS = "SELECT k, window_start, window_end, {} FROM TABLE({}({}))"
_BOUNDS = "SELECT k, w.start AS s, w.end AS e, v FROM (SELECT *, window({}) AS w FROM c)"
#: The sink's key includes the window of a row, and an update may change that window.
WINDOWS = {
    "tumble": Query(
        (0, 1, 2),
        _ROWS.format("v", "TUMBLE", _WINDOW.format(10))
        + " WHERE window_start > TIMESTAMP '2026-03-01 00:00:00'",
        _BOUNDS.format("ts, '10 seconds'") + " WHERE w.start > TIMESTAMP_NTZ '2026-03-01 00:00:00'",
    ),
    "filtered_hop": Query(
        (0, 1, 2),
        _ROWS.format("v", "HOP", _WINDOW.format("5") + ", INTERVAL '10' SECOND") + " WHERE v > 2",
        _BOUNDS.format("ts, '10 seconds', '5 seconds'") + " WHERE v > 2",
    ),
    "cumulate": Query(
        (0, 1, 2),
        _ROWS.format("v * 2", "CUMULATE", _WINDOW.format("5") + ", INTERVAL '10' SECOND"),
        "SELECT k, s, s + make_dt_interval(0, 0, 0, n) AS e, v * 2 FROM (SELECT k, ts, v, w.start"
        " AS s FROM (SELECT *, window(ts, '10 seconds') AS w FROM c)) LATERAL VIEW"
        " explode(array(5, 10)) t AS n WHERE ts < s + make_dt_interval(0, 0, 0, n)",
    ),
    "joined_hop": Query(
        (0, 1),
        "SELECT h.k, h.s, h.v * 10 + b.v FROM (SELECT k, window_start AS s, v FROM TABLE(HOP("
        + _WINDOW.format("5")
        + ", INTERVAL '10' SECOND))) AS h JOIN c AS b ON h.k = b.k WHERE h.v <> 3",
        "SELECT k, s, v * 11 FROM ("
        + _BOUNDS.format("ts, '10 seconds', '5 seconds'")
        + ") WHERE v <> 3",
    ),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {
        "g": source.choice([None, "a", "b", "c"]),
        "v": source.choice([None, *range(6)]),
        "ns": source.choice([None, [], *([source.randrange(5) for _ in range(3)],) * 3]),
        "m": source.choice([None, {}, {"p": source.randrange(4), "q": source.randrange(4)}]),
    }


_SEEDS = [51, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(52, 58))]


def _moment(source: random.Random) -> dict[str, Any]:
    return {"ts": f"2026-03-01 00:00:{source.randrange(40):02}", "v": source.randrange(6)}


@pytest.mark.parametrize("seed", _SEEDS)
def test_folded_output_equals_batch(seed: int, spark: SparkSession) -> None:
    columns = "k INT, g STRING, v INT, ns ARRAY<INT>, m MAP<STRING,INT>"
    sources = {
        "a": Source(columns, random_history(seed, length=100, keys=12, make=_values)),
        "b": Source(columns, random_history(seed + 1, length=60, keys=12, make=_values)),
    }
    assert check(spark, seed, sources, QUERIES) == 0


@pytest.mark.parametrize("seed", _SEEDS)
def test_rows_leave_their_old_windows(seed: int, spark: SparkSession) -> None:
    history = random_history(seed, length=100, keys=12, make=_moment)
    columns, watermark = "k INT, ts TIMESTAMP(3), v INT", "WATERMARK FOR ts AS ts"
    sources = {"c": Source(columns, history, computed=watermark)}
    assert check(spark, seed, sources, WINDOWS) == 0
