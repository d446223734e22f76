"""Source options: topics by pattern, bounds, groups, epochs, lost records."""

from __future__ import annotations

import json
import re
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    ConsumerGroupTopicPartitions,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from tests.integration.jobs.support import PATIENCE_S
from tests.integration.kafka.test_clients_kept import clients

import streamtable
from streamtable.api.query import _Feed
from streamtable.core.checkpoint_path import MANIFEST
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import MAX_BATCH_RECORDS
from streamtable.runtime.background import Job as BackgroundJob
from streamtable.runtime.job import RunOptions
from streamtable.session import Session, fixed_settings
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (
  id INT, topic STRING METADATA VIRTUAL, epoch INT METADATA FROM 'leader-epoch' VIRTUAL
) WITH (
  'connector' = 'kafka', ${source}, 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json'
);
CREATE TABLE o (id INT, topic STRING, epoch INT) WITH (
  'connector' = 'kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json'
);
INSERT INTO o SELECT id, topic, epoch FROM t;
"""
EARLIEST = "'scan.startup.mode' = 'earliest-offset'"


class Job:
    """Runs of the script over some source options, and the rows that they have written, by id."""

    def __init__(self, spark: SparkSession, broker: Broker, out: str, folder: Path) -> None:
        self.spark, self.broker, self.out, self.folder = spark, broker, out, folder
        self.notices: list[str] = []

    def run(self, source: str) -> None:
        self._over(source)()

    def run_in(self, mode: str, source: str, ids: set[int]) -> None:
        """Run to the end of the topic, or in a mode until the sink has these ids."""
        if mode == "bounded":
            self.run(source)
        else:
            settings = {"execution.mode": mode, "execution.checkpointing.interval": "5 s"}
            self._over(source).until(lambda: ids <= {*self.ids()}, settings)

    def start(self, source: str, **settings: str) -> BackgroundJob:
        """Start a run that ends by itself."""
        session = Session(settings=fixed_settings(settings))
        names = {"out": self.out, "servers": self.broker.bootstrap_servers}
        session.load(SCRIPT.replace("${source}", source), "s.sql", names)
        return session.start(RunOptions(checkpoint=str(self.folder)), lambda _: None, self.spark)

    def _over(self, source: str) -> BoundedRun:
        script = SCRIPT.replace("${source}", source)
        names = {"out": self.out, "servers": self.broker.bootstrap_servers}
        return BoundedRun(self.spark, script, self.folder, names, notices=self.notices)

    def rows(self) -> list[dict[str, Any]]:
        return sorted(
            (json.loads(r.value()) for r in records(self.broker.bootstrap_servers, self.out)),
            key=lambda r: r["id"],
        )

    def ids(self) -> list[int]:
        return [row["id"] for row in self.rows()]

    def ids_once(self, mode: str) -> list[int]:
        """Return the ids; a stop in real-time mode writes rows since its last checkpoint again."""
        return sorted({*self.ids()}) if mode == "real-time" else self.ids()


@pytest.fixture
def job(spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path) -> Job:
    return Job(spark, broker, topic("out"), tmp_path / "c")


def send(
    broker: Broker, topic: str, ids: range, partition: int = 0, timestamp: int | None = None
) -> None:
    """Produce records of ids, with the time `timestamp` plus the id, in ms, or the current time."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for i in ids:
        time_ms = 0 if timestamp is None else timestamp + i
        producer.produce(topic, f'{{"id":{i}}}', partition=partition, timestamp=time_ms)
    assert producer.flush(30) == 0


def open_transaction(broker: Broker, topic: str, ids: range, timestamp: int) -> Producer:
    """Return a producer with an open transaction; its records have times as those of `send`."""
    servers = {"bootstrap.servers": broker.bootstrap_servers}
    producer = Producer({**servers, "transactional.id": f"x-{topic}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for i in ids:
        producer.produce(topic, f'{{"id":{i}}}', timestamp=timestamp + i)
    producer.flush(30)
    return producer


def commit(broker: Broker, group: str, topic: str, offsets: dict[int, int]) -> None:
    """Set the offsets of a group; for the first group of a broker, wait for its coordinator."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    wanted = [TopicPartition(topic, p, offset) for p, offset in offsets.items()]
    deadline = time.monotonic() + PATIENCE_S
    while True:
        asked = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)])
        found = [
            place.error for done in asked.values() for place in done.result(30).topic_partitions
        ]
        if not any(found):
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def committed(broker: Broker, group: str, topic: str, partitions: int = 1) -> list[int]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group})
    found = consumer.committed([TopicPartition(topic, p) for p in range(partitions)], timeout=30)
    consumer.close()
    return [p.offset for p in found]


def test_a_topic_pattern_also_reads_new_topics(broker: Broker, topic: Topics, job: Job) -> None:
    mark = uuid.uuid4().hex[:6]
    first, other = topic(f"p-{mark}-a"), topic(f"q-{mark}-a")
    source = f"'topic-pattern' = 'p-{mark}-[a-c].*', {EARLIEST}"
    source += ", 'scan.topic-partition-discovery.interval' = '10 s'"
    send(broker, first, range(2))
    send(broker, other, range(90, 92))
    job.run(source)
    second = topic(f"p-{mark}-b")
    send(broker, second, range(2, 4))
    job.run(source)
    assert [(r["id"], r["topic"]) for r in job.rows()] == [
        (0, first),
        (1, first),
        (2, second),
        (3, second),
    ]


@pytest.mark.parametrize("pattern", ["{topic}[a-z&&[^x]]*", "(?<all>{topic}).*"])
def test_a_topic_pattern_has_the_syntax_of_java(
    pattern: str, broker: Broker, topic: Topics, job: Job
) -> None:
    """The group gets offsets of the topics that match in Java, and none of another table."""
    source, other, group = topic("s"), topic("other"), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(3))
    send(broker, other, range(10, 12))
    options = f"'topic-pattern' = '{pattern.format(topic=source)}', {EARLIEST}"
    tables = SCRIPT.partition("INSERT")[0].replace(
        "${source}", f"{options}, 'properties.group.id' = '{group}'"
    )
    script = f"""{tables}
    CREATE TABLE other WITH ('topic' = '{other}') LIKE o (OVERWRITING OPTIONS);
    INSERT INTO o SELECT id, topic, epoch FROM t
    UNION ALL SELECT * FROM other /*+ OPTIONS({EARLIEST}) */;"""
    run = BoundedRun(
        job.spark, script, job.folder, {"out": job.out, "servers": broker.bootstrap_servers}
    )
    run()
    assert job.ids() == [0, 1, 2, 10, 11]
    assert committed(broker, group, source) == [3]
    assert committed(broker, group, other) == [OFFSET_INVALID]


@pytest.mark.parametrize("mode", ["bounded", "ended", "micro-batch", "real-time"])
def test_a_topic_pattern_matches_whole_names(
    mode: str, broker: Broker, topic: Topics, job: Job
) -> None:
    """A pattern matches whole names, also with alternatives.

    Otherwise the last alternative would also match the beginning of a longer name.
    """
    fitting = [topic("ev"), topic("b")]
    others = [f"my_{fitting[0]}", f"{fitting[1]}_old", f"{fitting[0]}_old"]
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in admin.create_topics([NewTopic(name) for name in others]).values():
        future.result(30)
    for number, name in enumerate([*fitting, *others]):
        send(broker, name, range(number, number + 1))
    source = f"'topic-pattern' = '{fitting[0]}|{fitting[1]}', {EARLIEST}"
    if mode == "ended":
        job.run(f"{source}, 'scan.bounded.mode' = 'latest-offset'")
    else:
        job.run_in(mode, source, {*range(len(fitting))})
    # At-least-once: a stop in real-time mode writes the rows since the last checkpoint again.
    assert {(r["id"], r["topic"]) for r in job.rows()} == {*enumerate(fitting)}


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ("'scan.bounded.mode' = 'latest-offset'", [*range(5), *range(10, 15)]),
        (
            "'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '1003'",
            [0, 1, 2],
        ),
        (
            (
                "'scan.bounded.mode' = 'specific-offsets',"
                " 'scan.bounded.specific-offsets' = 'partition:1,offset:2'"
            ),
            [0, 10, 11],  # partition 0 ends at the group's offset
        ),
        ("'scan.bounded.mode' = 'group-offsets'", [0, 10, 11, 12]),
    ],
    ids=["latest", "timestamp", "specific", "group"],
)
def test_a_bounded_scan_ends_the_job(
    bound: str, expected: list[int], broker: Broker, topic: Topics, job: Job
) -> None:
    keep = {"retention.ms": "-1"}  # the times of the records are old
    source, group = topic("s", partitions=2, config=keep), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(5), partition=0, timestamp=1_000)
    send(broker, source, range(10, 15), partition=1, timestamp=1_000)
    commit(broker, group, source, {0: 1, 1: 3})
    options = f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}', {bound}"
    script = SCRIPT.replace("${source}", options)
    run = BoundedRun(
        job.spark, script, job.folder, {"out": job.out, "servers": broker.bootstrap_servers}
    )
    # The run is not bounded: the end of the scan ends the job.
    run(bounded=False)
    assert job.ids() == expected


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (
            "'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '1003'",
            "'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '1005'",
        ),
        (
            (
                "'scan.bounded.mode' = 'specific-offsets',"
                " 'scan.bounded.specific-offsets' = 'partition:0,offset:3'"
            ),
            "'scan.bounded.mode' = 'latest-offset'",
        ),
    ],
    ids=["timestamp", "specific"],
)
def test_a_later_run_continues_from_the_bound(
    first: str, then: str, broker: Broker, topic: Topics, job: Job
) -> None:
    keep = {"retention.ms": "-1"}  # the times of the records are old
    source, group = topic("s", partitions=2, config=keep), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(6), partition=0, timestamp=1_000)
    send(broker, source, range(10, 12), partition=1, timestamp=900)
    if "specific" in first:
        commit(broker, group, source, {1: 2})
    delete_before(broker, source, 1)
    options = f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}'"
    job.run(f"{options}, {first}")
    assert job.ids() == [1, 2, 10, 11]
    assert committed(broker, group, source, 2) == [3, 2]
    job.run(f"{options}, {then}")
    assert job.ids() == [1, 2, 3, 4, *([] if "timestamp" in first else [5]), 10, 11]


@pytest.mark.parametrize(
    "bound",
    [
        "'scan.bounded.mode' = 'group-offsets'",
        (
            "'scan.bounded.mode' = 'specific-offsets',"
            " 'scan.bounded.specific-offsets' = 'partition:1,offset:1'"
        ),
    ],
    ids=["group", "specific"],
)
def test_an_end_at_group_offsets_is_kept_as_the_group_advances(
    bound: str, broker: Broker, topic: Topics, job: Job
) -> None:
    """The checkpoint keeps the end, as in Flink; other options of the bound replace the end."""
    source, group = topic("s", partitions=2), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(3), partition=0)
    send(broker, source, range(10, 12), partition=1)
    commit(broker, group, source, {0: 6, 1: 1})
    options = f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}'"
    job.run(f"{options}, {bound}")
    assert job.ids() == [0, 1, 2, 10]
    assert committed(broker, group, source, 2) == [3, 1]
    send(broker, source, range(3, 9), partition=0)
    job.run(f"{options}, {bound}")
    assert job.ids() == [0, 1, 2, 3, 4, 5, 10]
    commit(broker, group, source, {0: 7})
    job.run(f"{options}, 'scan.bounded.mode' = 'latest-offset'")
    assert job.ids() == [*range(9), 10, 11]


def test_a_job_waits_for_an_end_beyond_the_topic(broker: Broker, topic: Topics, job: Job) -> None:
    """As in Flink, a job waits for an end that the topic has not reached.

    A bounded run does not wait, and a later run continues.
    """
    source = topic("s", partitions=2)
    send(broker, source, range(3))
    bound = "'scan.bounded.specific-offsets' = 'partition:0,offset:7;partition:1,offset:1'"
    options = f"'topic' = '{source}', {EARLIEST}, 'scan.bounded.mode' = 'specific-offsets', {bound}"
    job.run(options)
    assert job.ids() == [0, 1, 2]
    waiting = job.start(options)
    try:
        send(broker, source, range(3, 6))
        send(broker, source, range(10, 12), partition=1)
        deadline = time.monotonic() + PATIENCE_S
        while job.ids() != [0, 1, 2, 3, 4, 5, 10]:
            assert time.monotonic() < deadline
            assert waiting.running
        send(broker, source, range(6, 9))
        assert waiting.wait(PATIENCE_S)
    finally:
        waiting.stop()
        waiting.wait(60)
    assert job.ids() == [0, 1, 2, 3, 4, 5, 6, 10]


def test_a_job_that_waited_for_an_end_repeats_no_batch(
    broker: Broker, topic: Topics, job: Job
) -> None:
    """The end is there long before the last of many batches has read it."""
    source = topic("s")
    send(broker, source, range(3))
    bound = "'scan.bounded.specific-offsets' = 'partition:0,offset:40'"
    run = job.start(
        f"'topic' = '{source}', {EARLIEST}, 'scan.bounded.mode' = 'specific-offsets', {bound}",
        **{MAX_BATCH_RECORDS.key: "1"},
    )
    try:
        deadline = time.monotonic() + PATIENCE_S
        while job.ids() != [0, 1, 2]:
            assert time.monotonic() < deadline
        send(broker, source, range(3, 40))
        assert run.wait(PATIENCE_S)
    finally:
        run.stop()
        run.wait(60)
    assert job.ids() == [*range(40)]


@pytest.mark.parametrize(
    ("bound", "last"),
    [
        ("'specific-offsets', 'scan.bounded.specific-offsets' = 'partition:0,offset:5'", 4),
        ("'group-offsets'", 4),
        ("'timestamp', 'scan.bounded.timestamp-millis' = '1005'", 4),
        ("'latest-offset'", 2),
    ],
    ids=["specific", "group", "timestamp", "latest"],
)
def test_a_job_waits_for_an_end_in_an_open_transaction(
    bound: str, last: int, broker: Broker, topic: Topics, job: Job
) -> None:
    """As in Flink, a job waits for an end inside an open transaction.

    With `latest-offset` the job does not wait: a committed read can only reach the offset before
    the transaction.
    """
    source = topic("s", config={"retention.ms": "-1"})  # the times of the records are old
    group = f"g-{source}"
    commit(broker, group, source, {0: 5})
    send(broker, source, range(3), timestamp=1_000)
    producer = open_transaction(broker, source, range(3, 8), timestamp=1_000)
    options = (
        f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}',"
        f" 'properties.isolation.level' = 'read_committed', 'scan.bounded.mode' = {bound}"
    )
    run = job.start(options)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while job.ids() != [0, 1, 2]:
            assert time.monotonic() < deadline
        assert run.wait(5) == (last == 2)
        producer.commit_transaction(30)
        assert run.wait(PATIENCE_S)
    finally:
        run.stop()
        run.wait(60)
    assert job.ids() == [*range(last + 1)]


def _ending_in_a_transaction(broker: Broker, topic: Topics) -> tuple[str, Producer]:
    """Return a table of five rows, three of them committed, and the producer of the other rows."""
    source = topic("s", config={"retention.ms": "-1"})  # the times of the records are old
    send(broker, source, range(3), timestamp=1_000)
    producer = open_transaction(broker, source, range(3, 8), timestamp=1_000)
    options = (
        f"'topic' = '{source}', {EARLIEST}, 'properties.isolation.level' = 'read_committed',"
        " 'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '1005'"
    )
    table = SCRIPT.partition("CREATE TABLE o")[0].replace("${source}", options)
    return table.replace("${servers}", broker.bootstrap_servers), producer


def test_a_select_waits_for_an_end_in_an_open_transaction(
    spark: SparkSession, broker: Broker, topic: Topics
) -> None:
    table, producer = _ending_in_a_transaction(broker, topic)
    with streamtable.connect(spark) as session:
        session.execute_sql(table)
        rows = session.sql_query("SELECT id FROM t").execute().collect()
        assert [next(rows) for _ in range(3)] == [(0,), (1,), (2,)]
        time.sleep(3)
        producer.commit_transaction(30)
        assert list(rows) == [(3,), (4,)]


def test_a_select_that_waits_keeps_its_state(
    spark: SparkSession, broker: Broker, topic: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receiver is still busy with a batch when the ends of the scans are available."""
    take = _Feed.take

    def slowly(feed: _Feed, batch: DataFrame, number: int) -> None:
        take(feed, batch, number)
        time.sleep(5)

    monkeypatch.setattr(_Feed, "take", slowly)
    table, producer = _ending_in_a_transaction(broker, topic)
    with streamtable.connect(spark) as session:
        session.execute_sql(table)
        rows = session.sql_query("SELECT COUNT(*) FROM t").execute().collect()
        assert next(rows) == (3,)
        producer.commit_transaction(30)
        assert list(rows)[-1] == (5,)


def test_a_pattern_that_matches_the_dead_letter_topic_is_refused(topic: Topics, job: Job) -> None:
    source = topic("s")
    letters = f"{source}-dead"
    options = f"'topic-pattern' = '{source}(\\p{{Punct}}dead)?', {EARLIEST}"
    with pytest.raises(StreamtableError, match=f"t reads '{letters}', which"):
        job.run(f"{options}, 'scan.dead-letter.topic' = '{letters}'")


def test_invalid_bounds_are_refused(broker: Broker, topic: Topics, job: Job) -> None:
    source = topic("s")
    send(broker, source, range(3))
    base = f"'topic' = '{source}', {EARLIEST}, 'scan.bounded.mode' = "
    with pytest.raises(StreamtableError, match=r"in partition 2 of .*, but there is no such"):
        job.run(
            f"{base} 'specific-offsets', 'scan.bounded.specific-offsets' = 'partition:2,offset:1'"
        )
    with pytest.raises(StreamtableError, match="has no committed offset for partition 0"):
        job.run(f"{base} 'group-offsets', 'properties.group.id' = 'g-{uuid.uuid4().hex}'")


def test_invalid_startup_offsets_are_refused(broker: Broker, topic: Topics, job: Job) -> None:
    source, group = topic("s"), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(3))
    commit(broker, group, source, {0: 4})
    base = f"'topic' = '{source}', 'scan.startup.mode' = "
    with pytest.raises(
        StreamtableError, match=r"starts in partition 2 of .*, but there is no such"
    ):
        job.run(
            f"{base} 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:2,offset:1'"
        )
    none = f"{base} 'group-offsets', 'properties.auto.offset.reset' = 'none'"
    with pytest.raises(StreamtableError, match="there is no committed offset for partition 0"):
        job.run(f"{none}, 'properties.group.id' = '{group}-new'")
    with pytest.raises(StreamtableError, match="4 is the committed offset for partition 0"):
        job.run(f"{none}, 'properties.group.id' = '{group}'")


def test_a_start_after_a_run_without_a_batch_is_checked_again(
    broker: Broker, topic: Topics, job: Job
) -> None:
    source, group = topic("s"), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(3))
    commit(broker, group, source, {0: 1})
    options = f"'topic' = '{source}', 'scan.startup.mode' = 'group-offsets'"
    options += f", 'properties.auto.offset.reset' = 'none', 'properties.group.id' = '{group}'"
    stopped = job.start(options)
    stopped.stop()
    stopped.wait()
    assert (job.folder / MANIFEST).exists()
    commit(broker, group, source, {0: 4})
    with pytest.raises(StreamtableError, match="4 is the committed offset for partition 0"):
        job.run(options)
    commit(broker, group, source, {0: 2})
    job.run(options)
    assert job.ids() == [2]
    commit(broker, group, source, {0: 4})
    job.run(options)


def test_progress_is_committed_to_the_group(broker: Broker, topic: Topics, job: Job) -> None:
    source, group = topic("s", partitions=2), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(3), partition=0)
    send(broker, source, range(3, 7), partition=1)
    options = f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}'"
    job.run(options)
    assert committed(broker, group, source, 2) == [3, 4]
    send(broker, source, range(7, 8), partition=0)
    job.run(options)
    assert committed(broker, group, source, 2) == [4, 4]
    # Another job continues at the offsets of the group.
    again = Job(job.spark, broker, topic("out"), job.folder.with_name("d"))
    send(broker, source, range(8, 9), partition=1)
    again.run(f"'topic' = '{source}', 'properties.group.id' = '{group}'")
    assert again.ids() == [8]


def test_flink_options_among_the_kafka_properties(broker: Broker, topic: Topics, job: Job) -> None:
    source, group, prefix = topic("s"), f"g-{uuid.uuid4().hex[:6]}", f"c-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(3))
    options = f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}'"
    options += ", 'properties.commit.offsets.on.checkpoint' = 'false'"
    job.run(f"{options}, 'properties.client.id.prefix' = '{prefix}'")
    assert job.ids() == [0, 1, 2]
    assert committed(broker, group, source) == [OFFSET_INVALID]
    assert f"kafka.consumer:id={prefix},type=app-info" in clients(job.spark)


def test_the_slowest_query_sets_the_offsets_of_the_group(
    broker: Broker, topic: Topics, job: Job
) -> None:
    """The second INSERT of the job has its own query, whose scan ends earlier."""
    source, group = topic("s", partitions=2), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(5), partition=0)
    send(broker, source, range(5, 8), partition=1)
    options = f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}'"
    bound = "'scan.bounded.mode' = 'specific-offsets', 'scan.bounded.specific-offsets' ="
    bound += " 'partition:0,offset:2;partition:1,offset:3'"
    script = f"""{SCRIPT.replace("${source}", options)}
    CREATE TABLE p WITH ('topic' = '{topic("out")}') LIKE o (OVERWRITING OPTIONS);
    INSERT INTO p SELECT * FROM t /*+ OPTIONS({bound}) */;"""
    names = {"out": job.out, "servers": broker.bootstrap_servers}
    BoundedRun(job.spark, script, job.folder, names)()
    assert job.ids() == [*range(8)]
    assert committed(broker, group, source, 2) == [2, 3]


def test_a_restart_commits_although_a_query_has_no_new_records(
    broker: Broker, topic: Topics, job: Job
) -> None:
    """Spark reports the offsets of a query at its first trigger, even without a batch."""
    source, group = topic("s"), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(5))
    options = f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}'"
    job.run(options)
    commit(broker, group, source, {0: 1})
    script = f"""{SCRIPT.replace("${source}", options)}
    CREATE TABLE p WITH ('topic' = '{topic("out")}') LIKE o (OVERWRITING OPTIONS);
    INSERT INTO p SELECT * FROM t;"""
    names = {"out": job.out, "servers": broker.bootstrap_servers}
    run = BoundedRun(job.spark, script, job.folder, names)
    settings = {"execution.mode": "micro-batch"}
    run.until(lambda: committed(broker, group, source) == [5], settings, seconds=60)


def test_a_group_with_members_is_reported_and_not_updated(
    broker: Broker, topic: Topics, job: Job
) -> None:
    source, group = topic("s"), f"g-{uuid.uuid4().hex[:6]}"
    send(broker, source, range(3))
    member = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group})
    member.subscribe([source])
    deadline = time.monotonic() + PATIENCE_S
    while not member.assignment():
        member.poll(0.2)
        assert time.monotonic() < deadline
    job.run(f"'topic' = '{source}', {EARLIEST}, 'properties.group.id' = '{group}'")
    member.close()
    assert job.ids() == [0, 1, 2]
    told = [line for line in job.notices if "were not updated" in line]
    assert len(told) == 1
    assert "UnknownMemberId" in told[0]


def test_leader_epoch(broker: Broker, topic: Topics, job: Job) -> None:
    source = topic("s", partitions=2)
    send(broker, source, range(5), partition=0)
    send(broker, source, range(5, 8), partition=1)
    job.run(f"'topic' = '{source}', {EARLIEST}, 'scan.parallelism' = '1'")
    assert [(r["id"], r["epoch"]) for r in job.rows()] == [(i, 0) for i in range(8)]


@pytest.mark.parametrize("mode", ["bounded", "real-time"])
def test_aborted_transactions_and_markers(
    mode: str, broker: Broker, topic: Topics, job: Job
) -> None:
    source = topic("s")
    for ids, commits in ((range(3), True), (range(10, 13), False), (range(3, 5), True)):
        producer = Producer(
            {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": f"x-{source}"}
        )
        producer.init_transactions(30)
        producer.begin_transaction()
        for i in ids:
            producer.produce(source, f'{{"id":{i}}}')
        producer.flush(30)
        if commits:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)
    options = f"'topic' = '{source}', {EARLIEST}"
    committed = f"{options}, 'properties.isolation.level' = 'read_committed'"
    job.run_in(mode, committed, {*range(5)})
    assert job.ids_once(mode) == [0, 1, 2, 3, 4]
    everything = Job(job.spark, broker, topic("out"), job.folder.with_name("d"))
    everything.run_in(mode, options, {*range(5), 10, 11, 12})
    assert everything.ids_once(mode) == [0, 1, 2, 3, 4, 10, 11, 12]


def delete_before(broker: Broker, topic: str, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for done in admin.delete_records([TopicPartition(topic, 0, offset)]).values():
        done.result(30)


@pytest.mark.parametrize("mode", ["bounded", "micro-batch", "real-time"])
def test_unread_records_that_were_deleted(
    mode: str, broker: Broker, topic: Topics, job: Job
) -> None:
    source = topic("s")
    send(broker, source, range(3))
    options = f"'topic' = '{source}', {EARLIEST}"
    job.run_in(mode, options, {0, 1, 2})
    send(broker, source, range(3, 9))
    delete_before(broker, source, 6)
    with pytest.raises(StreamtableError) as stopped:
        job.run_in(mode, options, {8})
    assert stopped.value.condition is Condition.DATA_LOST
    assert "new --checkpoint directory" in str(stopped.value)
    assert "scan.fail-on-data-loss" in str(stopped.value)
    job.run_in(mode, f"{options}, 'scan.fail-on-data-loss' = 'false'", {8})
    assert job.ids_once(mode) == [0, 1, 2, 6, 7, 8]


def test_a_topic_deleted_and_created_again(broker: Broker, topic: Topics, job: Job) -> None:
    source = topic("s")
    send(broker, source, range(3))
    options = f"'topic' = '{source}', {EARLIEST}"
    job.run(options)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.delete_topics([source])[source].result(30)
    _create_again(admin, source)
    send(broker, source, range(20, 26))  # more than before: the offsets look valid
    with pytest.raises(StreamtableError) as stopped:
        job.run(options)
    assert stopped.value.condition is Condition.DATA_LOST
    assert f"topic '{source}' was deleted and created again" in str(stopped.value)
    job.run(f"{options}, 'scan.fail-on-data-loss' = 'false'")
    assert any("deleted and created again" in line for line in job.notices)
    assert job.ids() == [0, 1, 2, 23, 24, 25]


def _create_again(admin: AdminClient, name: str) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import NewTopic

    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            admin.create_topics([NewTopic(name, 1)])[name].result(30)
        except KafkaException:  # the deletion is still under way
            assert time.monotonic() < deadline
            time.sleep(0.2)
        else:
            return


def test_new_partitions_are_read_from_their_beginning(
    broker: Broker, topic: Topics, job: Job
) -> None:
    source = topic("s")
    options = f"'topic' = '{source}', {EARLIEST}"
    send(broker, source, range(2))
    job.run(options)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_partitions([NewPartitions(source, 2)])[source].result(30)
    deadline = time.monotonic() + PATIENCE_S
    while len(admin.list_topics(source, timeout=10).topics[source].partitions) < 2:
        assert time.monotonic() < deadline
    send(broker, source, range(2, 4), partition=1)
    job.run(options)
    assert job.ids() == [0, 1, 2, 3]


def test_an_invalid_topic_pattern_is_refused(job: Job) -> None:
    with pytest.raises(StreamtableError, match=re.escape("'x(' is no Java pattern")):
        job.run(f"'topic-pattern' = 'x(', {EARLIEST}")
