"""A stop right after a start that has rolled its sink back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests.integration.jobs.support import PATIENCE_S, Cli, write

from streamtable.connectors.kafka.inspect.folded import FoldedTopic
from streamtable.core.table import Table
from streamtable.session import Session
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: How many keys came how often: on the way to a count each key passes through the lower ones.
SCRIPT = """
SET 'execution.mode' = 'real-time';
SET 'execution.checkpointing.interval' = '300 s';
SET 'execution.real-time.first-checkpoints' = '2';
SET 'parallelism.default' = '1';
CREATE TABLE t (k INT) WITH (
  'connector' = 'kafka', 'topic' = '${t}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE sizes (n BIGINT, ks BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${t}-sizes',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO sizes
SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) AS c GROUP BY n;
"""
_OPEN = "stopped before all rolled-back rows were written again"


def _wait(ready: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _commits(directory: Path) -> set[str]:
    return {file.name for file in directory.glob("[0-9]*")}


def _in_a_long_batch(directory: Path) -> bool:
    """Whether the short batches are over, also the one that was running at the second commit."""
    committed = [file.stat().st_mtime for file in directory.glob("[0-9]*")]
    return len(committed) >= 2 and time.time() - max(committed) > 10


def test_rows_are_written_again_first(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    servers, source = broker.bootstrap_servers, topic("sizes")
    names = {"t": source, "servers": servers}
    session = Session()
    session.load(SCRIPT, "job.sql", names)
    table = session.catalog.find(("sizes",), None)
    assert isinstance(table, Table)
    connector: Any = table.connector
    commits = tmp_path / "c" / "sizes" / "commits"
    arguments = ["run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")]
    for name, value in names.items():
        arguments += ["--var", f"{name}={value}"]

    def sizes() -> Mapping[int, int]:
        with FoldedTopic(connector) as folded:
            folded.catch_up()
            return {row["n"]: row["ks"] for row in folded.rows.values()}

    produce_json(servers, source, ({"k": k} for k in range(10)))
    process = Cli.start(*arguments)
    process.wait_for("running sizes")
    _wait(lambda: sizes() == {1: 10})
    _wait(lambda: _in_a_long_batch(commits))
    committed = _commits(commits)
    produce_json(servers, source, ({"k": k} for k in range(5)))
    _wait(lambda: sizes() == {1: 5, 2: 5})
    process.kill()
    assert _commits(commits) == committed

    process = Cli.start(*arguments)
    process.wait_for("back to the last checkpoint")
    process.terminate()
    code, _, err = process.end()
    assert code == 0, err
    # On a busy machine the time of a stop may be too short to see the rows; then that is reported.
    assert _OPEN in err or sizes() == {1: 5, 2: 5}, err
