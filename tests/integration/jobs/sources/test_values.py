"""Rows of VALUES, SELECT without FROM or a DataFrame: a job writes them once and ends by itself."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.jobs.support import PATIENCE_S

from streamtable.runtime.job import RunOptions
from streamtable.session import Session
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

TABLES = """
CREATE TABLE visits (shop STRING, n INT) WITH (
  'connector' = 'kafka', 'topic' = '${visits}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE totals (
  shop STRING, total INT, label STRING, d DECIMAL(5, 2), PRIMARY KEY (shop) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${visits}-totals',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
"""

LITERALS = """
INSERT INTO totals (label, shop, total) VALUES ('no visits', 'c', 0), (UPPER('x'), 'd', NULL);
INSERT INTO totals SELECT 'e', 7, 'alone', 1.5;
INSERT INTO totals SELECT name, total, 'given', price FROM given WHERE total > 1;
"""

JOINED = """
INSERT INTO totals (shop, total, label)
SELECT v.shop, SUM(v.n), MAX(w.label)
FROM visits AS v JOIN (VALUES ('a', 'Alpha'), ('b', 'Beta')) AS w (shop, label)
ON v.shop = w.shop GROUP BY v.shop;
"""


def test_literal_rows(spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    names = {"visits": topic("visits"), "servers": broker.bootstrap_servers}
    script = TABLES + LITERALS
    rows = [("f", 2, Decimal("0.25")), ("g", 1, None)]
    frames = {"given": spark.createDataFrame(rows, "name STRING, total INT, price DECIMAL(5, 2)")}
    session = Session()
    session.create_temporary_view("given", frames["given"])
    session.load(script, "values.sql", names)
    notices: list[str] = []
    options = RunOptions(checkpoint=str(tmp_path / "literals"))
    job = threading.Thread(target=session.run, args=(options, notices.append, spark), daemon=True)
    job.start()
    job.join(timeout=PATIENCE_S)
    assert not job.is_alive(), "a job over nothing but VALUES goes on"
    run = BoundedRun(spark, script, tmp_path / "literals", names, frames)
    assert {key[0]: tuple(row.values())[1:] for key, row in run.rows("totals").items()} == {
        "c": (0, "no visits", None),
        "d": (None, "X", None),
        "e": (7, "alone", 1.5),
        "f": (2, "given", 0.25),
    }


def test_literal_rows_stay_joined_after_a_restart(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    visits = topic("visits")
    names = {"visits": visits, "servers": broker.bootstrap_servers}
    run = BoundedRun(spark, TABLES + JOINED, tmp_path / "joined", names)
    for shop in ("a", "b"):
        rows = [{"shop": shop, "n": 1}, {"shop": "a", "n": 2}, {"shop": "z", "n": 4}]
        produce_json(broker.bootstrap_servers, visits, rows)
        run()
    # If the restart read the rows of VALUES again, each visit would count twice.
    assert {key[0]: tuple(row.values())[1:3] for key, row in run.rows("totals").items()} == {
        "a": (5, "Alpha"),
        "b": (1, "Beta"),
    }
