"""A bounded table of files beside an unbounded topic: after kills, each row is written once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import Cli, write

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE history (id INT, name STRING) WITH (
  'connector' = 'filesystem', 'path' = '${in}/2026-*', 'format' = 'csv'
);
CREATE TABLE live (id INT, name STRING) WITH (
  'connector' = 'kafka', 'topic' = '${topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE everything (id INT, name STRING, origin STRING) PARTITIONED BY (origin) WITH (
  'connector' = 'filesystem', 'path' = '${out}', 'format' = 'json'
);
INSERT INTO everything
SELECT id, name, 'file' FROM history UNION ALL SELECT id, name, 'topic' FROM live;
"""
#: Number of rows in a file.
ROWS = 20
FILES = 60


def _rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows that a reader of the directory sees without knowledge of checkpoints."""
    files = [f for f in path.glob("origin=*/part-*") if f.is_file()]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def _file(source: Path, number: int) -> None:
    day = source / f"2026-{number % 3}"
    day.mkdir(parents=True, exist_ok=True)
    ids = range(number * ROWS, (number + 1) * ROWS)
    (day / f"{number}.csv").write_text("".join(f"{i},row-{i}\n" for i in ids))


def _wait_for_rows(out: Path, count: int, job: Cli) -> None:
    job.until(lambda: len(_rows(out)) >= count, pause=0.05)


@pytest.mark.parametrize("kills", [(60,), pytest.param((60, 200), marks=pytest.mark.soak)])
def test_each_row_is_written_once_after_kills(
    kills: Sequence[int], spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    name = topic("live", partitions=2)
    source, out = tmp_path / "in", tmp_path / "out"
    for number in range(FILES):
        _file(source, number)
    first = FILES * ROWS * 10
    live = [{"id": first + i, "name": f"live-{i}"} for i in range(600)]
    produce_json(broker.bootstrap_servers, name, live)
    script = write(tmp_path / "job.sql", SCRIPT)
    arguments = ["run", script, "--checkpoint", str(tmp_path / "checkpoint")]
    arguments += ["--master", "local[2]", "--set", "execution.micro-batch.max-records=10"]
    servers = broker.bootstrap_servers
    names = {"in": str(source), "out": str(out), "topic": name, "servers": servers}
    for key, value in names.items():
        arguments += ["--var", f"{key}={value}"]
    seen: set[int] = set()
    for written in kills:
        job = Cli.start(*arguments)
        _wait_for_rows(out, written, job)
        job.kill()
        ids = [row["id"] for row in _rows(out)]
        assert len(ids) == len(set(ids))
        assert seen <= set(ids)
        seen = set(ids)
    # A bounded table reads only the files of the first start.
    _file(source, FILES)
    last = BoundedRun(spark, SCRIPT, tmp_path / "checkpoint", names)
    last({"execution.micro-batch.max-records": "5000"})
    expected = {i: f"row-{i}" for i in range(FILES * ROWS)} | {r["id"]: r["name"] for r in live}
    rows = _rows(out)
    assert len(rows) == len(expected)
    assert {row["id"]: row["name"] for row in rows} == expected
    assert not list(out.glob(".staging*"))
