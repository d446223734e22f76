"""Processing-time windows: the read time assigns rows, and windows fire without further rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.event_time.support import run_apart

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SOURCE = """
CREATE TABLE clicks (k INT, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
"""
_SINK = """
CREATE TABLE {name} (
  s TIMESTAMP(3), e TIMESTAMP(3), k INT, n BIGINT, PRIMARY KEY (s, e, k) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO {name} {query};
"""
_OF = "TABLE clicks, DESCRIPTOR(p)"
_STEPS = "p, INTERVAL '2' SECOND, INTERVAL '4' SECOND"


@dataclass(frozen=True)
class Windows:
    """A query over windows.

    Attributes:
        length: the length of a window in seconds; None for sessions, which have any length.
        each: the number of windows of a row.
    """

    query: str
    length: int | None = 2
    each: int = 1


QUERIES = {
    "tumbled": Windows(f"""
SELECT window_start, window_end, k, COUNT(*) FROM TABLE(TUMBLE({_OF}, INTERVAL '2' SECOND))
GROUP BY window_start, window_end, k
"""),
    "hopped": Windows(
        f"""
SELECT HOP_START({_STEPS}), HOP_END({_STEPS}), k, COUNT(*) FROM clicks GROUP BY HOP({_STEPS}), k
""",
        length=4,
        each=2,
    ),
    "joined": Windows(
        """
SELECT window_start, window_end, k, COUNT(*)
FROM TABLE(SESSION(TABLE clicks PARTITION BY k, DESCRIPTOR(p), INTERVAL '1' SECOND))
GROUP BY window_start, window_end, k
""",
        length=None,
    ),
    # Windows of windows.
    "summed": Windows(f"""
SELECT window_start, window_end, k, SUM(n) FROM TABLE(TUMBLE((
  SELECT window_time AS t, k, COUNT(*) AS n FROM TABLE(TUMBLE({_OF}, INTERVAL '1' SECOND))
  GROUP BY window_start, window_end, window_time, k
), DESCRIPTOR(t), INTERVAL '2' SECOND))
GROUP BY window_start, window_end, k
"""),
}


@pytest.mark.parametrize("mode", ["micro-batch", pytest.param("real-time", marks=pytest.mark.soak)])
def test_windows_fire_by_the_clock(
    mode: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("clicks", partitions=1)
    servers = broker.bootstrap_servers
    names = ["tumbled"] if mode == "real-time" else list(QUERIES)
    script = _SOURCE + "".join(_SINK.format(name=n, query=QUERIES[n].query) for n in names)
    job = BoundedRun(spark, script, tmp_path / "job", {"source": source, "servers": servers})
    begun = time.time()
    sent: list[dict[str, Any]] = []

    def send() -> None:
        rows = [{"k": i % 2} for i in range(20)]
        produce_json(servers, source, rows)
        sent.extend(rows)

    def counted() -> bool:
        return all(_total(job, n) == len(sent) * QUERIES[n].each for n in names)

    def done() -> bool:
        if len(sent) == 20 and counted():
            send()
        return len(sent) == 40 and counted()

    send()
    settings = {"execution.mode": mode, "execution.checkpointing.interval": "5 s"}
    settings["table.local-time-zone"] = "UTC"
    if mode == "micro-batch":
        # The windows of the first run fire in the next run, which has no new rows until then.
        job.until(lambda: _read(job) == len(names) * len(sent), settings)
        job.until(done, settings)
        told = "\n".join(job.notices)
    else:
        told = run_apart(job, done, settings)
    ended = time.time()
    assert "watermark had passed" not in told, told
    for name in names:
        length = QUERIES[name].length
        for row in job.rows(name).values():
            start, end = (
                datetime.fromisoformat(row[n]).replace(tzinfo=UTC).timestamp() for n in ("s", "e")
            )
            assert begun - 4 <= start <= end <= ended, f"{name}: {row}"
            assert length is None or (end - start == length and start % 2 == 0)


def _read(job: BoundedRun) -> int:
    return int(job.metrics.values()["tables"].get("clicks", {}).get("numRecordsIn", 0))


def _total(job: BoundedRun, name: str) -> int:
    try:
        return sum(row["n"] for row in job.rows(name).values())
    except StreamtableError as error:
        # The job creates its topics after all its other checks.
        assert error.condition is Condition.TOPIC_MISSING
        return 0
