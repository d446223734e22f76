"""`streamtable why --checkpoint`: the records that the newest commit of a job covers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.why.support import UPSERT, Why

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def test_the_records_that_a_commit_covers(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    """Records after the commit do not count, and windows wait for the watermark of the job."""
    servers, names = broker.bootstrap_servers, {"clicks": topic("clicks"), "out": topic("out")}
    script = f"""
    SET 'table.local-time-zone' = 'UTC';
    SET 'execution.end-of-input.drain' = 'false';
    CREATE TABLE clicks (who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
      'connector' = 'kafka', 'topic' = '${{clicks}}', 'format' = 'json',
      'properties.bootstrap.servers' = '${{servers}}', 'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE per_minute (
      who STRING, minute_start TIMESTAMP(3), n BIGINT,
      PRIMARY KEY (who, minute_start) NOT ENFORCED
    ) WITH ({UPSERT} 'topic' = '${{out}}');
    INSERT INTO per_minute SELECT who, window_start, COUNT(*)
    FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY who, window_start, window_end;
    """
    variables = {**names, "servers": servers}

    def click(who: str, time: str) -> tuple[None, bytes]:
        return None, json.dumps({"who": who, "ts": f"2026-01-31 {time}"}).encode()

    produce(servers, names["clicks"], [click("a", "12:00:10"), click("a", "12:01:10")])
    BoundedRun(spark, script, tmp_path / "checkpoint", variables)()
    produce(servers, names["clicks"], [click("a", "12:00:20")])
    asked = Why(tmp_path / "job.sql", servers, script, variables)
    first = {"who": "a", "minute_start": "2026-01-31 12:00:00"}
    second = {"who": "a", "minute_start": "2026-01-31 12:01:00"}
    options = ("--checkpoint", str(tmp_path / "checkpoint"))

    query = asked.query("per_minute", first)
    (row,) = query["rows"]
    assert (row["row"]["n"], query["batch"]) == (2, None)
    assert ["late rows" in note for note in query["notes"]] == [True, False]
    assert "all rows" in query["notes"][1]
    query = asked.query("per_minute", first, *options)
    assert query["batch"] >= 0
    (row,) = query["rows"]
    assert (row["row"]["n"], [r["offset"] for r in row["records"]]) == (1, [0])
    query = asked.query("per_minute", second, *options)
    assert query["reason"] == "waiting"
    assert "has not passed the row" in query["operators"][-1]["notes"][0]
    missing = asked.run("per_minute", first, "--checkpoint", str(tmp_path / "none"))
    assert "CHECKPOINT_UNREADABLE" in missing.stderr


def test_an_insert_that_shares_its_query(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    """The answer is at the commit of the shared query, whose directory has another name."""
    servers, names = broker.bootstrap_servers, {n: topic(n) for n in ("clicks", "all", "some")}
    columns = "(id INT, who STRING, PRIMARY KEY (id) NOT ENFORCED)"
    script = f"""
    CREATE TABLE clicks (id INT, who STRING) WITH (
      'connector' = 'kafka', 'topic' = '${{clicks}}', 'format' = 'json',
      'properties.bootstrap.servers' = '${{servers}}', 'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE everyone {columns} WITH ({UPSERT} 'topic' = '${{all}}');
    CREATE TABLE someone {columns} WITH ({UPSERT} 'topic' = '${{some}}');
    EXECUTE STATEMENT SET BEGIN
    INSERT INTO everyone SELECT id, who FROM clicks;
    INSERT INTO someone SELECT id, who FROM clicks WHERE id > 1;
    END;
    """
    variables = {**names, "servers": servers}
    values = [json.dumps({"id": i, "who": "a"}).encode() for i in (1, 2, 3)]
    produce(servers, names["clicks"], [(None, value) for value in values[:2]])
    BoundedRun(spark, script, tmp_path / "checkpoint", variables)()
    assert not (tmp_path / "checkpoint" / "someone").exists()
    produce(servers, names["clicks"], [(None, values[2])])
    asked = Why(tmp_path / "job.sql", servers, script, variables)
    options = ("--checkpoint", str(tmp_path / "checkpoint"))
    (row,) = asked.query("someone", {"id": 2}, *options)["rows"]
    assert [r["offset"] for r in row["records"]] == [1]
    assert asked.query("someone", {"id": 3}, *options)["rows"] == []
