"""Sink options: partitions, tasks, created topics, dropped NULLs, buffers, settings per INSERT."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.histories import Change
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_changes, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (id INT, k STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (
  id INT NOT NULL, k STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  h MAP<STRING, BYTES> METADATA FROM 'headers'
) WITH (
  'connector' = 'kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  ${keys} ${more}
);
INSERT INTO o SELECT id, k, ts, MAP['id', CAST(k AS BYTES)] FROM t;
"""
NO_KEY = "'format' = 'json'"
KEY = "'key.format' = 'raw', 'key.fields' = 'k', 'value.format' = 'json'"


def last_digit(key: bytes | None, value: bytes | None, partitions: int) -> int:
    """Choose the partition by the last digit of the id in the value."""
    assert key is None
    assert value is not None
    return int(json.loads(value)["id"]) % 10 % partitions


def nowhere(key: bytes | None, value: bytes | None, partitions: int) -> int:
    """Return a partition that does not exist."""
    del key, value
    return partitions


class Job:
    def __init__(
        self, spark: SparkSession, broker: Broker, source: str, out: str, folder: Path
    ) -> None:
        self.broker, self.out = broker, out
        self.names = {"source": source, "out": out, "servers": broker.bootstrap_servers}
        self.spark, self.folder = spark, folder
        self.notices: list[str] = []

    def run(self, more: str = "", keys: str = NO_KEY, settings: Any = None) -> None:
        script = SCRIPT.replace("${keys}", keys).replace("${more}", more)
        BoundedRun(self.spark, script, self.folder, self.names, notices=self.notices)(settings)

    def partitions(self) -> dict[int, list[int]]:
        """Return the ids in each partition."""
        found = defaultdict(list)
        for record in records(self.broker.bootstrap_servers, self.out):
            found[record.partition()].append(json.loads(record.value())["id"])
        return dict(found)


@pytest.fixture
def job(spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path) -> Job:
    source = topic("in", partitions=2)
    rows = [(f"k{i}".encode(), f'{{"id":{i},"k":"k{i}"}}'.encode()) for i in range(40)]
    produce(broker.bootstrap_servers, source, rows)
    return Job(spark, broker, source, topic("out", partitions=4), tmp_path / "c")


def test_fixed_gives_each_task_one_partition(job: Job) -> None:
    job.run(", 'sink.partitioner' = 'fixed'")
    found = job.partitions()
    assert set(found) == {0, 1}  # two tasks, one for each partition of the source
    assert sorted(i for ids in found.values() for i in ids) == list(range(40))


def test_round_robin_writes_to_all_partitions(job: Job) -> None:
    job.run(", 'sink.partitioner' = 'round-robin', 'sink.parallelism' = '1'")
    assert {p: len(ids) for p, ids in job.partitions().items()} == dict.fromkeys(range(4), 10)


def test_a_python_function_as_partitioner(job: Job) -> None:
    job.run(f", 'sink.partitioner' = '{__name__}:last_digit'")
    assert {p: sorted(ids) for p, ids in job.partitions().items()} == {
        p: [i for i in range(40) if i % 10 % 4 == p] for p in range(4)
    }


def test_a_java_class_as_partitioner(job: Job) -> None:
    job.run(
        ", 'sink.partitioner' = 'org.apache.kafka.clients.producer.RoundRobinPartitioner',"
        " 'properties.batch.size' = '1'"
    )
    assert set(job.partitions()) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("partitioner", "told"),
    [
        ("com.example.Missing", "or a class that 'spark.jars' holds"),
        (f"{__name__}:missing", "a function that can be imported"),
    ],
)
def test_a_missing_partitioner_is_refused(partitioner: str, told: str, job: Job) -> None:
    with pytest.raises(StreamtableError) as refused:
        job.run(f", 'sink.partitioner' = '{partitioner}'")
    assert refused.value.condition is Condition.INVALID_OPTION
    assert told in str(refused.value)


def test_an_unknown_partition_ends_the_job(job: Job) -> None:
    with pytest.raises(StreamtableError, match="returned 4, but the partitions are 0 to 3"):
        job.run(f", 'sink.partitioner' = '{__name__}:nowhere'")


def test_the_default_partitioner_hashes_keys_as_java_does(
    job: Job, broker: Broker, topic: Topics
) -> None:
    job.run(keys=KEY)
    expected = topic("expected", partitions=4)
    produce(broker.bootstrap_servers, expected, [(f"k{i}".encode(), b"") for i in range(40)])
    by_key = {r.key(): r.partition() for r in records(broker.bootstrap_servers, expected)}
    found = list(records(broker.bootstrap_servers, job.out))
    assert {r.key(): r.partition() for r in found} == by_key
    times = {
        r.key(): r.timestamp()[1] for r in records(broker.bootstrap_servers, job.names["source"])
    }
    assert {r.key(): r.timestamp()[1] for r in found} == times
    assert all(r.headers() == [("id", r.key())] for r in found)


def test_compression_and_other_producer_settings(job: Job) -> None:
    job.run(", 'properties.compression.type' = 'zstd', 'properties.linger.ms' = '0'")
    assert sum(map(len, job.partitions().values())) == 40
    with pytest.raises(StreamtableError, match=r"compression\.type"):
        Job(job.spark, job.broker, job.names["source"], job.out, job.folder.with_name("d")).run(
            ", 'properties.compression.type' = 'best'"
        )


def test_a_topic_is_created_with_the_options_of_its_table(job: Job, broker: Broker) -> None:
    job.names["out"] = job.out = f"{job.out}-new"
    shape = (
        ", 'sink.topic.partitions' = '3', 'sink.topic.replication-factor' = '1',"
        " 'sink.topic.config.retention.ms' = '3600000'"
    )
    job.run(shape)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert len(admin.list_topics(job.out, timeout=30).topics[job.out].partitions) == 3
    resource = ConfigResource(ConfigResource.Type.TOPIC, job.out)
    config = admin.describe_configs([resource])[resource].result(30)
    assert config["retention.ms"].value == "3600000"
    other = Job(job.spark, broker, job.names["source"], job.out, job.folder.with_name("d"))
    other.run(", 'sink.topic.partitions' = '5'")
    assert any("already has 3 partitions" in line for line in other.notices)


def test_one_task_keeps_the_order_of_each_partition(job: Job, broker: Broker) -> None:
    job.run(", 'sink.parallelism' = '1', 'sink.partitioner' = 'fixed'")
    ids = job.partitions()[0]
    read = defaultdict(list)
    for record in records(broker.bootstrap_servers, job.names["source"]):
        read[record.partition()].append(json.loads(record.value())["id"])
    assert [ids.index(i) for i in read[0]] == sorted(ids.index(i) for i in read[0])
    assert Counter(ids) == Counter(range(40))


def test_dropped_nulls_are_counted(job: Job, broker: Broker) -> None:
    produce(broker.bootstrap_servers, job.names["source"], [(None, b"{}"), (None, b'{"id":null}')])
    job.run(settings={"table.exec.sink.not-null-enforcer": "DROP"})
    assert sum(map(len, job.partitions().values())) == 40
    dropped = "o: 2 records dropped, because they have NULL in a NOT NULL column"
    assert dropped in job.notices


UPSERT = """
CREATE TABLE t (k INT, g INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}', ${servers},
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (g INT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out', ${servers},
  'key.format' = 'json', 'value.format' = 'json', 'sink.parallelism' = '1',
  'sink.topic.partitions' = '2'
);
INSERT INTO o SELECT g, COUNT(*) FROM t GROUP BY g;
""".replace("${servers}", "'properties.bootstrap.servers' = '${servers}'")


def test_fewer_sink_tasks_than_state_partitions(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, UPSERT, tmp_path / "c", names)
    for start in (0, 20):
        rows = (
            (f'{{"k":{k}}}'.encode(), f'{{"k":{k},"g":{k % 7}}}'.encode())
            for k in range(start, start + 20)
        )
        produce(broker.bootstrap_servers, source, rows)
        job()
    assert {r["g"]: r["n"] for r in job.rows("o").values()} == Counter(k % 7 for k in range(40))


CHANGES = """
CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'${more}
);
INSERT INTO o SELECT k, v FROM t;
"""
BUFFER = ", 'sink.buffer-flush.max-rows' = '1000', 'sink.buffer-flush.interval' = '60 s'"


@pytest.mark.parametrize(("more", "written"), [("", 31), (BUFFER, 3)], ids=["none", "buffer"])
def test_the_buffer_keeps_the_last_row_of_a_key(
    more: str, written: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, out = topic("in"), topic("out", config={"cleanup.policy": "compact"})
    names = {"source": source, "out": out, "servers": broker.bootstrap_servers}
    changes = [Change(i % 3, {"v": i}) for i in range(30)]
    produce_changes(broker.bootstrap_servers, source, "k", [*changes, Change(2, None)])
    BoundedRun(spark, CHANGES.replace("${more}", more), tmp_path / "c", names)()
    found = [(r.key(), r.value()) for r in records(broker.bootstrap_servers, out)]
    assert len(found) == written
    assert dict(found) == {
        b'{"k":0}': b'{"k":0,"v":27}',
        b'{"k":1}': b'{"k":1,"v":28}',
        b'{"k":2}': None,
    }


STATEMENTS = """
CREATE TABLE t (id INT, s VARCHAR(9)) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset', ${more}
);
CREATE TABLE a (id INT NOT NULL, s VARCHAR(2)) WITH (
  'connector' = 'kafka', 'topic' = '${a}', ${more});
CREATE TABLE b (id INT NOT NULL, s VARCHAR(2)) WITH (
  'connector' = 'kafka', 'topic' = '${b}', ${more});
SET 'table.exec.sink.not-null-enforcer' = 'DROP';
INSERT INTO a SELECT id, s FROM t;
SET 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD';
SET 'execution.micro-batch.max-records' = '1';
INSERT INTO b SELECT id, s FROM t;
RESET;
""".replace("${more}", "'properties.bootstrap.servers' = '${servers}', 'format' = 'json'")


def test_a_setting_applies_only_to_later_inserts(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    names = {name: topic(name) for name in ("source", "a", "b")}
    rows = [(None, b'{"s":"x"}'), (None, b'{"id":1,"s":"y"}'), (None, b'{"id":2,"s":"long"}')]
    produce(broker.bootstrap_servers, names["source"], rows)
    given = {**names, "servers": broker.bootstrap_servers}
    BoundedRun(spark, STATEMENTS, tmp_path / "c", given)()
    found = {
        name: [
            json.loads(record.value())["s"]
            for record in records(broker.bootstrap_servers, names[name])
        ]
        for name in ("a", "b")
    }
    assert found == {"a": ["y", "long"], "b": ["y", "lo"]}


BY_REGION = """
CREATE TABLE u (id INT, region STRING, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}', 'value.fields-include' = 'ALL', ${more}
);
CREATE TABLE o (region VARCHAR(2), name STRING NOT NULL, PRIMARY KEY (region) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}', ${more}
);
SET 'table.exec.sink.not-null-enforcer' = 'DROP';
SET 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD';
SET 'execution.micro-batch.max-records' = '${batch}';
INSERT INTO o SELECT region, name FROM u;
""".replace(
    "${more}",
    "'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'",
)
#: Case -> changes of the rows of a region, and the name that the sink then has for the region; None
#: for no row. A change is the number of a row, the end of the long name of its region, which the
#: sink cuts off, and the name of the row. A change without the end is a delete.
REGIONS: dict[str, tuple[list[tuple[int, str | None, str | None]], str | None]] = {
    "a row without a name": ([(1, "", "a"), (2, "", None)], "a"),
    "of two, the one with a name goes": ([(1, "", "a"), (2, "", None), (1, None, None)], None),
    "a name is taken away": ([(1, "", "a"), (1, "", None)], None),
    "a name is given": ([(1, "", None), (2, "", "b"), (1, "", "a")], "a"),
    "a row without a name goes": ([(1, "", None), (2, "", "b"), (1, None, None)], "b"),
    "keys of equal beginnings": ([(1, "-x", "a"), (2, "-y", "b"), (2, None, None)], "a"),
}


@pytest.mark.parametrize(("batch", "dropped"), [(1, 5), (100, 3)])
def test_constraints_are_enforced_before_the_upsert_materializer(
    batch: int, dropped: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, out = topic("in"), topic("out")
    names = {"source": source, "out": out, "servers": broker.bootstrap_servers, "batch": str(batch)}
    rows = [
        Change(region * 10 + row, None if end is None else {"region": f"R{region}{end}", "name": v})
        for region, (changes, _) in enumerate(REGIONS.values())
        for row, end, v in changes
    ]
    produce_changes(broker.bootstrap_servers, source, "id", rows)
    job = BoundedRun(spark, BY_REGION, tmp_path / "c", names)
    job()
    written = {row["region"]: row["name"] for row in job.rows("o").values()}
    found = {case: written.get(f"R{region}") for region, case in enumerate(REGIONS)}
    assert found == {case: name for case, (_, name) in REGIONS.items()}
    told = f"o: {dropped} records dropped, because they have NULL in a NOT NULL column"
    assert told in job.notices
