"""A bounded run is killed while it emits its last windows: the next run completes the end."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import SOURCE, Event, send
from tests.integration.faults.support import START_S
from tests.integration.jobs.support import Cli, write

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import Stage, stage
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

COUNT, KEYS = 6_000, 2_000

SCRIPT = (
    SOURCE
    + """
CREATE TABLE exact (k INT, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-exact',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${source}'
);
CREATE TABLE folded (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-folded',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO exact SELECT k, COUNT(*)
FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end, k;
INSERT INTO folded SELECT k, COUNT(*)
FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' HOUR) GROUP BY window_start, window_end, k;
"""
)
QUERIES = ("exact", "folded")


def _begun(query: Path) -> bool:
    """Return whether the query has logged its last batch, whose watermark is above all times."""
    return any("300000000000000" in f.read_text() for f in (query / "offsets").glob("[0-9]*"))


@pytest.mark.parametrize(
    "seed", [11, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(500, 510))]
)
def test_a_run_that_is_killed_at_the_end_of_input(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    source = topic("ends")
    names = {"source": source, "servers": broker.bootstrap_servers}
    send(broker.bootstrap_servers, source, [Event(i * 100, i % KEYS, i) for i in range(COUNT)])
    checkpoint = tmp_path / "c"
    arguments = ["run", write(tmp_path / "job.sql", SCRIPT), "--bounded", "--master", "local[2]"]
    arguments += ["--checkpoint", str(checkpoint)]
    for name, value in names.items():
        arguments += ["--var", f"{name}={value}"]
    process = Cli.start(*arguments)
    process.until(
        lambda: any(_begun(checkpoint / query) for query in QUERIES), START_S, pause=0.005
    )
    time.sleep(dice.random() * 0.1)
    process.kill()
    bridge = Bridge(spark)
    stages = [stage(bridge, checkpoint / query) for query in QUERIES]
    assert set(stages) != {Stage.ENDED}, "it was killed too late"

    job = BoundedRun(spark, SCRIPT, checkpoint, names)
    job(drain=True)
    per_key = COUNT // KEYS
    rows = (json.loads(r.value()) for r in records(broker.bootstrap_servers, f"{source}-exact"))
    assert Counter((r["k"], r["n"]) for r in rows) == Counter((k, per_key) for k in range(KEYS))
    assert job.rows("folded") == {(k,): {"k": k, "n": per_key} for k in range(KEYS)}
    with pytest.raises(StreamtableError) as refused:
        job(drain=True)
    assert refused.value.condition is Condition.CHECKPOINT_ENDED
    assert f"stay in the topic '{source}-folded'" in str(refused.value)
