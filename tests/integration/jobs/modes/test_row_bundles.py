"""Real-time mode combines only those rows of a group that have already arrived."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.modes.test_real_time_formats import values
from tests.integration.jobs.support import Cli, write

from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (k INT, v ${type}) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (k INT, n BIGINT, v ${type}, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT k, COUNT(*), LAST_VALUE(v) FROM t GROUP BY k;
"""
KEYS, ROUNDS = 5, 400
STREAMING = "org.apache.spark.shuffle.streaming.StreamingShuffleManager"


@pytest.mark.parametrize(
    ("type_", "value", "settings", "combined"),
    [
        ("INT", lambda n: n, {}, True),
        ("INT", lambda n: n, {"execution.real-time.bundle-size": "1"}, False),
        # With TTL, updates that change nothing renew the state downstream. Combined, they would
        # cancel out.
        ("INT", lambda n: n, {"table.exec.state.ttl": "1 h"}, False),
        ("MAP<STRING, INT>", lambda n: {"n": n}, {}, True),
        # The shuffle manager of a cluster.
        ("INT", lambda n: n, {"spark.shuffle.manager.incremental": STREAMING}, True),
        # With this limit, a writer waits after each row until the row is read.
        ("INT", lambda n: n, {"spark.shuffle.streaming.readerMaxMemory": "1"}, False),
    ],
)
def test_changes_of_a_backlog(
    type_: str,
    value: Any,
    settings: dict[str, str],
    combined: bool,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    servers, source, out = broker.bootstrap_servers, topic("backlog"), topic("changes")
    rows = [{"k": k, "v": value(n)} for n in range(1, ROUNDS + 1) for k in range(KEYS)]
    produce_json(servers, source, rows)
    options = {"execution.mode": "real-time", "parallelism.default": "1", **settings}
    names = {"type": type_, "source": source, "out": out, "servers": servers}
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *itertools.chain(*(("--set", f"{key}={text}") for key, text in options.items())),
        *itertools.chain(*(("--var", f"{name}={text}") for name, text in names.items())),
    )
    try:
        changes = _until_complete(process, servers, out)
    finally:
        process.kill()

    by_key = {k: [row for row in changes if row["k"] == k] for k in range(KEYS)}
    for of_key in by_key.values():
        counts = [row["n"] for row in of_key]
        assert counts == sorted(set(counts))
        assert all(row["v"] == value(row["n"]) for row in of_key)
    if combined:
        assert len(changes) < KEYS * ROUNDS / 2
    else:
        assert len(changes) == KEYS * ROUNDS


def _until_complete(process: Cli, servers: str, out: str) -> list[dict[str, Any]]:
    def changes() -> list[dict[str, Any]]:
        return [json.loads(change) for change in values(servers, out)]

    complete = dict.fromkeys(range(KEYS), ROUNDS)
    process.until(lambda: {row["k"]: row["n"] for row in changes()} == complete, pause=0.5)
    return changes()
