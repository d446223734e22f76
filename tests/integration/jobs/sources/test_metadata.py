"""Metadata columns with other types than the connector's are cast on read and on write."""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.state import state_rows
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

KAFKA = "'connector' = 'kafka', 'properties.bootstrap.servers' = '${servers}', 'format' = 'json'"
SOURCE = f"""
CREATE TABLE t (id INT, moment STRING) WITH (
  {KAFKA}, 'topic' = '${{source}}', 'scan.startup.mode' = 'earliest-offset'
);
"""
MOMENT = "2024-02-03 04:05:06.789"

#: Type of the column `ts` -> the time of the record in UTC if the query returns MOMENT.
TIMES = {
    "TIMESTAMP(0)": "2024-02-03 04:05:06.000",
    "TIMESTAMP(3)": MOMENT,
    "TIMESTAMP(6) NOT NULL": MOMENT,
    "TIMESTAMP_LTZ(1)": "2024-02-03 04:05:06.700",
    "TIMESTAMP_LTZ(6)": MOMENT,
    "DATE": "2024-02-03 00:00:00.000",
    "STRING": MOMENT,
}


def _kafka_time(shown: str) -> int:
    """Return the epoch milliseconds of a moment in UTC."""
    moment = datetime.fromisoformat(f"{shown}+00:00")
    return round(moment.timestamp() * 1_000)


def _only_record(broker: Broker, topic: str) -> Any:
    (record,) = records(broker.bootstrap_servers, topic)
    return record


def test_written_metadata_is_cast(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, out = topic("in"), f"out-{uuid.uuid4().hex[:6]}"
    row = json.dumps({"id": 1, "moment": MOMENT}).encode()
    produce(broker.bootstrap_servers, source, [(None, row)])
    script = SOURCE
    for number, kind in enumerate(TIMES):
        script += f"""
CREATE TABLE o{number} (id INT, ts {kind} METADATA FROM 'timestamp') WITH (
  {KAFKA}, 'topic' = '{out}-{number}'
);
INSERT INTO o{number} SELECT id, CAST(moment AS {kind.removesuffix(" NOT NULL")}) FROM t;
"""
    script += f"""
CREATE TABLE h (id INT, h MAP<INT, STRING> METADATA FROM 'headers') WITH (
  {KAFKA}, 'topic' = '{out}-h'
);
INSERT INTO h SELECT id, MAP[7, moment, 8, CAST(NULL AS STRING)] FROM t;
CREATE TABLE u (id INT, ts TIMESTAMP(3) METADATA FROM 'timestamp', PRIMARY KEY (id) NOT ENFORCED)
WITH (
  'connector' = 'upsert-kafka', 'topic' = '{out}-u',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO u SELECT id, CAST(moment AS TIMESTAMP(3)) FROM t;
"""
    names = {"source": source, "servers": broker.bootstrap_servers}
    BoundedRun(spark, script, tmp_path / "c", names)()
    found = {
        kind: _only_record(broker, f"{out}-{number}").timestamp()[1]
        for number, kind in enumerate(TIMES)
    }
    assert found == {kind: _kafka_time(shown) for kind, shown in TIMES.items()}
    assert _only_record(broker, f"{out}-h").headers() == [("7", MOMENT.encode()), ("8", None)]
    assert _only_record(broker, f"{out}-u").timestamp()[1] == _kafka_time(MOMENT)


WRITTEN = (
    SOURCE
    + f"""
CREATE TABLE o (
  id INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  h MAP<STRING, BYTES> METADATA FROM 'headers'
) WITH ({KAFKA}, 'topic' = '${{source}}-out');
INSERT INTO o SELECT id, ${{ts}}, ${{h}} FROM t;
"""
)


@pytest.mark.parametrize(
    ("ts", "h", "told"),
    [
        (
            "CAST(moment AS TIMESTAMP_LTZ(3))",
            "CAST(NULL AS MAP<STRING, BYTES>)",
            "metadata 'timestamp' is 1969-12-31T23:59:59.999Z, and Kafka has no time before 1970",
        ),
        (
            "CAST(NULL AS TIMESTAMP_LTZ(3))",
            "MAP[IF(id = 1, CAST(NULL AS STRING), 'a'), X'00']",
            "the query for o returns a map with a NULL key",
        ),
    ],
    ids=["before 1970", "no header key"],
)
def test_metadata_that_kafka_cannot_store_ends_the_job(
    ts: str,
    h: str,
    told: str,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    source = topic("in")
    row = json.dumps({"id": 1, "moment": "1969-12-31 23:59:59.999"}).encode()
    produce(broker.bootstrap_servers, source, [(None, row)])
    script = WRITTEN.replace("${ts}", ts).replace("${h}", h)
    names = {"source": source, "servers": broker.bootstrap_servers}
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, script, tmp_path / "c", names)()
    assert refused.value.condition is Condition.RECORD_UNWRITABLE
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


#: Metadata column -> its value as text, for a record at MOMENT with the headers a and b.
READ = {
    "TIMESTAMP(0) METADATA FROM 'timestamp'": "2024-02-03 04:05:06",
    "TIMESTAMP(2) METADATA FROM 'timestamp'": "2024-02-03 04:05:06.78",
    "TIMESTAMP(6) METADATA FROM 'timestamp'": "2024-02-03 04:05:06.789000",
    "TIMESTAMP_LTZ(0) METADATA FROM 'timestamp'": "2024-02-03 04:05:06",
    "DATE METADATA FROM 'timestamp'": "2024-02-03",
    "STRING METADATA FROM 'timestamp'": MOMENT,
    "CHAR(4) METADATA FROM 'topic' VIRTUAL": "meta",
    "BIGINT METADATA FROM 'partition' VIRTUAL": "0",
    "STRING METADATA FROM 'offset' VIRTUAL": "0",
    "DOUBLE METADATA FROM 'leader-epoch' VIRTUAL": "0.0",
    "VARCHAR(6) METADATA FROM 'timestamp-type' VIRTUAL": "Create",
}
MAPS = ("MAP<STRING, STRING>", "MAP<STRING, BYTES>", "MAP<STRING, BYTES> NOT NULL")


def test_read_metadata_is_cast(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, out = topic("meta"), topic("out")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    headers = [("a", b"1"), ("b", None)]
    producer.produce(source, b'{"id":1}', timestamp=_kafka_time(MOMENT), headers=headers)
    assert producer.flush(30) == 0
    script = f"CREATE TABLE o (what STRING, m STRING) WITH ({KAFKA}, 'topic' = '{out}');"
    selects = []
    read = READ | dict.fromkeys((f"{kind} METADATA FROM 'headers'" for kind in MAPS), "2 1")
    for number, column in enumerate(read):
        value = "CAST(m AS STRING)"
        if column.startswith("MAP"):
            value = "CONCAT(CAST(CARDINALITY(m) AS STRING), ' ', CAST(m['a'] AS STRING))"
        script += f"""
CREATE TABLE t{number} (id INT, m {column}) WITH (
  {KAFKA}, 'topic' = '{source}', 'scan.startup.mode' = 'earliest-offset'
);
"""
        selects.append(f"SELECT '{number}', {value} FROM t{number}")
    script += f"INSERT INTO o {' UNION ALL '.join(selects)};"
    names = {"servers": broker.bootstrap_servers}
    BoundedRun(spark, script, tmp_path / "c", names)()
    rows = [json.loads(r.value()) for r in records(broker.bootstrap_servers, out)]
    found = {list(read)[int(row["what"])]: row["m"] for row in rows}
    assert found == read


HEADERS = f"""
CREATE TABLE t (id INT, h MAP<STRING, BYTES> METADATA FROM 'headers' VIRTUAL) WITH (
  {KAFKA}, 'topic' = '${{source}}', 'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE o (id INT, n INT, missing BOOLEAN) WITH ({KAFKA}, 'topic' = '${{out}}');
INSERT INTO o SELECT id, CARDINALITY(h), h IS NULL FROM t;
"""


@pytest.mark.parametrize("mode", ["bounded", "micro-batch", "real-time"])
def test_records_without_headers_have_an_empty_map(
    mode: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, out = topic("in"), topic("out")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(source, b'{"id":1}')
    producer.produce(source, b'{"id":2}', headers=[("a", b"1")])
    assert producer.flush(30) == 0
    names = {"source": source, "out": out, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, HEADERS, tmp_path / "c", names)

    def found() -> set[str]:
        # At-least-once: a stop in real-time mode writes the rows since the last checkpoint again.
        return {r.value().decode() for r in records(broker.bootstrap_servers, out)}

    if mode == "bounded":
        job()
    else:
        settings = {"execution.mode": mode, "execution.checkpointing.interval": "5 s"}
        job.until(lambda: len(found()) == 2, settings)
    assert found() == {
        '{"id":1,"n":0,"missing":false}',
        '{"id":2,"n":1,"missing":false}',
    }


#: Headers of an upsert table pass through a join whose key is not the key of the sink.
JOINED = """
CREATE TABLE u (k INT, fk INT, h MAP<STRING, BYTES> METADATA FROM 'headers',
  PRIMARY KEY (k) NOT ENFORCED) WITH (${upsert}, 'topic' = '${source}');
CREATE TABLE t (id INT, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  ${upsert}, 'topic' = '${other}');
CREATE TABLE o (k INT, x INT, h MAP<STRING, BYTES> METADATA FROM 'headers',
  PRIMARY KEY (k) NOT ENFORCED) WITH (${upsert}, 'topic' = '${other}-out');
INSERT INTO o SELECT u.k, t.x, u.h FROM u JOIN t ON u.fk = t.id;
""".replace(
    "${upsert}",
    "'connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${servers}',"
    " 'key.format' = 'json', 'value.format' = 'json'",
)


def test_a_row_with_headers_is_deleted(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, other = topic("in"), topic("other")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(other, b'{"id":7,"x":5}', b'{"id":7}')
    for k in (1, 2):
        value = json.dumps({"k": k, "fk": 7})
        producer.produce(source, value, json.dumps({"k": k}), headers=[("a", b"1"), ("b", None)])
    assert producer.flush(30) == 0
    names = {"source": source, "other": other, "servers": broker.bootstrap_servers}
    run = BoundedRun(spark, JOINED, tmp_path / "c", names)
    run()
    assert {row["k"] for row in run.rows("o").values()} == {1, 2}
    before = state_rows(spark, str(tmp_path / "c" / "o"))
    producer.produce(source, None, b'{"k":1}')
    assert producer.flush(30) == 0
    run()
    assert {row["k"] for row in run.rows("o").values()} == {2}
    after = state_rows(spark, str(tmp_path / "c" / "o"))
    assert sum(after.values()) < sum(before.values())
