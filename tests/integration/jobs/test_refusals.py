"""Errors of wrong scripts, clusters and records name cause, place and fix in one line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient
from tests.integration.jobs.support import PAGEVIEWS, page_views, run, write

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

UPSERT_SOURCE = """
CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json' ${more}
);
CREATE TABLE o (v INT, n BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT v, COUNT(*) FROM t GROUP BY v;
"""

WINDOWED = """
CREATE TABLE t (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'format' = 'json',
  'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE o (window_start TIMESTAMP(3), n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${out}', 'format' = 'json',
  'properties.bootstrap.servers' = '${servers}'
);
INSERT INTO o SELECT window_start, COUNT(*)
  FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end;
"""


def test_misspelled_option_is_reported_with_place_and_hint(tmp_path: Path) -> None:
    script = write(tmp_path / "job.sql", PAGEVIEWS.replace("'key.format'", "'key.fromat'"))
    code, out, err = run("run", script, "--var", "out=o", "--var", "source=s", "--var", "servers=b")
    assert (code, out) == (1, "")
    assert err == (
        f"error: {script}:11:3: UNKNOWN_OPTION: table pageviews_per_region sets 'key.fromat',"
        " which connector 'upsert-kafka' does not have. Hint: did you mean 'key.format'?\n"
        "   11 |   'key.fromat' = 'avro',\n"
        "      |   ^\n"
    )


def test_unreachable_broker_ends_in_bounded_time(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    names = {"out": "o", "source": "s", "servers": "127.0.0.1:1"}
    error = _refused(BoundedRun(spark, PAGEVIEWS, checkpoint, names))
    assert str(error).endswith(
        "BROKER_UNREACHABLE: Kafka at 127.0.0.1:1 did not respond: 127.0.0.1:1: Connection"
        " refused. Hint: check 'properties.bootstrap.servers', and whether the broker is running"
    )
    assert not (checkpoint / "streamtable.json").exists()


def _refused(run_: BoundedRun) -> StreamtableError:
    with pytest.raises(StreamtableError) as refused:
        run_()
    return refused.value


@pytest.mark.parametrize(
    ("script", "place"),
    [
        pytest.param(PAGEVIEWS, "test.sql:15:1", id="aggregate"),
        pytest.param(WINDOWED, "test.sql:2:1", id="windows"),
    ],
)
def test_missing_source_topic_creates_nothing(
    script: str, place: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
    from streamtable.jvm.bridge import Bridge

    name = topic("unused") + "-absent"
    names = {"source": name, "out": f"{name}-out", "servers": broker.bootstrap_servers}
    for _ in range(2):  # the first run leaves the checkpoint usable
        error = _refused(BoundedRun(spark, script, tmp_path / "c", names))
        assert error.condition is Condition.TOPIC_MISSING
        assert str(error.at) == place
    # The status says why the job failed.
    assert {file.name for file in (tmp_path / "c").iterdir()} == {"lock", "status.json"}
    admin = KafkaAdmin(Bridge(spark), {"bootstrap.servers": broker.bootstrap_servers})
    assert f"{name}-out" not in admin.topics()


@pytest.mark.parametrize("missing", ["out", "dead"])
def test_missing_topics_without_auto_create_are_refused(
    missing: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    name = topic("in")
    names = {"source": name, "out": f"{name}-out", "servers": broker.bootstrap_servers}
    option = " 'properties.allow.auto.create.topics' = 'false',"
    if missing == "dead":
        option += f" 'scan.dead-letter.topic' = '{name}-dead',"
    connector = "upsert-kafka" if missing == "out" else "kafka"
    at = f"'connector' = '{connector}',"
    assert PAGEVIEWS.count(at) == 1
    error = _refused(BoundedRun(spark, PAGEVIEWS.replace(at, at + option), tmp_path / "c", names))
    assert error.condition is Condition.TOPIC_MISSING
    assert f"topic '{name}-{missing}' of table" in str(error)
    assert "create it, or remove 'properties.allow.auto.create.topics'" in str(error)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert f"{name}-{missing}" not in admin.list_topics(timeout=30).topics


def test_broken_record_stops_the_job_with_its_position(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("pageviews")
    names = {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}
    produce_json(broker.bootstrap_servers, source, page_views(seed=1, count=3))
    produce(broker.bootstrap_servers, source, [(None, b'{"user_id": "seven"}')])
    error = _refused(BoundedRun(spark, PAGEVIEWS, tmp_path / "c", names))
    assert error.condition is Condition.RECORD_UNREADABLE
    assert f"topic '{source}' partition 0 offset 3: value is not valid json" in str(error)
    assert "user_id" in str(error)


def test_broken_records_are_skipped_and_counted_where_allowed(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes")
    names = {"source": source, "servers": broker.bootstrap_servers}
    names["more"] = ", 'value.json.ignore-parse-errors' = 'true'"
    script = UPSERT_SOURCE.replace("${more}", names.pop("more"))
    records = [(b'{"k":1}', b'{"k":1,"v":5}'), (b'{"k":2}', b'{"k":2,'), (b'{"k":3}', b'{"v":5}')]
    produce(broker.bootstrap_servers, source, records)
    job = BoundedRun(spark, script, tmp_path / "c", names)
    job()
    assert {row["v"]: row["n"] for row in job.rows("o").values()} == {5: 2}
    assert "t: 1 records skipped, because they cannot be parsed" in job.notices


def test_null_keys_are_counted_and_reported(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes")
    names = {"source": source, "servers": broker.bootstrap_servers}
    records = [(b'{"k":1}', b'{"k":1,"v":5}'), (None, b'{"k":2,"v":5}'), (None, b'{"k":3,"v":5}')]
    produce(broker.bootstrap_servers, source, records)
    job = BoundedRun(spark, UPSERT_SOURCE.replace("${more}", ""), tmp_path / "c", names)
    job.script = job.script.replace("FROM t GROUP", "FROM t WHERE v IS NOT NULL GROUP")
    job()
    assert {row["v"]: row["n"] for row in job.rows("o").values()} == {5: 1}
    assert "t: 2 records skipped, because they have no key" in job.notices


@pytest.mark.parametrize(
    ("lacking", "kind"),
    [(b'{"k":2,"v":null}', "INT"), (b'{"k":2}', "INT NOT NULL")],
    ids=["a nullable column", "a field that a record lacks"],
)
def test_null_for_a_not_null_column_stops_or_drops(
    lacking: bytes, kind: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes")
    names = {"source": source, "servers": broker.bootstrap_servers}
    records = [(b'{"k":1}', b'{"k":1,"v":5}'), (b'{"k":2}', lacking)]
    produce(broker.bootstrap_servers, source, records)
    script = UPSERT_SOURCE.replace("${more}", "").replace("v INT", f"v {kind}", 1)
    error = _refused(BoundedRun(spark, script, tmp_path / "c", names))
    assert error.condition is Condition.NULL_IN_NOT_NULL_COLUMN
    assert "column 'v' of o" in str(error)

    job = BoundedRun(spark, script, tmp_path / "d", names)
    job({"table.exec.sink.not-null-enforcer": "DROP"})
    assert {row["v"]: row["n"] for row in job.rows("o").values()} == {5: 1}


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("COUNT(DISTINCT user_id)", "COUNT(user_id)", "the query into pageviews_per_region was"),
        ("'topic' = '${source}'", "'topic' = '${source};${source}2'", "the query into"),
    ],
)
def test_changed_script_on_an_old_checkpoint(
    old: str,
    new: str,
    difference: str,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    source = topic("pageviews")
    names = {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}
    BoundedRun(spark, PAGEVIEWS, tmp_path / "c", names)()
    error = _refused(BoundedRun(spark, PAGEVIEWS.replace(old, new), tmp_path / "c", names))
    assert error.condition is Condition.CHECKPOINT_MISMATCH
    assert difference in str(error)


def test_two_jobs_on_one_checkpoint(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    import fcntl

    source = topic("pageviews")
    names = {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}
    (tmp_path / "c").mkdir()
    with (tmp_path / "c" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        error = _refused(BoundedRun(spark, PAGEVIEWS, tmp_path / "c", names))
    assert error.condition is Condition.CHECKPOINT_BUSY
