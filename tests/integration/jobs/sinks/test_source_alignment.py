"""Source alignment: how far one sink of a job may be ahead of another."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.batches import positions
from tests.integration.event_time.support import SOURCE, Event, millis, send
from tests.integration.jobs.support import PATIENCE_S

from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.job import RunOptions
from streamtable.session import Session, fixed_settings
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

COUNT, BATCH, LEAD = 480, 40, 100

#: The INSERT into `slow` takes some milliseconds per record, the INSERT into `quick` almost none.
SCRIPT = """
CREATE TABLE t (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json'
);
CREATE TABLE slow (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-slow',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE quick (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-quick',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
INSERT INTO quick SELECT id FROM t;
INSERT INTO slow SELECT id FROM t WHERE SHA512(REPEAT(CAST(id AS STRING), 1000000)) <> 'x';
"""


def _reached(query: Path, log: str, topic: str) -> int:
    """Return the end of a query's newest planned (`offsets`) or committed (`commits`) batch."""
    return positions(query, topic, log).get(0, 0)


def test_the_skew_between_sinks_is_bounded(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The planned end of `quick` is at most LEAD ahead of the committed end of `slow`.

    A crash at any moment would leave these two positions.
    """
    source = topic("set")
    produce_json(broker.bootstrap_servers, source, ({"id": i} for i in range(COUNT)))
    settings: SessionSettings = fixed_settings(
        {
            "execution.mode": "micro-batch",
            "execution.micro-batch.max-records": str(BATCH),
            "execution.max-lead": str(LEAD),
        }
    )
    session = Session(settings=settings)
    session.load(SCRIPT, "s.sql", {"source": source, "servers": broker.bootstrap_servers})
    options = RunOptions(bounded=True, checkpoint=str(tmp_path / "c"))
    job = session.start(options, lambda _: None, spark)
    leads = []
    try:
        while job.running:
            planned = _reached(tmp_path / "c" / "quick", "offsets", source)
            leads.append(planned - _reached(tmp_path / "c" / "slow", "commits", source))
            time.sleep(0.02)
    finally:
        job.stop()
        job.wait(60)
    assert job.wait(0)
    assert max(leads) <= LEAD
    # The bound did hold `quick` back: otherwise `quick` would have been further ahead.
    assert max(leads) > BATCH
    for sink in ("slow", "quick"):
        found = [
            json.loads(r.value())["id"]
            for r in records(broker.bootstrap_servers, f"{source}-{sink}")
        ]
        assert found == list(range(COUNT))


def test_a_stop_does_not_wait_for_held_back_queries(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("set")
    produce_json(broker.bootstrap_servers, source, ({"id": i} for i in range(COUNT)))
    given = {"execution.mode": "micro-batch", "execution.micro-batch.max-records": "20"}
    session = Session(settings=fixed_settings({**given, "execution.max-lead": "20"}))
    session.load(SCRIPT, "s.sql", {"source": source, "servers": broker.bootstrap_servers})
    job = session.start(RunOptions(checkpoint=str(tmp_path / "c")), lambda _: None, spark)
    deadline = time.monotonic() + PATIENCE_S
    while not _reached(tmp_path / "c" / "slow", "commits", source):
        assert job.running, job.wait(0)
        assert time.monotonic() < deadline
        time.sleep(0.05)
    job.stop()
    assert job.wait(PATIENCE_S)
    assert 0 < _reached(tmp_path / "c" / "quick", "commits", source) < COUNT


WINDOWS = """
CREATE TABLE {name} (s TIMESTAMP(3), k INT, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json'
);
INSERT INTO {name}
SELECT window_start, k, COUNT(*) FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{size}' SECOND)
GROUP BY window_start, window_end, k;
"""


def test_an_ended_query_does_not_hold_back_a_running_query(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A query that is over does not hold back another query after a restart.

    A bounded run may break off when one query has reached its end and another is far from its end.
    """
    source = topic("ends")
    servers = broker.bootstrap_servers
    script = SOURCE + "".join(WINDOWS.format(name=f"of{n}", size=n) for n in (5, 10))
    job = BoundedRun(spark, script, tmp_path / "c", {"source": source, "servers": servers})
    held = {"execution.micro-batch.max-records": "80", "execution.max-lead": "80"}
    send(servers, source, [Event(i * 100, i % 3, i) for i in range(40)])
    job(held)
    shutil.copytree(tmp_path / "c", tmp_path / "before")
    send(servers, source, [Event(i * 100, i % 3, i) for i in range(40, 240)])
    job(held, drain=True)
    shutil.rmtree(tmp_path / "c" / "of10")
    for left in ("of10", "watermarks.json"):
        shutil.move(tmp_path / "before" / left, tmp_path / "c" / left)

    session = Session(settings=fixed_settings(held))
    session.load(script, "s.sql", {"source": source, "servers": servers})
    options = RunOptions(bounded=True, checkpoint=str(tmp_path / "c"))
    again = session.start(options, lambda _: None, spark)
    try:
        assert again.wait(PATIENCE_S), "it waits for a query that is over"
    finally:
        again.stop()
        again.wait(60)
    for size in (5, 10):
        found = [
            json.loads(r.value()) for r in records(broker.bootstrap_servers, f"{source}-of{size}")
        ]
        counts = {(millis(row["s"]) // (size * 1_000), row["k"]): row["n"] for row in found}
        assert counts == Counter((i // (size * 10), i % 3) for i in range(240))
