"""The final table of a stream equals Spark's batch answer over the final inputs.

A random keyed history is cut into random pieces; each piece is processed by a run of its own on the
same checkpoint (so every cut is a restart), in micro-batches of random size. After each piece every
query's folded topic is compared with the batch answer over the folded history so far.
"""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.testing.histories import Change, fold, pieces, random_cuts, random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SOURCE = """
CREATE TABLE t (
  k INT, g STRING, v INT, d DECIMAL(10, 2),
  PRIMARY KEY (k) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
"""

SINK = """
CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}',
  'key.format' = 'json', 'value.format' = 'json'
);
"""

#: name -> (sink columns, key, streaming query, the batch query where Spark's SQL differs)
QUERIES: dict[str, tuple[str, str, str, str | None]] = {
    "aggregates": (
        "g STRING, n BIGINT, nv BIGINT, s INT, a INT, lo INT, hi INT, dv BIGINT, sd INT",
        "g",
        (
            "SELECT COALESCE(g, 'none'), COUNT(*), COUNT(v), SUM(v), AVG(v), MIN(v), MAX(v),"
            " COUNT(DISTINCT v), SUM(DISTINCT v) FROM t GROUP BY COALESCE(g, 'none')"
        ),
        (
            "SELECT COALESCE(g, 'none'), COUNT(*), COUNT(v), CAST(SUM(v) AS INT),"
            " CAST(SUM(v) DIV COUNT(v) AS INT), MIN(v), MAX(v), COUNT(DISTINCT v),"
            " CAST(SUM(DISTINCT v) AS INT) FROM t GROUP BY COALESCE(g, 'none')"
        ),
    ),
    "decimals": (
        "g STRING, s DECIMAL(38, 2), a DECIMAL(38, 6), f BIGINT",
        "g",
        (
            "SELECT COALESCE(g, 'none') AS g, SUM(d), AVG(d), COUNT(*) FILTER (WHERE v > 5)"
            " FROM t GROUP BY COALESCE(g, 'none')"
        ),
        (
            "SELECT COALESCE(g, 'none'), CAST(SUM(d) AS DECIMAL(38,2)),"
            " CAST(AVG(d) AS DECIMAL(38,6)), COUNT(*) FILTER (WHERE v > 5)"
            " FROM t GROUP BY COALESCE(g, 'none')"
        ),
    ),
    "big_groups": (
        "g STRING, n BIGINT",
        "g",
        (
            "SELECT COALESCE(g, 'none'), COUNT(*) FROM t WHERE v > 2"
            " GROUP BY COALESCE(g, 'none') HAVING COUNT(*) > 2 AND MAX(v) < 9"
        ),
        None,
    ),
    "filtered": (
        "k INT, w INT, g STRING",
        "k",
        "SELECT k, v + 1, UPPER(g) FROM t WHERE v % 2 = 0",
        None,
    ),
    "by_key": ("k INT, v INT", "k", "SELECT k, v FROM t WHERE k < 10", None),
    "two_levels": (
        "n BIGINT, group_count BIGINT, most INT",
        "n",
        (
            "SELECT n, COUNT(*), MAX(hi) FROM"
            " (SELECT g, COUNT(*) AS n, MAX(v) AS hi FROM t GROUP BY g) GROUP BY n"
        ),
        None,
    ),
    "distinct_values": ("v INT", "v", "SELECT DISTINCT v FROM t WHERE v IS NOT NULL", None),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {
        "g": source.choice([None, "a", "b", "c", "d"]),
        "v": source.choice([None, *range(11)]),
        "d": None if source.random() < 0.2 else source.randrange(-99999, 99999) / 100,
    }


def _script() -> str:
    parts = [SOURCE]
    for name, (columns, key, query, _) in QUERIES.items():
        parts.append(SINK.format(name=name, columns=columns, key=key))
        parts.append(f"INSERT INTO {name} {query};")
    return "\n".join(parts)


def _batch(spark: SparkSession, history: list[Change], query: str) -> set[tuple[Any, ...]]:
    rows = [
        (key, v["g"], v["v"], None if v["d"] is None else Decimal(str(v["d"])))
        for key, v in fold(history).items()
    ]
    frame = spark.createDataFrame(rows, "k INT, g STRING, v INT, d DECIMAL(10,2)")
    frame.createOrReplaceTempView("t")
    return {tuple(row) for row in spark.sql(query).collect()}


def _plain(value: Any) -> Any:
    return Decimal(str(value)) if isinstance(value, float) else value


@pytest.mark.parametrize(
    "seed", [11, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(12, 32))]
)
def test_folded_output_equals_batch(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("history", partitions=2, config={"cleanup.policy": "compact"})
    history = random_history(seed, length=300, keys=25, make=_values)
    variables = {"source": source, "servers": broker.bootstrap_servers}
    run = BoundedRun(spark, _script(), tmp_path / "checkpoint", variables)
    done: list[Change] = []
    for i, piece in enumerate(pieces(history, random_cuts(seed, len(history), 3))):
        produce_changes(broker.bootstrap_servers, source, "k", piece)
        done.extend(piece)
        size = random.Random(seed + i).choice([1_000, 70])
        phases = random.Random(seed + i).choice(["ONE_PHASE", "TWO_PHASE"])
        run(
            {
                "execution.micro-batch.max-records": str(size),
                "table.optimizer.agg-phase-strategy": phases,
            }
        )
        for name, (_, _, query, batch) in QUERIES.items():
            expected = _batch(spark, done, batch or query)
            found = {tuple(map(_plain, row.values())) for row in run.rows(name).values()}
            assert found == expected, f"{name} with seed {seed} after piece {i}"
