"""`aliyun.kafka.*`: client settings that follow from an instance of ApsaraMQ."""

from __future__ import annotations

import pytest

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition
from streamtable.core.table import Table
from streamtable.session import Session

SCRIPT = """
CREATE TABLE t (a STRING) WITH (
  'connector' = 'kafka', 'topic' = 'x', 'format' = 'json',
  'properties.bootstrap.servers' = '${servers}',
  'aliyun.kafka.accessKeyId' = 'an-id-of-a-key', 'aliyun.kafka.accessKeySecret' = 'a-secret-key',
  'aliyun.kafka.instanceId' = 'alikafka-1', 'aliyun.kafka.regionId' = 'cn-hangzhou',
  'aliyun.kafka.endpoint' = 'alikafka.cn-hangzhou.aliyuncs.com' ${more}
);
"""
LOGIN = ", 'properties.sasl.jaas.config' = 'x.PlainLoginModule required password=\"geheim\";'"


def _table(servers: str, more: str = "") -> KafkaTable:
    session = Session()
    session.load(SCRIPT.replace("${more}", more), "job.sql", {"servers": servers})
    found = session.catalog.find(("t",), None)
    assert isinstance(found, Table)
    assert isinstance(found.connector, KafkaTable)
    return found.connector


@pytest.mark.parametrize(
    ("port", "more", "protocol", "mechanism"),
    [
        (9092, "", "PLAINTEXT", None),
        (9093, LOGIN, "SASL_SSL", "PLAIN"),
        (9094, LOGIN, "SASL_PLAINTEXT", "PLAIN"),
        (9095, LOGIN, "SASL_SSL", "PLAIN"),
        (9094, f"{LOGIN}, 'properties.sasl.mechanism' = 'SCRAM-SHA-256'", None, "SCRAM-SHA-256"),
        (9094, ", 'properties.security.protocol' = 'PLAINTEXT'", "PLAINTEXT", "PLAIN"),
        (12345, "", "PLAINTEXT", None),
    ],
)
def test_the_port_determines_the_protocol(
    port: int, more: str, protocol: str | None, mechanism: str | None
) -> None:
    properties = _table(f"a.aliyuncs.com:{port},b.aliyuncs.com:{port}", more).properties
    assert properties.get("security.protocol") == (protocol or "SASL_PLAINTEXT")
    assert properties.get("sasl.mechanism") == mechanism
    assert "a-secret-key" not in str(properties)


def test_shaded_classes_of_flink_get_their_original_names() -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required;"
    shaded = f", 'properties.sasl.jaas.config' = 'org.apache.flink.kafka.shaded.{module}'"
    assert _table("a:1", shaded).properties["sasl.jaas.config"] == module


def test_a_missing_topic_is_refused_by_name() -> None:
    table = _table("a.aliyuncs.com:9092")
    assert table.instance is not None
    error = table.instance.cannot_create("x")
    assert error.condition is Condition.NOT_YET
    assert "the creation of topic 'x' by ApsaraMQ's API" in str(error)
    assert "alikafka-1" in str(error)


def test_a_port_without_an_instance_sets_no_properties() -> None:
    session = Session()
    script = SCRIPT.replace("'aliyun", "--").replace(" ${more}", "")
    lines = [line for line in script.splitlines() if "--" not in line]
    text = "\n".join(lines).replace("'${servers}',", "'b:9094'")
    session.load(text, "job.sql", {})
    found = session.catalog.find_table(("t",), None).connector
    assert isinstance(found, KafkaTable)
    assert found.properties == {"bootstrap.servers": "b:9094"}
