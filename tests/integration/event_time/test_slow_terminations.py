"""Consecutive runs while Spark is slow to release the name of a query."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.java_gateway import ensure_callback_server_started
from tests.integration.event_time.support import SOURCE, Event, send

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_METRICS = "spark.sql.streaming.metricsEnabled"

SCRIPT = (
    SOURCE
    + """
CREATE TABLE counts (k INT, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-counts',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
INSERT INTO counts SELECT k, COUNT(*)
FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end, k;
"""
)


class _Slow:
    """A listener of Spark's metrics that delays the removal of a query's gauges.

    Spark removes the gauges after it has marked the query inactive, and before it releases the name
    of the query.
    """

    def __init__(self) -> None:
        self.removed = 0

    def onGaugeRemoved(self, _name: str) -> None:  # noqa: N802 - Java's name
        self.removed += 1
        time.sleep(0.3)

    def equals(self, _other: Any) -> bool:
        return True  # the only listener of its kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on"):
            return lambda *_: None
        raise AttributeError(name)

    class Java:
        implements = ("com.codahale.metrics.MetricRegistryListener",)


@pytest.fixture
def slow(spark: SparkSession) -> Iterator[_Slow]:
    """Slow down the end of Spark's queries."""
    context: Any = spark._sc
    ensure_callback_server_started(context._gateway)
    registry = _field(spark, "metrics.MetricsSystem", "registry").get(
        _field(spark, "SparkEnv", "metricsSystem").get(context._jsc.sc().env())
    )
    listener = _Slow()
    registry.addListener(listener)
    before = str(spark.conf.get(_METRICS))
    spark.conf.set(_METRICS, "true")
    yield listener
    spark.conf.set(_METRICS, before)
    registry.removeListener(listener)


def _field(spark: SparkSession, owner: str, name: str) -> Any:
    """Return a private field; py4j itself cannot inspect the class of the metrics system."""
    java: Any = spark._jvm
    found = java.java.lang.Class.forName(f"org.apache.spark.{owner}").getDeclaredField(name)
    found.setAccessible(True)
    return found


def test_the_last_batch_waits_for_the_query_name(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, slow: _Slow
) -> None:
    source = topic("slow")
    names = {"source": source, "servers": broker.bootstrap_servers}
    send(broker.bootstrap_servers, source, [Event(i * 1_000, i % 3, i) for i in range(30)])
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    job()
    slow.removed = 0
    job(drain=True)  # nothing is left to read: the last batch needs a run of its own
    assert slow.removed > 1, "nothing was slow"
    rows = [json.loads(r.value()) for r in records(broker.bootstrap_servers, f"{source}-counts")]
    assert sorted((row["k"], row["n"]) for row in rows) == [(0, 10), (1, 10), (2, 10)]
