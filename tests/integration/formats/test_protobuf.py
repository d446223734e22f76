"""Tests of protobuf: recorded answers of Flink, the forms of a schema, and jobs with Kafka."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from py4j.protocol import Py4JJavaError
from tests.integration.jobs.support import PATIENCE_S

from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import Field
from streamtable.sql.parse import parse_type
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

COMPAT = Path(__file__).parents[2] / "compat" / "formats" / "protobuf"
CASES = json.loads((COMPAT / "flink-2.2.0.json").read_text(encoding="utf-8"))["cases"]
SCHEMAS = {"com.example.three.Three": "three", "com.example.two.TwoFile$Two": "two"}
SHORT = 'syntax = "proto3"; package p; message M { int32 i = 1; message N { int64 l = 2; } }'
ONE_INT = (Field("i", t.INT),)


def options(case: Any, suffix: str) -> dict[str, str]:
    name = case["message"]
    file = str(COMPAT / f"{SCHEMAS[name]}{suffix}")
    return {"message-class-name": name, "descriptor-file": file, **case["options"]}


@pytest.mark.parametrize("suffix", [".proto", ".bin"])
def test_records_are_read_and_written_as_by_flink(codecs: Any, suffix: str) -> None:
    differ = {}
    for case in CASES:
        fields = parse_type(case["type"]).fields
        decoder = codecs.decoder("protobuf", fields, options(case, suffix))
        found: dict[str, Any] = {}
        try:
            row = decoder.decode(base64.b64decode(case["value"]))
            found["json"] = json.loads(bytes(codecs.encoder("json", fields, {}).encode(row)))
            encoder = codecs.encoder("protobuf", fields, options(case, suffix))
            found["bytes"] = base64.b64encode(bytes(encoder.encode(row))).decode()
        except Py4JJavaError as error:
            found["error"] = str(error.java_exception)
        answer = dict(case["answer"])
        if "json" in answer:
            answer["json"] = json.loads(answer["json"])
        if "error" in answer and "error" in found:
            continue
        if answer != found:
            differ[case["id"]] = (answer, found)
    assert not differ


@pytest.mark.parametrize("name", ["p.M", "p.Any$M"])
def test_both_class_names_of_a_message_are_accepted(codecs: Any, name: str) -> None:
    decoder = codecs.decoder("protobuf", ONE_INT, {"message-class-name": name, "schema": SHORT})
    assert decoder.decode(b"\x08\x07").getInt(0) == 7


@pytest.mark.parametrize(
    ("name", "schema", "columns", "reason"),
    [
        ("p.X", SHORT, ONE_INT, "it has no message 'p.X'; it has p.M, p.M.N"),
        ("p.M", SHORT, (Field("j", t.INT),), "message 'p.M' has no field 'j'"),
        ("p.M", SHORT, (Field("i", t.STRING),), "field 'p.M.i' is int32, which is no STRING"),
        ("p.M.N", SHORT, (Field("l", t.INT),), "field 'p.M.N.l' is int64, which is no INT"),
        (
            "p.M",
            SHORT.replace("package p;", 'package p; import "a.proto";'),
            ONE_INT,
            "the imported file 'a.proto' is missing",
        ),
        ("p.M", "message M {", ONE_INT, "schema.proto"),
    ],
)
def test_incompatible_schemas_are_refused(
    codecs: Any, name: str, schema: str, columns: tuple[Field, ...], reason: str
) -> None:
    for kind in ("decoder", "encoder"):
        with pytest.raises(Py4JJavaError) as found:
            getattr(codecs, kind)(
                "protobuf", columns, {"message-class-name": name, "schema": schema}
            )
        assert "SchemaFault" in str(found.value.java_exception)
        assert reason in str(found.value.java_exception)


def test_timestamps(codecs: Any) -> None:
    schema = (
        'syntax = "proto3"; import "google/protobuf/timestamp.proto";'
        " message M { google.protobuf.Timestamp at = 1; repeated string r = 2; }"
    )
    named = {"message-class-name": "M", "schema": schema, "write-null-string-literal": "none"}
    columns = (Field("at", t.timestamp_ltz(6)), Field("r", t.array(t.STRING)))
    rows = codecs.decoder("json", columns, {})
    row = rows.decode(b'{"at":"1969-12-31 23:59:59.25Z","r":["a",null]}')
    written = bytes(codecs.encoder("protobuf", columns, named).encode(row))
    assert written == bytes.fromhex("0a1008ffffffffffffffffff011080e59a77 120161 12046e6f6e65")
    again = codecs.decoder("protobuf", columns, named).decode(written)
    assert json.loads(bytes(codecs.encoder("json", columns, {}).encode(again))) == {
        "at": "1969-12-31 23:59:59.25Z",
        "r": ["a", "none"],
    }


_JOB = """
CREATE TABLE visits (page STRING, visitor BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'protobuf',
  'protobuf.message-class-name' = 'shop.Visit',
  'protobuf.schema' = '
    syntax = "proto3"; package shop; message Visit { string page = 1; int64 visitor = 2; }'
);
CREATE TABLE pages (page STRING, visits BIGINT, PRIMARY KEY (page) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${topic}-pages',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'protobuf',
  'value.protobuf.message-class-name' = 'shop.Page',
  'value.protobuf.schema' = '
    syntax = "proto3"; package shop; message Page { string page = 1; int64 visits = 2; }'
);
INSERT INTO pages SELECT page, COUNT(*) FROM visits GROUP BY page;
"""


def _records(servers: str, topic: str, count: int) -> dict[bytes, bytes]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": topic})
    found = {}
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        while len(found) < count:
            (message,) = consumer.consume(timeout=PATIENCE_S) or pytest.fail(f"only {found}")
            found[message.key()] = message.value()
    finally:
        consumer.close()
    return found


def test_through_kafka(spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    name = topic("visits")
    visits = [b"\x0a\x04home\x10\x01", b"\x0a\x04home\x10\x02", b"\x0a\x04cart\x10\x02"]
    produce(broker.bootstrap_servers, name, [(None, visit) for visit in visits])
    names = {"topic": name, "servers": broker.bootstrap_servers}
    BoundedRun(spark, _JOB, tmp_path / "checkpoint", names)()
    written = _records(broker.bootstrap_servers, f"{name}-pages", 2)
    assert written == {
        b'{"page":"home"}': b"\x0a\x04home\x10\x02",
        b'{"page":"cart"}': b"\x0a\x04cart\x10\x01",
    }


def test_an_incompatible_schema_creates_no_topic(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    name = topic("visits")
    script = _JOB.replace("int64 visits = 2", "string visits = 2")
    names = {"topic": name, "servers": broker.bootstrap_servers}
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, script, tmp_path / "checkpoint", names)()
    assert refused.value.condition is Condition.SCHEMA_UNUSABLE
    assert "field 'shop.Page.visits' is string, which is no BIGINT" in str(refused.value)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert f"{name}-pages" not in admin.list_topics(timeout=30).topics
