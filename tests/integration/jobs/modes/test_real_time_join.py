"""Joins of upserts in real-time mode, where a join processes rows in the order of their arrival.

Upserts that are joined on their primary key are not normalized first. In a chain of joins, the old
and the new version of a row may come from different tasks, and the new version may arrive first.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.modes.test_real_time import until
from tests.integration.jobs.support import Cli, write

from streamtable.testing.histories import Change, fold, random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

TABLE = """
CREATE TABLE {name} (k INT, v INT, w INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{{name}}}',
  'properties.bootstrap.servers' = '${{servers}}',
  'key.format' = 'json', 'value.format' = 'json'
);
"""
#: Number of changes of each topic before real-time mode, and of `b` in each later piece. The pieces
#: take longer than the start of the job, so that changes also arrive while the job runs.
FIRST, PIECE = 40, 20

#: Table -> its rows by key.
Folded = dict[str, dict[Any, dict[str, Any]]]
Answer = dict[tuple[Any, ...], dict[str, Any]]

KEYED = "SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON a.k = b.k AND b.w > 2 WHERE a.v > 1"
CHAINED = (
    "SELECT a.k, x.v, x.w FROM a JOIN (SELECT b.k, b.v, c.v AS w FROM b JOIN c ON b.w = c.k) x"
    " ON a.k = x.k"
)
COUNTED = f"SELECT 0, CAST(COUNT(*) AS INT), SUM(y.v) FROM ({CHAINED}) y"


def _values(source: random.Random) -> dict[str, Any]:
    return {"v": source.randrange(6), "w": source.randrange(6)}


def _keyed(rows: Folded) -> Answer:
    others = {k: row["v"] for k, row in rows["b"].items() if row["w"] > 2}
    return {
        (k,): {"k": k, "v": row["v"], "w": others.get(k)}
        for k, row in rows["a"].items()
        if row["v"] > 1
    }


def _chained(rows: Folded) -> Answer:
    rates = {k: row["v"] for k, row in rows["c"].items()}
    return {
        (k,): {"k": k, "v": row["v"], "w": rates[row["w"]]}
        for k, row in rows["b"].items()
        if k in rows["a"] and row["w"] in rates
    }


def _counted(rows: Folded) -> Answer:
    found = _chained(rows).values()
    total = sum(row["v"] for row in found)
    return {(0,): {"k": 0, "v": len(found), "w": total}} if found else {}


@pytest.mark.parametrize(
    ("query", "answer"),
    [(KEYED, _keyed), (CHAINED, _chained), (COUNTED, _counted)],
    ids=["on keys", "chained", "chained and counted"],
)
def test_upserts_joined_in_real_time(
    query: str,
    answer: Callable[[Folded], Answer],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    servers = broker.bootstrap_servers
    script = "".join(TABLE.format(name=name) for name in "abco") + f"INSERT INTO o {query};"
    names = {"servers": servers, "a": topic("a", partitions=2)}
    names |= {name: topic(name) for name in "bco"}
    histories = {
        "a": random_history(71, length=240, keys=60, make=_values),
        "b": random_history(72, length=1_200, keys=60, make=_values),
        "c": random_history(73, length=80, keys=6, make=_values),
    }
    job = BoundedRun(spark, script, tmp_path / "c", names)
    for name, history in histories.items():
        produce_changes(servers, names[name], "k", history[:FIRST])
    job()
    assert job.rows("o") == answer({n: fold(h[:FIRST]) for n, h in histories.items()})

    variables = [part for pair in names.items() for part in ("--var", "=".join(pair))]
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", script), "--checkpoint", str(tmp_path / "c")),
        *("--set", "execution.mode=real-time", "--set", "parallelism.default=2", *variables),
    )
    feeding = threading.Thread(target=_feed, args=(servers, names, histories), daemon=True)
    feeding.start()
    until(job, answer({n: fold(h) for n, h in histories.items()}), process)
    feeding.join()
    process.kill()


def _feed(servers: str, names: dict[str, str], histories: dict[str, list[Change]]) -> None:
    """Produce the rest of the histories; that of `b` in pieces, so that few of its changes wait."""
    for name in "ac":
        produce_changes(servers, names[name], "k", histories[name][FIRST:])
    rest = histories["b"][FIRST:]
    for start in range(0, len(rest), PIECE):
        produce_changes(servers, names["b"], "k", rest[start : start + PIECE])
