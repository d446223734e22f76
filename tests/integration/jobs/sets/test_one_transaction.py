"""Exactly-once sets: a task's writes to several topics become visible together, or not at all."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.batches import newest
from tests.integration.jobs.committed import open_partitions
from tests.integration.jobs.sets.support import (
    DOUBLED,
    EVEN,
    LATE,
    SINKS,
    expected,
    forget_last_commit,
    rows,
    script,
    values_in,
)
from tests.integration.jobs.support import Cli, run, write

from streamtable.core.errors import StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _found(servers: str, source: str) -> dict[str, Counter[bytes]]:
    return {sink: values_in(servers, source, sink) for sink in SINKS}


def test_a_repeated_batch_writes_nothing_again(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A repeated batch writes nothing again, even after the removal of an INSERT.

    The topic and prefix of this INSERT name the transactions.
    """
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    names = {"source": source, "servers": servers}
    produce_json(servers, source, rows(0, 30))
    BoundedRun(spark, script(exactly_once=True), tmp_path / "c", names)()
    forget_last_commit(tmp_path / "c" / "statement-set")
    less = BoundedRun(spark, script(DOUBLED, LATE, exactly_once=True), tmp_path / "c", names)
    less()
    assert _found(servers, source) == expected(30)
    produce_json(servers, source, rows(30, 50))
    less()
    forget_last_commit(tmp_path / "c" / "statement-set")
    less()
    assert _found(servers, source) == {**expected(50), "even": expected(30)["even"]}


def test_a_refused_record_aborts_the_writes_of_all_sinks(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set")
    admin = AdminClient({"bootstrap.servers": servers})
    small = NewTopic(f"{source}-late", 1, 1, config={"max.message.bytes": "1000"})
    admin.create_topics([small])[small.topic].result(30)
    big = {"id": 30, "v": "v30", "w": "x" * 3_000}
    produce_json(servers, source, [*rows(0, 30), big])
    names = {"source": source, "servers": servers}
    # One record per request, so that the broker accepts the records before the big one.
    text = script(exactly_once=True, more=", 'properties.batch.size' = '1'")
    with pytest.raises(StreamtableError, match=f"topic '{source}-late': RecordTooLarge"):
        BoundedRun(spark, text, tmp_path / "c", names)()
    assert not any(_found(servers, source).values())
    BoundedRun(spark, text.replace(LATE, f"{LATE[:-2]} AND id < 30;\n"), tmp_path / "d", names)()
    found = expected(31)
    assert _found(servers, source) == {**found, "late": expected(30)["late"]}


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_random_moments(seed: int, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    source, kills, count = topic("set", partitions=2), 4, 12_000
    dice, servers = random.Random(seed), broker.bootstrap_servers
    # Both INSERTs write each record, so both topics have the same ids at any moment.
    both = EVEN.replace(" WHERE id % 2 = 0", ""), DOUBLED
    arguments = ["run", write(tmp_path / "job.sql", script(*both, exactly_once=True))]
    arguments += ["--checkpoint", str(tmp_path / "c"), "--master", "local[2]"]
    arguments += ["--var", f"source={source}", "--var", f"servers={servers}"]
    feeding = threading.Thread(target=produce_json, args=(servers, source, rows(0, count)))
    feeding.start()
    query = tmp_path / "c" / "statement-set"
    for _ in range(kills):
        before = newest(query)
        job = Cli.start(*arguments, "--set", "execution.micro-batch.max-records=40")
        job.until(lambda before=before: newest(query) >= before + 4, pause=0.05)
        time.sleep(dice.random())
        job.kill()
        _same_ids(servers, source)
    feeding.join()
    code, _, err = run(*arguments, "--bounded", "--set", "execution.micro-batch.max-records=100000")
    assert code == 0, err
    assert Counter(_ids(servers, f"{source}-even")) == Counter(range(count))
    assert Counter(_ids(servers, f"{source}-doubled")) == Counter(range(count))


def _same_ids(servers: str, source: str) -> None:
    """Wait until a reader of committed records sees the same ids in both topics.

    After a broker has decided a commit, it writes the markers into one partition after the other.
    """
    deadline = time.monotonic() + 10
    while True:
        found = [Counter(_ids(servers, f"{source}-{sink}")) for sink in ("even", "doubled")]
        if found[0] == found[1]:
            assert found[0]
            return
        assert time.monotonic() < deadline, found[0] - found[1] or found[1] - found[0]
        time.sleep(0.2)


def _ids(servers: str, topic: str) -> list[int]:
    return [json.loads(record.value())["id"] for record in records(servers, topic)]


@pytest.mark.soak
def test_open_transactions_of_a_set_are_aborted_at_start(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set")
    names = {"source": source, "servers": servers}
    job = BoundedRun(spark, script(exactly_once=True), tmp_path / "c", names)
    produce_json(servers, source, rows(0, 5))
    job()
    id_ = f"{source}-of-even-statement-set-7"
    held = Producer({"bootstrap.servers": servers, "transactional.id": id_})
    held.init_transactions(30)
    held.begin_transaction()
    held.produce(f"{source}-doubled", '{"id": -1}')
    held.flush(30)
    produce_json(servers, source, rows(5, 12))
    job()
    assert open_partitions(servers, f"{source}-doubled") == []
    assert _found(servers, source) == expected(12)
    del held
