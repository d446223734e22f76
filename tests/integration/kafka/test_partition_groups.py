"""Topics with more partitions than slots: one task reads several partitions."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (
  id INT, `partition` INT METADATA VIRTUAL, headers MAP<STRING, BYTES> METADATA VIRTUAL
) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'properties.bootstrap.servers' = '${servers}',
  'properties.isolation.level' = 'read_committed', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.fail-on-data-loss' = '${fail}'
);
CREATE TABLE o (id INT, `partition` INT, tag STRING) WITH (
  'connector' = 'kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json', 'sink.delivery-guarantee' = '${guarantee}'${prefix}
);
INSERT INTO o SELECT id, `partition`, CAST(headers['tag'] AS STRING) FROM t;
"""
PARTITIONS = 17
Row = tuple[int, int, str | None]


@dataclass
class Feed:
    """Write records of rising ids in committed and aborted transactions."""

    servers: str
    topic: str
    dice: random.Random
    committed: dict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    ids: int = 0

    def send(self, count: int, partitions: int) -> None:
        settings = {
            "bootstrap.servers": self.servers,
            "transactional.id": f"{self.topic}-feed",
            "log_level": 0,
        }
        producer = Producer(settings)
        producer.init_transactions(30)
        while count > 0:
            producer.begin_transaction()
            aborted = self.dice.random() < 0.3
            size = self.dice.randint(1, 60)
            for _ in range(size):
                self._produce(producer, partitions, aborted=aborted)
            if aborted:
                producer.flush(30)
                producer.abort_transaction(30)
            else:
                producer.commit_transaction(30)
            count -= size

    def _produce(self, producer: Producer, partitions: int, *, aborted: bool) -> None:
        self.ids += 1
        # Some partitions get most of the records, and some get none.
        partition = int(partitions * self.dice.random() ** 2)
        tag = f"tag{self.ids}" if self.dice.random() < 0.5 else None
        producer.produce(
            self.topic,
            json.dumps({"id": self.ids}),
            partition=partition,
            headers=[("tag", tag.encode())] if tag else None,
        )
        if not aborted:
            self.committed[partition].append((self.ids, partition, tag))


@dataclass
class Job:
    """The script over one topic, in a session with two slots."""

    spark: SparkSession
    servers: str
    names: dict[str, str]
    folder: Path

    def run(self, max_records: int, *, fail: bool = True) -> None:
        names = {**self.names, "fail": str(fail).lower()}
        job = BoundedRun(self.spark, SCRIPT, self.folder, names)
        job({"execution.micro-batch.max-records": str(max_records)})

    def rows(self) -> dict[int, list[Row]]:
        """Return partition of the source -> rows of the sink, in their order."""
        found: dict[int, list[Row]] = defaultdict(list)
        for record in records(self.servers, self.names["out"]):
            row = json.loads(record.value())
            found[row["partition"]].append((row["id"], row["partition"], row["tag"]))
        return found

    def tasks(self) -> int:
        """Return the number of tasks of the newest Spark job."""
        jobs = self.spark.sparkContext._jsc.sc().statusStore().jobsList(None)
        return max((jobs.apply(i).jobId(), jobs.apply(i).numTasks()) for i in range(jobs.size()))[1]


def _job(
    spark: SparkSession, broker: Broker, topic: Topics, folder: Path, guarantee: str
) -> tuple[Job, Feed]:
    source, out = topic(partitions=PARTITIONS), topic()
    names = {
        "source": source,
        "out": out,
        "servers": broker.bootstrap_servers,
        "guarantee": guarantee,
        "prefix": f", 'sink.transactional-id-prefix' = '{source}'"
        if guarantee == "exactly-once"
        else "",
    }
    job = Job(spark, broker.bootstrap_servers, names, folder)
    return job, Feed(broker.bootstrap_servers, source, random.Random(7))


@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_records_are_read_once_and_in_partition_order(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Batches end between fetched records, after aborted records, and in new partitions."""
    job, feed = _job(spark, broker, topic, tmp_path, guarantee)
    feed.send(900, PARTITIONS)
    job.run(max_records=230)
    assert job.rows() == feed.committed
    admin = AdminClient({"bootstrap.servers": job.servers})
    more = admin.create_partitions([NewPartitions(feed.topic, PARTITIONS + 6)])
    more[feed.topic].result(30)
    feed.send(600, PARTITIONS + 6)
    job.run(max_records=10_000)
    assert job.rows() == feed.committed
    # An exactly-once query without state names its tasks by partitions: one task per partition.
    slots = spark.sparkContext.defaultParallelism
    assert (job.tasks() <= slots) == (guarantee == "at-least-once")


def test_deleted_records_of_some_partitions(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job, feed = _job(spark, broker, topic, tmp_path, "at-least-once")
    feed.send(400, PARTITIONS)
    job.run(max_records=10_000)
    before = {partition: list(rows) for partition, rows in feed.committed.items()}
    feed.send(400, PARTITIONS)
    lost = (0, 3)
    admin = AdminClient({"bootstrap.servers": job.servers})
    deleted = admin.delete_records([TopicPartition(feed.topic, p, -1) for p in lost])
    for result in deleted.values():
        result.result(30)
    feed.send(300, PARTITIONS)
    with pytest.raises(StreamtableError) as stopped:
        job.run(max_records=10_000)
    assert stopped.value.condition is Condition.DATA_LOST
    job.run(max_records=10_000, fail=False)
    found = job.rows()
    for partition, rows in feed.committed.items():
        if partition in lost:
            assert found[partition][: len(before[partition])] == before[partition]
            assert len(before[partition]) < len(found[partition]) < len(rows)
            assert set(found[partition]) < set(rows)
        else:
            assert sorted(set(found[partition])) == rows
