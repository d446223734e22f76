"""Names that need backticks go through the whole job: dots, blanks, keywords, backticks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE `my source` (
  `order.id` INT, `group` STRING, `it``s` INT, `ID` INT, `id` INT,
  PRIMARY KEY (`order.id`) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE `the.sink` (
  `group` STRING, `how many` BIGINT, `select` INT, `case.sum` INT,
  PRIMARY KEY (`group`) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO `the.sink`
SELECT s.`group`, COUNT(*), MAX(`it``s`), SUM(`ID` - `id`)
FROM `my source` AS s WHERE `it``s` > 0 GROUP BY s.`group`;
CREATE TABLE `best.of` (
  `group` STRING, `order.id` INT, `it``s` INT, `its.twin` INT,
  PRIMARY KEY (`group`) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-best',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO `best.of`
SELECT `group`, `order.id`, `it``s`, `its.twin` FROM (
  SELECT a.`group`, a.`order.id`, a.`it``s`, b.`it``s` AS `its.twin`,
    ROW_NUMBER() OVER (PARTITION BY a.`group` ORDER BY a.`it``s` DESC) AS `row.number`
  FROM `my source` AS a LEFT JOIN `my source` AS b ON a.`order.id` = b.`order.id`
) WHERE `row.number` = 1;
"""


def test_names_that_need_backticks(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("names")
    rows = [(1, "a", 5, 3, 1), (2, "a", 7, 4, 1), (3, "b", 1, 1, 1), (4, "b", 0, 9, 9)]
    columns = ("order.id", "group", "it`s", "ID", "id")
    records = [
        (
            json.dumps({"order.id": row[0]}).encode(),
            json.dumps(dict(zip(columns, row, strict=True))).encode(),
        )
        for row in rows
    ]
    produce(broker.bootstrap_servers, source, records)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    job()
    assert {key[0]: tuple(row.values())[1:] for key, row in job.rows("the.sink").items()} == {
        "a": (2, 7, 5),
        "b": (1, 1, 0),
    }
    assert {key[0]: tuple(row.values())[1:] for key, row in job.rows("best.of").items()} == {
        "a": (2, 7, 7),
        "b": (3, 1, 1),
    }
