"""`streamtable prove` of windows: a window has no rows until the watermark passes its end."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from streamtable.cli.main import cli
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SCRIPT = """
SET 'execution.mode' = 'micro-batch';
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE views (id INT, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'kafka', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset',
  'topic' = '${views}', 'properties.bootstrap.servers' = '${servers}');
CREATE TABLE counted (id INT, started TIMESTAMP(3), n BIGINT,
  PRIMARY KEY (id, started) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json',
  'topic' = '${views}-counted', 'properties.bootstrap.servers' = '${servers}');
CREATE TABLE sessions (id INT, started TIMESTAMP(3), n INT)
WITH ('connector' = 'kafka', 'format' = 'json',
  'topic' = '${views}-sessions', 'properties.bootstrap.servers' = '${servers}');
INSERT INTO counted SELECT id, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE views, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY id, window_start, window_end;
INSERT INTO sessions SELECT id, window_start, SUM(n)
FROM TABLE(SESSION(TABLE views PARTITION BY id, DESCRIPTOR(ts), INTERVAL '4' SECOND))
GROUP BY id, window_start, window_end;
"""
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def test_windows_at_each_commit(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    names = {"views": topic("views"), "servers": broker.bootstrap_servers}
    (tmp_path / "job.sql").write_text(_SCRIPT)
    run = BoundedRun(spark, _SCRIPT, tmp_path / "c", names)
    keys = []
    for part in range(2):
        rows = [_row(second) for second in range(40 * part, 40 * part + 40)]
        produce_json(names["servers"], names["views"], rows)
        run(drain=part == 1)
        found = _results(tmp_path, names)
        assert {one["result"] for one in found.values()} == {"equal"}, found
        keys.append(found["counted"]["keys"])
    assert keys[0] < keys[1]
    # 8 windows of 3 ids; before the end of the input, the newest windows are open.
    assert keys[1] == 24


def _row(second: int) -> dict[str, Any]:
    moment = _BEGIN + timedelta(seconds=second)
    return {"id": second % 3, "n": second % 7, "ts": f"{moment:%Y-%m-%d %H:%M:%S}"}


def _results(folder: Path, names: dict[str, str]) -> dict[str, Any]:
    given = [f"--var={name}={value}" for name, value in names.items()]
    arguments = ["prove", str(folder / "job.sql"), "--checkpoint", str(folder / "c"), "--json"]
    result = CliRunner().invoke(cli, [*arguments, *given])
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return {one["query"]: one for one in found}
