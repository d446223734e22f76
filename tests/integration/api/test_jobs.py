"""Jobs of the Python API, which starts Spark itself, in both modes and by PyFlink's names."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import PATIENCE_S

import streamtable
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

PROGRAM = """
import time
import streamtable
from pyspark import SparkContext
from streamtable.table import TableEnvironment, EnvironmentSettings

TABLES = '''
CREATE TABLE source (k INT) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '{servers}', 'format' = 'json'
);
CREATE TABLE numbers (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}-out',
  'properties.bootstrap.servers' = '{servers}', 'key.format' = 'json', 'value.format' = 'json'
);
'''
INSERT = "INSERT INTO numbers SELECT k, COUNT(*) FROM source GROUP BY k"
session = streamtable.connect(
    execution_mode="{mode}", parallelism_default=2, table_local_time_zone="UTC"
)
session.execute_sql(TABLES)
job = session.execute_sql(INSERT)
print(job.status() in ("INITIALIZING", "RUNNING"), job.name)
deadline = time.monotonic() + {patience}
def written():
    metrics = job.metrics()
    return metrics["queries"] and metrics["tables"]["numbers"]["numRecordsOut"] >= 3
while not written() and job.running and time.monotonic() < deadline:
    time.sleep(0.2)
print(bool(written()), job.error)
print(job.metrics()["queries"]["numbers"]["mode"], job.status())
try:
    session.execute_sql("CREATE VIEW v AS SELECT 1 AS a; INSERT INTO numbers SELECT x FROM source")
except streamtable.StreamtableError as error:
    print(error.condition.name, session.list_tables())
context = SparkContext._active_spark_context
failing = session.execute_sql(INSERT.replace("source", "source /*+ OPTIONS('topic'='gone') */"))
try:
    failing.wait()
except streamtable.StreamtableError as error:
    print(error.condition.name, failing.status())
print([row.status for row in session.execute_sql("SHOW JOBS").collect()])
session.execute_sql("STOP JOB '1'")
print(job.status(), job.wait(), SparkContext._active_spark_context is context)
try:
    session.execute_sql("STOP JOB '1'")
except streamtable.StreamtableError as error:
    print(error.condition.name)
described = dict(session.execute_sql("DESCRIBE JOB '2'").collect())
print(described["status"], "TOPIC_MISSING" in described["error"])
session.execute_sql("SET 'execution.mode' = 'micro-batch'")
print(session.table("numbers").to_dataframe().count())
session.close()
print(SparkContext._active_spark_context)

environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
environment.execute_sql(TABLES)
result = environment.create_statement_set().add_insert_sql(INSERT).execute()
result.wait()
print(result.get_job_client().get_job_status())
"""


@pytest.mark.parametrize("mode", ["micro-batch", pytest.param("real-time", marks=pytest.mark.soak)])
def test_jobs_of_a_session(mode: str, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    source = topic("source")
    produce_json(broker.bootstrap_servers, source, ({"k": k % 3} for k in range(30)))
    text = PROGRAM.format(
        mode=mode, topic=source, servers=broker.bootstrap_servers, patience=PATIENCE_S
    )
    program = tmp_path / "program.py"
    program.write_text(text)
    done = subprocess.run(
        [sys.executable, str(program)],
        check=False,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "True insert-into_numbers",
        "True None",
        f"{mode} RUNNING",
        "UNKNOWN_COLUMN ['numbers', 'source']",
        "TOPIC_MISSING FAILED",
        "['RUNNING', 'FAILED']",
        "CANCELED True True",
        "CHANGE_REFUSED",
        "FAILED True",
        "3",
        "None",
        "FINISHED",
    ]


def test_a_job_reads_a_topic_that_an_earlier_job_creates(
    spark: SparkSession, broker: Broker
) -> None:
    """The statements follow each other at once, as in a script that is pasted into the shell."""
    table = (
        "CREATE TABLE {0} (k INT, PRIMARY KEY (k) NOT ENFORCED) WITH ("
        f" 'connector' = 'upsert-kafka', 'topic' = '{{0}}-{uuid.uuid4().hex[:12]}',"
        f" 'properties.bootstrap.servers' = '{broker.bootstrap_servers}',"
        " 'key.format' = 'json', 'value.format' = 'json')"
    )
    with streamtable.connect(spark, execution_mode="micro-batch") as session:
        session.execute_sql(table.format("a") + ";" + table.format("b"))
        session.execute_sql("INSERT INTO a VALUES (1), (2)")
        reader = session.execute_sql("INSERT INTO b SELECT k FROM a")
        deadline = time.monotonic() + PATIENCE_S
        while reader.metrics().get("tables", {}).get("b", {}).get("numRecordsOut", 0) < 2:
            assert reader.running, reader.error
            assert time.monotonic() < deadline
            time.sleep(0.2)
        reader.stop()
        reader.wait(PATIENCE_S)
