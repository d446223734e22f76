"""LIMIT without ORDER BY: the first rows to arrive are final, whatever arrives later."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import run_apart

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_TABLE = """
CREATE TABLE {name} (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}{topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json'
);
"""
_QUERIES = {
    "three": "SELECT id FROM a LIMIT 3",
    "later": "SELECT id FROM a LIMIT 2 OFFSET 1",
    "none": "SELECT id FROM a ORDER BY id LIMIT 0",
    "every": "SELECT id FROM a",
}
_INSERTS = "".join(f"INSERT INTO {name} {query};" for name, query in _QUERIES.items())
_SCRIPT = _TABLE.format(name="a", topic="") + "".join(
    _TABLE.format(name=name, topic=f"-{name}") for name in _QUERIES
)

#: The partition and ids that arrive before each run, and the rows of each limit after it.
_RUNS = [
    (1, [7, 2], {"three": [2, 7], "later": [2], "none": []}),
    (0, [1, 0, 5], {"three": [1, 2, 7], "later": [1, 2], "none": []}),
    (0, [3], {"three": [1, 2, 7], "later": [1, 2], "none": []}),
]


@pytest.mark.parametrize(
    ("inserts", "mode"),
    [
        pytest.param(_INSERTS, "micro-batch", id="micro-batch"),
        pytest.param(
            f"EXECUTE STATEMENT SET BEGIN {_INSERTS} END;", "micro-batch", id="statement set"
        ),
        pytest.param(_INSERTS, "real-time", id="real-time"),
    ],
)
def test_rows_that_arrive_first_are_final(
    inserts: str, mode: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("limit", partitions=2)
    names = {"source": source, "servers": servers}
    job = BoundedRun(spark, _SCRIPT + inserts, tmp_path / "c", names)

    def ids_in(name: str) -> list[int]:
        ids = [json.loads(r.value())["id"] for r in records(servers, f"{source}-{name}")]
        # At-least-once: a real-time run that ends between two checkpoints writes its rows again.
        return sorted({*ids} if mode == "real-time" else ids)

    def in_sinks() -> dict[str, list[int]]:
        return {name: ids_in(name) for name in _QUERIES}

    arrived = set[int]()
    for partition, ids, limited in _RUNS:
        arrived.update(ids)
        rows = [json.dumps({"id": number}).encode() for number in ids]
        produce(servers, source, [(None, row) for row in rows], partition=partition)
        expected = {**limited, "every": sorted(arrived)}
        if mode == "real-time":
            run_apart(job, lambda rows=expected: in_sinks() == rows, {"execution.mode": mode})
        else:
            job({"execution.mode": mode})
        assert in_sinks() == expected
