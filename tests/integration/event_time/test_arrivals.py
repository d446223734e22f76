"""What goes by processing time without a window: each row comes out at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.integration.event_time.support import ONE_TASK, rows_there

from streamtable.testing.answers import set_for_a_while
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SCRIPT = """
CREATE TABLE clicks (id INT, k INT, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (id INT, n BIGINT, m INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-o',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT id, COUNT(*) OVER w, MIN(id) OVER w FROM clicks
WINDOW w AS (PARTITION BY k ORDER BY p RANGE INTERVAL '4' SECOND PRECEDING);
"""
_FRAME_S = 4


def test_a_frame_of_time_goes_by_the_clock(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Rows of one micro-batch, then one by one in real-time mode, on the same checkpoint."""
    source, servers = topic("clicks"), broker.bootstrap_servers
    job = BoundedRun(spark, _SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    produce_json(servers, source, [{"id": i, "k": i % 2} for i in range(4)])
    with set_for_a_while(spark, ONE_TASK):
        job()
    # Those of one millisecond count each other.
    first = {i: (row["n"], row["m"]) for i, row in rows_there(job, "o").items()}
    assert {i: (2, i % 2) for i in (2, 3)} == {i: first[i] for i in (2, 3)}
    time.sleep(_FRAME_S + 0.5)
    produce_json(servers, source, [{"id": 4, "k": 0}])
    sent_at: float | None = None

    def done() -> bool:
        nonlocal sent_at
        found = rows_there(job, "o")
        if sent_at is None and 4 in found:
            sent_at = time.monotonic()
            produce_json(servers, source, [{"id": 5, "k": 0}, {"id": 6, "k": 1}])
        if 6 in found and sent_at is not None and time.monotonic() > sent_at + _FRAME_S + 0.5:
            sent_at = float("inf")
            produce_json(servers, source, [{"id": 7, "k": 0}])
        return 7 in found

    with set_for_a_while(spark, ONE_TASK):
        job.until(done, {"execution.mode": "real-time"}, seconds=90)
    found = {i: (row["n"], row["m"]) for i, row in rows_there(job, "o").items() if i > 3}
    assert found == {4: (1, 4), 5: (2, 4), 6: (1, 6), 7: (1, 7)}
