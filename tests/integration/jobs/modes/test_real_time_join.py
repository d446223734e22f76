"""Upserts joined on their primary key in real-time mode, where nothing may normalize them first."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.jobs.support import PATIENCE_S, Cli, write

from streamtable.core.errors import Condition, StreamtableError
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
SCRIPT = "".join(TABLE.format(name=name) for name in ("a", "b", "o")) + (
    "INSERT INTO o SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON a.k = b.k AND b.w > 2 WHERE a.v > 1;"
)


def _values(source: random.Random) -> dict[str, Any]:
    return {"v": source.randrange(6), "w": source.randrange(6)}


def _answer(left: list[Change], right: list[Change]) -> dict[tuple[Any, ...], dict[str, Any]]:
    others = {k: row["v"] for k, row in fold(right).items() if row["w"] > 2}
    return {
        (k,): {"k": k, "v": row["v"], "w": others.get(k)}
        for k, row in fold(left).items()
        if row["v"] > 1
    }


def test_upserts_joined_row_by_row(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    names = {"servers": servers, "a": topic("a", partitions=2), "b": topic("b"), "o": topic("o")}
    left = random_history(71, length=120, keys=12, make=_values)
    right = random_history(72, length=120, keys=12, make=_values)
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    for name, history in (("a", left), ("b", right)):
        produce_changes(servers, names[name], "k", history[:40])
    job()
    assert job.rows("o") == _answer(left[:40], right[:40])

    variables = [part for pair in names.items() for part in ("--var", "=".join(pair))]
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--set", "execution.mode=real-time", "--set", "parallelism.default=2", *variables),
    )
    feeding = [
        threading.Timer(3, produce_changes, (servers, names[name], "k", history[40:]))
        for name, history in (("a", left), ("b", right))
    ]
    for timer in feeding:
        timer.start()
    _until(job, _answer(left, right), process)
    for timer in feeding:
        timer.join()
    process.kill()


def _until(job: BoundedRun, expected: object, process: Cli) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        assert process.process.poll() is None, process.process.communicate()[1]
        try:
            if job.rows("o") == expected:
                return
        except StreamtableError as error:
            assert error.condition is Condition.TOPIC_MISSING
        time.sleep(0.2)
    assert job.rows("o") == expected
