"""A changed INSERT of a shared query is rebuilt in a query of its own; other INSERTs continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from tests.integration.upgrade.support import Jobs, events

from streamtable.connectors.kafka.read import between
from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _set(column: str) -> str:
    return (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO copies SELECT id FROM t;"
        f" INSERT INTO sums SELECT id, g, {column} FROM t; END;"
    )


def _held(jobs: Jobs, transactional_id: str) -> Producer:
    """Write a record in an open transaction, then a committed record of another producer.

    Return the producer of the open transaction.
    """
    held = Producer({"bootstrap.servers": jobs.servers, "transactional.id": transactional_id})
    held.init_transactions()
    held.begin_transaction()
    key, value = b'{"g":3}', b'{"g":3,"n":77,"s":77}'
    held.produce(f"{jobs.source}-sums", b'{"g":0}', b'{"g":0,"n":88,"s":88}', partition=0)
    held.flush()
    other = Producer({"bootstrap.servers": jobs.servers})
    other.produce(f"{jobs.source}-sums", key, value, partition=0)
    other.flush()
    return held


def test_the_whole_topic_is_compared_after_a_kill(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An upgrade first aborts transactions that a killed run left open.

    Consumers see no records after the first record of an open transaction.
    """
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", "exactly-once")
    jobs.send(events(0, 8))
    jobs.run(_set("v"))
    _held(jobs, f"{jobs.source}-txn-statement-set-0")
    changed = "CASE WHEN id = 1 THEN 0 ELSE v END"
    said = jobs.upgrade(_set(changed))
    assert "sums: aborted 1 transactions that an earlier run left open" in said
    assert jobs.folded("sums") == {
        e["id"]: {"g": e["id"], "n": e["g"], "s": 0 if e["id"] == 1 else e["v"]}
        for e in events(0, 8)
    }
    # A transaction of another program is not aborted.
    held = _held(jobs, f"{jobs.source}-other")
    monkeypatch.setattr(between, "_STABLE_S", 1)
    with pytest.raises(StreamtableError, match="a transaction in partition 0 of topic") as refused:
        jobs.upgrade(_set("v"))
    assert refused.value.condition is Condition.MOMENT_LOST
    held.abort_transaction()
    jobs.upgrade(_set("v"))
    assert {row["s"] for row in jobs.folded("sums").values()} == {e["v"] for e in events(0, 8)}


@pytest.mark.soak
def test_a_changed_insert_leaves_its_query(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("upgrade", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", "exactly-once")
    jobs.send(events(0, 40))
    jobs.run(_set("v"))
    jobs.send(events(40, 60))
    jobs.upgrade(_set("v + 1"))
    assert jobs.folded("sums") == {
        e["id"]: {"g": e["id"], "n": e["g"], "s": e["v"] + 1} for e in events(0, 40)
    }
    with pytest.raises(StreamtableError, match="shared its query with other INSERTs") as refused:
        jobs.upgrade(_set("v"), rollback=True)
    assert refused.value.condition is Condition.CHECKPOINT_NOT_UPGRADED
    jobs.run(_set("v + 1"))
    assert {path.name for path in (tmp_path / "c").iterdir() if path.is_dir()} >= {
        "statement-set",
        "sums@2",
    }
    assert jobs.folded("sums") == {
        e["id"]: {"g": e["id"], "n": e["g"], "s": e["v"] + 1} for e in events(0, 60)
    }
    assert jobs.copied() == dict.fromkeys(range(60), 1)
