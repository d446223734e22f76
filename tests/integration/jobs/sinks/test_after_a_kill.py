"""Sink rollback after a kill in real-time mode: at a start that is stopped, and at an upgrade."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from tests.integration.jobs.support import PATIENCE_S, Cli, run, write

from streamtable.connectors.kafka.inspect.folded import FoldedTopic
from streamtable.core.table import Table
from streamtable.session import Session
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: The number of keys by their number of records. A key passes through each lower number on the way
#: to its final number.
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
    """Return whether the short batches are over, also the one that ran at the second commit."""
    committed = [file.stat().st_mtime for file in directory.glob("[0-9]*")]
    return len(committed) >= 2 and time.time() - max(committed) > 10


class _Killed:
    """A job that was killed after it wrote the rows of five records past its checkpoint."""

    def __init__(self, broker: Broker, topic: Topics, folder: Path) -> None:
        self.servers, self.source, self.folder = broker.bootstrap_servers, topic("sizes"), folder
        self.names = {"t": self.source, "servers": self.servers}
        session = Session()
        session.load(SCRIPT, "job.sql", self.names)
        table = session.catalog.find(("sizes",), None)
        assert isinstance(table, Table)
        self._connector: Any = table.connector
        commits = folder / "c" / "sizes" / "commits"
        produce_json(self.servers, self.source, ({"k": k} for k in range(10)))
        process = Cli.start(*self.arguments("run"))
        process.wait_for("running sizes")
        _wait(lambda: self.sizes() == {1: 10})
        _wait(lambda: _in_a_long_batch(commits))
        committed = _commits(commits)
        produce_json(self.servers, self.source, ({"k": k} for k in range(5)))
        _wait(lambda: self.sizes() == {1: 5, 2: 5})
        process.kill()
        assert _commits(commits) == committed

    def arguments(self, command: str, script: str = SCRIPT) -> list[str]:
        """Write the script, and return the arguments of a command on the checkpoint."""
        place = ["--checkpoint", str(self.folder / "c")]
        given = [f"--var={name}={value}" for name, value in self.names.items()]
        return [command, write(self.folder / "job.sql", script), *place, *given]

    def sizes(self) -> Mapping[int, int]:
        with FoldedTopic(self._connector) as folded:
            folded.catch_up()
            return {row["n"]: row["ks"] for row in folded.rows.values()}


def test_a_stop_after_a_rollback_rewrites_the_rows(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job = _Killed(broker, topic, tmp_path)
    process = Cli.start(*job.arguments("run"))
    process.wait_for("back to the last checkpoint")
    process.terminate()
    code, _, err = process.end()
    assert code == 0, err
    # On a busy machine, the stop may end before the rows are written again; the job reports this.
    assert _OPEN in err or job.sizes() == {1: 5, 2: 5}, err


def test_an_upgrade_from_now_begins_at_the_checkpoint(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The input of the first run is deleted, so that the changed query starts with empty state."""
    job = _Killed(broker, topic, tmp_path)
    admin = AdminClient({"bootstrap.servers": job.servers})
    partition = TopicPartition(job.source, 0, 3)
    admin.delete_records([partition])[partition].result(30)
    changed = SCRIPT.replace("FROM t GROUP", "FROM t WHERE k < 4 GROUP")
    code, out, err = run(*job.arguments("upgrade", changed), "--from-now")
    assert code == 0, err
    assert "sizes: from now, without state: " in out
    assert "back to the last checkpoint" in err
    assert job.sizes() == {1: 10}
    code, _, err = run(*job.arguments("run", changed), "--bounded", "--mode", "micro-batch")
    assert code == 0, err
    assert job.sizes() == {1: 4}
    code, out, err = run(*job.arguments("prove", changed))
    assert code == 0, out + err
    assert "sizes: 1 keys, 5 offsets, 0 differ" in out
