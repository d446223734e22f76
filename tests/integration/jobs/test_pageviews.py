"""The main job on a real Kafka: page views in json, pv and uv per region in avro."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.jobs.support import PAGEVIEWS, page_views, recount

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

READ_BACK = """
CREATE TABLE pageviews_per_region (
  user_region STRING, pv BIGINT, uv BIGINT,
  PRIMARY KEY (user_region) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'avro', 'value.format' = 'avro'
);
CREATE TABLE totals (
  what STRING, regions BIGINT, pv BIGINT, most BIGINT,
  PRIMARY KEY (what) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}-totals',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO totals
SELECT 'all', COUNT(*), SUM(pv), MAX(pv) FROM pageviews_per_region GROUP BY 'all';
"""


def test_page_views_are_counted_and_read_back(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("pageviews", partitions=2)
    names = {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}
    views = list(page_views(seed=1, count=3_000))
    job = BoundedRun(spark, PAGEVIEWS, tmp_path / "job", names)
    totals = BoundedRun(spark, READ_BACK, tmp_path / "totals", names)

    for done in (1_000, 3_000):
        produce_json(
            broker.bootstrap_servers, source, views[done - 1_000 if done == 1_000 else 1_000 : done]
        )
        job()
        assert job.rows("pageviews_per_region") == recount(views[:done])

        totals()
        pvs = [row["pv"] for row in recount(views[:done]).values()]
        assert list(totals.rows("totals").values()) == [
            {"what": "all", "regions": len(pvs), "pv": sum(pvs), "most": max(pvs)}
        ]


def test_creates_a_compacted_topic_for_an_upsert_sink(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
    from streamtable.jvm.bridge import Bridge

    source = topic("pageviews")
    names = {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}
    produce_json(broker.bootstrap_servers, source, page_views(seed=1, count=10))
    BoundedRun(spark, PAGEVIEWS, tmp_path / "job", names)()

    admin = KafkaAdmin(Bridge(spark), {"bootstrap.servers": broker.bootstrap_servers})
    assert admin.describe(f"{source}-out")["cleanup.policy"] == "compact"


def test_one_change_per_group_and_batch(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("pageviews", partitions=2)
    names = {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}
    views = list(page_views(seed=2, count=2_000))
    produce_json(broker.bootstrap_servers, source, views)
    job = BoundedRun(spark, PAGEVIEWS, tmp_path / "job", names)
    job()

    from streamtable.connectors.kafka.inspect.folded import FoldedTopic

    with FoldedTopic(job.table("pageviews_per_region")) as written:
        written.catch_up()
        assert written.records == len(recount(views))
