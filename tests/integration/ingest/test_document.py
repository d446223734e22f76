"""The example of a data ingestion job on Alibaba's *Upsert Kafka* page runs unchanged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.ingest.support import folded
from tests.integration.ingest.test_commands import SETTINGS
from tests.mariadb import PASSWORD, USER
from tests.unit.ingest.test_job_file import EXAMPLE

from streamtable.core.errors import StreamtableError
from streamtable.ingest.file.job_file import read_job
from streamtable.ingest.run.run import IngestOptions, run_ingest
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from tests.integration.ingest.support import Shop

pytestmark = pytest.mark.usefixtures("spark")


def test_the_documented_example_copies_a_table(shop: Shop) -> None:
    topic = f"{shop.database}-orders"
    variables = {
        "mysql.hostname": "127.0.0.1",
        "mysql.port": str(shop.server.port),
        "mysql.username": USER,
        "mysql.password": PASSWORD,
        "mysql.source.table": f"{shop.database}.orders",
        "upsert.kafka.bootstraps.server": shop.servers,
        "upsert.kafka.aliyun.ak": "the-key",
        "upsert.kafka.aliyun.sk": "the-secret-7",
        "upsert.kafka.aliyun.instanceid": "alikafka-1",
        "upsert.kafka.aliyun.endpoint": "alikafka.cn-hangzhou.aliyuncs.com",
        "upsert.kafka.aliyun.regionid": "cn-hangzhou",
        "upsert.kafka.topic": topic,
    }
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY, who VARCHAR(20))",
        "INSERT INTO orders VALUES (1, 'Ada'), (2, 'Grace')",
    )
    job = read_job(EXAMPLE, "job.yaml", variables)

    def run() -> list[str]:
        said: list[str] = []
        options = IngestOptions(bounded=True, checkpoint=shop.checkpoint[1])
        run_ingest(job, SETTINGS, options, said.append, said.append)
        return said

    with pytest.raises(StreamtableError, match=r"console of cn-hangzhou, in instance alikafka-1"):
        run()
    admin = AdminClient({"bootstrap.servers": shop.servers})
    new = NewTopic(topic, 2, 1, config={"cleanup.policy": "compact"})
    admin.create_topics([new])[topic].result()
    said = run()
    assert said[0].startswith("MySQL Source (127.0.0.1:")
    assert "the-secret-7" not in "\n".join(said)
    shop.sql("UPDATE orders SET who = 'Eve' WHERE id = 2", "DELETE FROM orders WHERE id = 1")
    run()
    rows = {k: json.loads(v) for k, v in folded(records(shop.servers, topic)).items()}
    assert rows == {b'{"id":2}': {"id": 2, "who": "Eve"}}
