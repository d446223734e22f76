"""Real-time mode runs the same script on the same checkpoint, row by row."""

from __future__ import annotations

import itertools
import random
import re
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import PATIENCE_S, Cli, write

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.job import RunOptions
from streamtable.session import Session, fixed_settings
from streamtable.testing.histories import Change, fold, random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (k INT, g STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (g STRING, n BIGINT, hi INT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT g, COUNT(*), MAX(v) FROM t WHERE v > 1 GROUP BY g HAVING COUNT(*) > 1;
"""


def values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice(["a", "b", "c"]), "v": source.randrange(9)}


def answer(history: list[Change]) -> dict[tuple[Any, ...], dict[str, Any]]:
    groups: dict[str, list[int]] = {}
    for row in fold(history).values():
        if row["v"] > 1:
            groups.setdefault(row["g"], []).append(row["v"])
    return {
        (g,): {"g": g, "n": len(values), "hi": max(values)}
        for g, values in groups.items()
        if len(values) > 1
    }


def until(job: BoundedRun, expected: object, process: Cli, seconds: float = PATIENCE_S) -> float:
    """Wait until the table of the sink is as expected, and return the seconds that this took."""
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        assert process.process.poll() is None, process.process.communicate()[1]
        try:
            if job.rows("o") == expected:
                return time.monotonic() - start
        except StreamtableError as error:
            # The job creates its topic after all other checks.
            assert error.condition is Condition.TOPIC_MISSING
        time.sleep(0.1)
    assert job.rows("o") == expected
    raise AssertionError


@pytest.mark.parametrize("cuts", [(80, 200), pytest.param((80, 140, 200), marks=pytest.mark.soak)])
def test_both_modes_alternate_on_a_checkpoint(
    cuts: Sequence[int], spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source = topic("history", partitions=2)
    topic_out = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    history = random_history(31, length=240, keys=20, make=values)
    arguments = ["run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")]
    arguments += ["--var", f"source={source}", "--var", f"servers={servers}"]
    arguments += ["--set", "execution.mode=real-time", "--set", "parallelism.default=2"]
    arguments += ["--set", "execution.checkpointing.interval=5 s"]

    # Micro-batches catch up, real-time mode continues and is killed once or twice, and
    # micro-batches complete the result.
    produce_changes(servers, source, "k", history[:80])
    topic_out()
    assert topic_out.rows("o") == answer(history[:80])

    for start, end in itertools.pairwise(cuts):
        process = Cli.start(*arguments)
        feeding = threading.Timer(3, produce_changes, (servers, source, "k", history[start:end]))
        feeding.start()
        until(topic_out, answer(history[:end]), process)
        feeding.join()
        process.kill()

    produce_changes(servers, source, "k", history[200:])
    topic_out()
    assert topic_out.rows("o") == answer(history)


def test_a_job_continues_after_a_kill_in_the_first_checkpoint(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A job continues after a kill in its first checkpoint.

    The kill leaves state of a batch that neither `offsets` nor `commits` records.
    """
    source = topic("history", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    history = random_history(32, length=80, keys=20, make=values)
    produce_changes(broker.bootstrap_servers, source, "k", history)
    job()
    for folder in ("offsets", "commits"):
        shutil.rmtree(tmp_path / "c" / "o" / folder)
    job()
    assert job.rows("o") == answer(history)


def test_the_first_checkpoints_have_a_short_interval(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("history", partitions=1)
    commits = tmp_path / "c" / "o" / "commits"
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--set", "execution.mode=real-time", "--set", "parallelism.default=1"),
        *("--set", "execution.real-time.first-checkpoints=2"),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
    )
    deadline = time.monotonic() + PATIENCE_S
    while len(list(commits.glob("[0-9]*"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(6)

    # The batch that was running at the second commit is short as well.
    assert len(list(commits.glob("[0-9]*"))) in (2, 3)
    process.kill()


@pytest.mark.parametrize(
    "mode",
    ["real-time", *(pytest.param(m, marks=pytest.mark.soak) for m in ("micro-batch", "auto"))],
)
def test_sigterm_stops_a_job_cleanly(
    mode: str, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source = topic("history", partitions=1)
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--set", f"execution.mode={mode}"),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
    )
    process.wait_for("running")
    process.terminate()
    code, _, err = process.end()
    # The job reports only the numbers of records and its end.
    *tables, end = err.splitlines()
    assert code == 0, err
    assert all(re.fullmatch(r"\w+: (read|wrote) 0 records", line) for line in tables)
    assert re.fullmatch(r"ran for [\d.]+ s; no checkpoint is kept", end)


def test_too_few_slots_are_reported(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("history", partitions=2)
    session = Session(settings=fixed_settings({"execution.mode": "real-time"}))
    session.load(SCRIPT, "job.sql", {"source": source, "servers": broker.bootstrap_servers})
    with pytest.raises(StreamtableError) as refused:
        session.run(RunOptions(checkpoint=str(tmp_path / "c")), print, spark)
    assert refused.value.condition is Condition.NOT_ENOUGH_SLOTS
    assert "runs 6 tasks at once, but Spark has 2 slots" in str(refused.value)
