"""Exactly-once sinks: a reader of committed records sees each id once, whatever happens."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from tests.integration.jobs.committed import ids_in, once, open_partitions
from tests.integration.jobs.support import Cli, run, write

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.job import RunOptions
from streamtable.session import Session, fixed_settings
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (id BIGINT, v STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (id BIGINT, v STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json',
  'sink.delivery-guarantee' = '${guarantee}' ${more}
);
INSERT INTO o SELECT id, v FROM t;
"""
PREFIX = ", 'sink.transactional-id-prefix' = '${source}-txn'"

UPSERT = """
CREATE TABLE t (k INT, g INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (g INT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${source}-txn'
);
INSERT INTO o SELECT g, COUNT(*) FROM t GROUP BY g;
"""


def _script(guarantee: str = "exactly-once", more: str = "") -> str:
    ids = PREFIX if guarantee == "exactly-once" else ""
    return SCRIPT.replace("${guarantee}", guarantee).replace("${more}", ids + more)


def _rows(start: int, end: int) -> list[dict[str, Any]]:
    return [{"id": i, "v": f"v{i}"} for i in range(start, end)]


def _produce_to(broker: Broker, topic: str, partition: int, ids: Iterable[int]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for i in ids:
        producer.produce(topic, json.dumps({"id": i, "v": f"v{i}"}), partition=partition)
    producer.flush()


def _arguments(broker: Broker, source: str, folder: Path) -> list[str]:
    arguments = ["run", write(folder / "job.sql", _script())]
    arguments += ["--checkpoint", str(folder / "c"), "--master", "local[2]"]
    return [*arguments, "--var", f"source={source}", "--var", f"servers={broker.bootstrap_servers}"]


def _forget_last_commit(checkpoint: Path, query: str = "o") -> None:
    """Delete the last commit of a query, as a crash between Kafka's commit and Spark's does."""
    commits = checkpoint / query / "commits"
    last = max((p for p in commits.iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
    last.unlink()
    (commits / f".{last.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize(("guarantee", "times"), [("exactly-once", 1), ("at-least-once", 2)])
def test_a_crash_between_the_transaction_and_the_batch_commit(
    guarantee: str,
    times: int,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    source = topic("ids", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _script(guarantee), tmp_path / "c", names)
    produce_json(broker.bootstrap_servers, source, _rows(0, 100))
    job()
    produce_json(broker.bootstrap_servers, source, _rows(100, 150))
    job()
    _forget_last_commit(tmp_path / "c")
    job()  # repeat the batch that was not committed
    produce_json(broker.bootstrap_servers, source, _rows(150, 160))
    job()
    expected = once(160)
    expected.update(dict.fromkeys(range(100, 150), times - 1))
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == expected


def test_a_crash_before_an_insert_is_removed(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The transactional ids of a query do not depend on other queries of the script."""
    source = topic("ids", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    kept = _script()
    table = kept[kept.index("CREATE TABLE o") : kept.index("INSERT INTO o")]
    other = table.replace("TABLE o", "TABLE another").replace("-out'", "-another'")
    both = kept.replace("INSERT", f"{other}INSERT INTO another SELECT id, v FROM t;\nINSERT")
    apart = {"table.optimizer.reuse-source-enabled": "false"}
    produce_json(broker.bootstrap_servers, source, _rows(0, 100))
    BoundedRun(spark, both, tmp_path / "c", names)(apart)
    _forget_last_commit(tmp_path / "c")
    BoundedRun(spark, kept, tmp_path / "c", names)(apart)
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == once(100)


def test_a_restart_repeats_only_uncommitted_partitions(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The second run is a new process, which has nothing in memory."""
    source = topic("ids", partitions=3)
    for partition in range(3):
        _produce_to(broker, source, partition, range(partition * 50, partition * 50 + 50))
    names = {"source": source, "servers": broker.bootstrap_servers}
    BoundedRun(spark, _script(), tmp_path / "c", names)()
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == once(150)

    # Simulate a crash before the task of partition 1 committed: delete the mark of its transaction.
    _forget_last_commit(tmp_path / "c")
    id_ = f"{source}-txn-o-0.{source}.1"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.delete_consumer_groups([id_])[id_].result(30)
    assert run(*_arguments(broker, source, tmp_path), "--bounded")[0] == 0
    expected = once(150)
    expected.update(range(50, 100))
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == expected


def test_a_new_checkpoint_writes_all_records_again(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("ids")
    names = {"source": source, "servers": broker.bootstrap_servers}
    produce_json(broker.bootstrap_servers, source, _rows(0, 10))
    for folder in ("c", "d"):  # the epochs of c have the same numbers and must not count for d
        BoundedRun(spark, _script(), tmp_path / folder, names)()
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == Counter(dict.fromkeys(range(10), 2))


def test_batches_without_rows(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Batches without rows begin no transaction, and the batches around them keep their epochs."""
    source = topic("ids", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    script = _script().replace("FROM t;", "FROM t WHERE id >= 0;")
    job = BoundedRun(spark, script, tmp_path / "c", names)
    for ids in ((-5, -1), (0, 3), (-9, -6), (3, 5)):
        produce_json(broker.bootstrap_servers, source, _rows(*ids))
        job()
    _forget_last_commit(tmp_path / "c")
    job()
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == once(5)
    assert open_partitions(broker.bootstrap_servers, f"{source}-out") == []


def test_upsert_sink_with_state(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes")
    names = {"source": source, "servers": broker.bootstrap_servers}
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    job = BoundedRun(spark, UPSERT, tmp_path / "c", names)
    for k, g in ((1, 1), (2, 1), (3, 2)):
        producer.produce(source, f'{{"k":{k},"g":{g}}}', f'{{"k":{k}}}')
    producer.flush(30)
    job()
    producer.produce(source, '{"k":3,"g":1}', '{"k":3}')
    producer.flush(30)
    job()
    before = sum(1 for _ in records(broker.bootstrap_servers, f"{source}-out"))
    _forget_last_commit(tmp_path / "c")
    job()
    assert sum(1 for _ in records(broker.bootstrap_servers, f"{source}-out")) == before
    assert {row["g"]: row["n"] for row in job.rows("o").values()} == {1: 3}


def test_a_failed_batch_is_aborted_and_repeated(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("ids")
    names = {"source": source, "servers": broker.bootstrap_servers}
    produce_json(broker.bootstrap_servers, source, _rows(0, 20))
    big = {"id": 20, "v": "x" * 3_000}
    produce_json(broker.bootstrap_servers, source, [big])
    small = ", 'properties.max.request.size' = '2000', 'properties.batch.size' = '200'"
    with pytest.raises(StreamtableError) as failed:
        BoundedRun(spark, _script(more=small), tmp_path / "c", names)()
    assert f"topic '{source}-out': RecordTooLargeException" in str(failed.value)
    assert list(records(broker.bootstrap_servers, f"{source}-out")) == []
    BoundedRun(spark, _script(), tmp_path / "c", names)()
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == once(21)


def _orphan(broker: Broker, topic: str, id_: str) -> Producer:
    """Return a producer in the middle of a transaction."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": id_})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, '{"id": -1}')
    producer.flush(30)
    return producer


def test_open_transactions_of_earlier_runs_are_aborted_at_start(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("ids")
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _script(), tmp_path / "c", names)
    produce_json(broker.bootstrap_servers, source, _rows(0, 5))
    job()
    mine = _orphan(broker, f"{source}-out", f"{source}-txn-o-7")
    other = _orphan(broker, f"{source}-out", f"{source}-txn-o-more-7")
    produce_json(broker.bootstrap_servers, source, _rows(5, 10))
    job()
    assert "o: aborted 1 transactions that an earlier run left open" in job.notices
    with pytest.raises(Exception, match=r"(?i)fenced|invalid"):
        mine.commit_transaction(30)
    other.abort_transaction(30)  # the transaction of the other query was left open
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == once(10)


def test_txn_list_and_txn_abort(broker: Broker, topic: Topics) -> None:
    name = topic("hanging")
    held = _orphan(broker, name, f"{name}-txn-o-0")
    arguments = ["--prefix", f"{name}-txn", "--bootstrap-servers", broker.bootstrap_servers]
    code, out, err = run("txn", "list", *arguments)
    assert (code, err) == (0, "")
    id_, state, _, timeout, partitions = out.rstrip("\n").split("\t")
    assert (id_, state, partitions) == (f"{name}-txn-o-0", "Ongoing", f"{name}-0")
    assert timeout == "60000 ms"
    assert run("txn", "abort", *arguments) == (0, f"aborted {name}-txn-o-0\n", "")
    assert list(records(broker.bootstrap_servers, name)) == []
    del held


def test_a_transaction_timeout_above_the_broker_limit_is_refused(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("ids")
    names = {"source": source, "servers": broker.bootstrap_servers}
    long = ", 'properties.transaction.timeout.ms' = '900001'"
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, _script(more=long), tmp_path / "c", names)()
    assert refused.value.condition is Condition.INVALID_OPTION
    assert "has the value '900001', which is not at most 900000" in str(refused.value)


def test_exactly_once_is_refused_in_real_time_mode() -> None:
    session = Session(settings=fixed_settings({"execution.mode": "real-time"}))
    session.load(_script(), "job.sql", {"source": "s", "servers": "b:1"})
    with pytest.raises(StreamtableError) as refused:
        session.run(RunOptions(), print)
    assert refused.value.condition is Condition.OPTION_CONFLICT
    assert "the end of a batch is not known when the batch starts" in str(refused.value)


@pytest.mark.parametrize("seed", [5])
def test_killed_at_random_moments(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    _kill_and_count(seed, 1, 2_000, spark, broker, topic("ids", partitions=3), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_killed_often(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    _kill_and_count(seed, 6, 20_000, spark, broker, topic("ids", partitions=3), tmp_path)


def _kill_and_count(
    seed: int,
    kills: int,
    count: int,
    spark: SparkSession,
    broker: Broker,
    source: str,
    tmp_path: Path,
) -> None:
    dice = random.Random(seed)
    batch = "execution.micro-batch.max-records"
    arguments = _arguments(broker, source, tmp_path)
    feeding = threading.Thread(
        target=produce_json, args=(broker.bootstrap_servers, source, _rows(0, count))
    )
    feeding.start()
    commits = tmp_path / "c" / "o" / "commits"

    def newest() -> int:
        numbers = [int(p.name) for p in commits.glob("*") if p.name.isdigit()]
        return max(numbers, default=-1)

    for _ in range(kills):
        before = newest()
        job = Cli.start(*arguments, "--set", f"{batch}=40")
        job.until(lambda before=before: newest() >= before + 4, pause=0.05)
        time.sleep(dice.random())
        job.kill()
    feeding.join()
    names = {"source": source, "servers": broker.bootstrap_servers}
    BoundedRun(spark, _script(), tmp_path / "c", names)({batch: "100000"})
    assert ids_in(broker.bootstrap_servers, f"{source}-out") == once(count)
