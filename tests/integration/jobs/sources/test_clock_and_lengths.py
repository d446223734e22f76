"""Jobs that read the clock, and jobs with values that are too long or too short."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.modes.test_real_time_formats import values
from tests.integration.jobs.support import Cli, write

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_WITH = (
    " WITH ('connector' = 'kafka', 'topic' = '{}', 'properties.bootstrap.servers' = '${{servers}}',"
    " 'scan.startup.mode' = 'earliest-offset', 'format' = 'json');\n"
)
CLOCK = (
    "CREATE TABLE s (id INT)"
    + _WITH.format("${source}")
    + "CREATE TABLE o (id INT, seen TIMESTAMP_LTZ(3))"
    + _WITH.format("${source}-out")
    + "INSERT INTO o SELECT id, CURRENT_TIMESTAMP FROM s;"
)
LENGTHS = (
    "CREATE TABLE s (a CHAR(5), b STRING)"
    + _WITH.format("${source}")
    + "CREATE TABLE o (a CHAR(3), b VARCHAR(2))"
    + _WITH.format("${source}-out")
    + "INSERT INTO o SELECT a, b FROM s;"
)


def _until(servers: str, topic: str, count: int, job: Cli) -> list[dict[str, object]]:
    job.until(lambda: len(values(servers, topic)) >= count)
    return [json.loads(value) for value in values(servers, topic)]


def test_the_clock_advances_within_a_real_time_batch(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("ticks")
    job = Cli.start(
        *("run", write(tmp_path / "job.sql", CLOCK)),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--set", "execution.mode=real-time", "--set", "table.local-time-zone=UTC"),
    )
    try:
        times = []
        for count in (1, 2):
            before = datetime.now(UTC)
            produce_json(servers, source, [{"id": count}])
            row = _until(servers, f"{source}-out", count, job)[-1]
            assert row["id"] == count
            times += [before, datetime.fromisoformat(str(row["seen"]))]
        times.append(datetime.now(UTC))
    finally:
        job.kill()
    # Both rows are in one batch of real-time mode. A clock that is read once per batch would give
    # equal times.
    assert [t.replace(microsecond=t.microsecond // 1000 * 1000) for t in times] == sorted(
        t.replace(microsecond=t.microsecond // 1000 * 1000) for t in times
    )
    assert times[1] < times[3]


def test_lengths_are_enforced_through_a_job(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("lengths")
    produce_json(servers, source, [{"a": "x", "b": "yyyy"}, {"a": "äöüß", "b": None}])
    names = {"source": source, "servers": servers}

    def run(enforcer: str) -> list[bytes]:
        job = BoundedRun(spark, LENGTHS, tmp_path / enforcer, names)
        job({"table.exec.sink.type-length-enforcer": enforcer})
        return values(servers, f"{source}-out")

    trimmed = [b'{"a":"x  ","b":"yy"}', '{"a":"äöü","b":null}'.encode()]
    assert run("TRIM_PAD") == trimmed
    with pytest.raises(Exception, match=r"column .[ab]. of o is .* a value of length"):
        run("ERROR")
    assert values(servers, f"{source}-out") == trimmed
    ignored = [b'{"a":"x","b":"yyyy"}', '{"a":"äöüß","b":null}'.encode()]
    assert run("IGNORE") == trimmed + ignored
