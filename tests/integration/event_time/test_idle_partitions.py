"""Windows over partitions that become idle, in both modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import SOURCE, Event, millis, run_apart, send

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SINK = """
CREATE TABLE tumbled (s TIMESTAMP(3), n BIGINT, total BIGINT, PRIMARY KEY (s) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-tumbled',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO tumbled SELECT window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end;
"""


_TIMEOUT = "table.exec.source.idle-timeout"
_OF_SCAN = "'format' = 'json', 'scan.watermark.idle-timeout' = '1 s'\n"


@pytest.mark.parametrize(
    ("mode", "by_table"), [("micro-batch", False), ("micro-batch", True), ("real-time", False)]
)
def test_an_idle_partition_does_not_hold_back_the_watermark(
    mode: str,
    by_table: bool,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    """The option of the table overrides the setting, whose timeout of an hour is too long here."""
    source = topic("events", partitions=2)
    servers = broker.bootstrap_servers
    table = SOURCE.replace("'format' = 'json'\n", _OF_SCAN) if by_table else SOURCE
    job = BoundedRun(spark, table + _SINK, tmp_path / "job", {"source": source, "servers": servers})

    def written() -> dict[int, tuple[int, int]]:
        try:
            return {millis(r["s"]): (r["n"], r["total"]) for r in job.rows("tumbled").values()}
        except StreamtableError as error:
            assert error.condition is Condition.TOPIC_MISSING
            return {}

    first = {0: (2, 3)}
    later = {**first, 20_000: (2, 12), 30_000: (2, 16)}
    came_back = False

    def done() -> bool:
        nonlocal came_back
        found = written()
        if found == first and not came_back:
            # The watermark is at 28 s: one row of the idle partition is late, and the other is not.
            send(servers, source, [Event(5_000, 1, 32, 1), Event(29_500, 1, 8, 1)])
            send(servers, source, [Event(35_000, 1, 16, 0), Event(60_000, 1, 64, 0)])
            came_back = True
        return came_back and found == later

    send(servers, source, [Event(1_000, 1, 1), Event(2_000, 1, 2), Event(29_000, 1, 4)])
    send(servers, source, [Event(30_000, 1, 0)])
    settings = {
        "execution.mode": mode,
        "execution.checkpointing.interval": "5 s",
        _TIMEOUT: "1 h" if by_table else "1 s",
    }
    if mode == "micro-batch":
        job.until(done, settings)
        told = "\n".join(job.notices)
    else:
        told = run_apart(job, done, settings)
    assert "events: 1 records dropped as late, because the watermark" in told
