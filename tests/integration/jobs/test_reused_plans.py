"""Plans that Spark optimizes once for all batches of a query, and plans that it optimizes again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_REUSED = "OptimizedQuery"

SCRIPT = """
CREATE TABLE one (k STRING, v BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${one}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE other (k STRING, v BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${other}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE sums (k STRING, n BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${sums}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO sums SELECT k, COUNT(*), SUM(v)
FROM (SELECT k, v FROM one WHERE v > 0 UNION ALL SELECT k, v FROM other) GROUP BY k;
"""


def _counts(rows: DataFrame) -> DataFrame:
    return rows.groupBy("v").count()


def _joined(rows: DataFrame) -> DataFrame:
    return rows.join(rows.sparkSession.range(3).selectExpr("CAST(id AS STRING) AS v"), "v")


#: Query -> the rows of a stream of strings `v`, and whether its batches share an optimized plan.
_QUERIES: dict[str, tuple[Callable[[DataFrame], DataFrame], bool]] = {
    "projection": (lambda rows: rows.selectExpr("UPPER(v) AS v"), True),
    "aggregate": (_counts, True),
    "time of the batch": (lambda rows: rows.withColumn("t", F.current_timestamp()), False),
    "random seed": (lambda rows: rows.withColumn("r", F.rand()), False),
    "join with a table": (_joined, False),
    "subquery": (lambda rows: rows.where("v < (SELECT MAX(id) FROM range(9))"), False),
}


@pytest.mark.parametrize("query", _QUERIES)
def test_batches_share_the_plan_if_nothing_in_it_varies(
    spark: SparkSession, broker: Broker, topic: Topics, query: str
) -> None:
    change, shared = _QUERIES[query]
    source = topic(partitions=2)
    options = {
        "kafka.bootstrap.servers": broker.bootstrap_servers,
        "subscribe": source,
        "startingOffsets": "earliest",
    }
    records = spark.readStream.format("kafka").options(**options).load()
    rows = change(records.selectExpr("CAST(value AS STRING) AS v"))
    produce(broker.bootstrap_servers, source, [(None, b"0")])
    running = rows.writeStream.foreach(_ignore).outputMode("update").start()
    try:
        found = []
        for batch in range(3):
            running.processAllAvailable()
            execution: Any = running._jsq.streamingQuery().lastExecution()  # type: ignore[attr-defined]
            assert execution.currentBatchId() == batch
            found.append(_REUSED in execution.analyzed().toString())
            produce(broker.bootstrap_servers, source, [(None, b"1")])
    finally:
        running.stop()
    assert found == [False, shared, shared]


def _ignore(_: object) -> None:
    """Write nothing."""


@dataclass
class _Rounds:
    """Send the next round of rows after the sums contain the rounds before.

    Attributes:
        rounds: rows of each topic.
    """

    job: BoundedRun
    servers: str
    rounds: list[Mapping[str, list[tuple[str, int]]]]
    _expected: dict[str, tuple[int, int]] = field(default_factory=dict)

    def done(self) -> bool:
        """Whether the sums contain all rounds."""
        found = {row["k"]: (row["n"], row["total"]) for row in self.job.rows("sums").values()}
        if found != self._expected:
            return False
        if not self.rounds:
            return True
        for name, rows in self.rounds.pop(0).items():
            produce_json(self.servers, name, ({"k": k, "v": v} for k, v in rows))
            for key, value in rows:
                count, total = self._expected.get(key, (0, 0))
                self._expected[key] = (count + 1, total + value)
        return False


def test_each_batch_reads_its_own_offsets(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A source without new rows is absent from the plan of a micro-batch."""
    one, other = topic("one", partitions=2), topic("other")
    sums = topic("sums", config={"cleanup.policy": "compact"})
    servers = broker.bootstrap_servers
    names = {"one": one, "other": other, "sums": sums, "servers": servers}
    job = BoundedRun(spark, SCRIPT, tmp_path / "checkpoint", names)
    first, second = ("a", 1), ("b", 20)
    settings = {"execution.mode": "micro-batch"}
    steps = [{one: [first]}, {other: [second]}, {one: [second], other: [first, second]}]
    rounds = _Rounds(job, servers, [*steps, *steps, {one: [first]}, {one: [first, second]}])
    job.until(rounds.done, settings)
    rounds.rounds = [{other: [first]}, {one: [second]}, {other: [second]}]
    job.until(rounds.done, settings)
    assert rounds.done()
    assert len(job.rows("sums")) == 2
