"""A job reads from one cluster and writes to two clusters, with equal names of topics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from confluent_kafka.admin import AdminClient, NewTopic

from streamtable.cli.main import cli
from streamtable.core.errors import StreamtableError
from streamtable.devbroker.broker import Broker
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

_UPSERT = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"
SCRIPT = f"""
CREATE TABLE t (id INT, g INT) WITH ('connector' = 'kafka', 'topic' = '${{topic}}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json',
  'properties.bootstrap.servers' = '${{here}}');
CREATE TABLE here (g INT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH ({_UPSERT},
  'topic' = '${{topic}}-out', 'properties.bootstrap.servers' = '${{here}}');
CREATE TABLE there (g INT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH ({_UPSERT},
  'topic' = '${{topic}}-out', 'properties.bootstrap.servers' = '${{there}}');
CREATE TABLE copied (id INT, g INT) WITH ('connector' = 'kafka', 'topic' = '${{topic}}',
  'format' = 'json', 'properties.bootstrap.servers' = '${{there}}');
INSERT INTO here SELECT g, COUNT(*) FROM t GROUP BY g;
INSERT INTO there SELECT id, COUNT(*) FROM t GROUP BY id;
INSERT INTO copied SELECT id, g FROM t;
"""


def test_topics_with_equal_names_on_two_clusters(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, here = topic("clusters", partitions=2), broker.bootstrap_servers
    with Broker(tmp_path / "broker") as other:
        names = {"topic": source, "here": here, "there": other.bootstrap_servers}
        produce_json(here, source, [{"id": i, "g": i % 3} for i in range(9)])
        file, checkpoint = tmp_path / "job.sql", tmp_path / "c"
        file.write_text(SCRIPT)
        run = BoundedRun(spark, SCRIPT, checkpoint, names)
        run()
        produce_json(here, source, [{"id": 9, "g": 0}])
        run()
        assert Counter(r.key() for r in records(here, f"{source}-out")).keys() == {
            b'{"g":%d}' % g for g in range(3)
        }
        there = {r.key() for r in records(names["there"], f"{source}-out")}
        assert there == {b'{"g":%d}' % i for i in range(10)}
        assert len(list(records(names["there"], source))) == 10

        given = [f"--var={name}={value}" for name, value in names.items()]
        arguments = ["prove", str(file), *given, "--checkpoint", str(checkpoint)]
        proved = CliRunner().invoke(cli, arguments)
        assert proved.exit_code == 0, proved.output
        assert proved.output.count(" 0 differ") == 3, proved.output


def test_a_sink_topic_of_equal_name_is_not_the_missing_source(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The topic of the same name on the other cluster does not count as the missing one."""
    source = topic("missing")
    with Broker(tmp_path / "broker") as other:
        names = {
            "topic": source,
            "here": other.bootstrap_servers,
            "there": broker.bootstrap_servers,
        }
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        admin.delete_topics([source])[source].result(30)
        run = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
        with pytest.raises(StreamtableError, match="TOPIC_MISSING"):
            run()
        client = AdminClient({"bootstrap.servers": other.bootstrap_servers})
        client.create_topics([NewTopic(source, 1)])[source].result(30)
        run()
