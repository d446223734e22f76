"""`streamtable submit` to YARN, in client mode and in cluster mode, from topic to topic."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests import quick_jvm
from tests.integration.deploy.yarn import yarn
from tests.integration.jobs.support import run, write

from streamtable.devbroker.broker import Broker
from streamtable.jvm.install.tools import pyspark_jars
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
SET 'python.files' = '${functions}';
SET 'parallelism.default' = '2';
CREATE FUNCTION parity AS 'parities:parity' LANGUAGE PYTHON;
CREATE TABLE t (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'ids', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE counted (p STRING, n BIGINT, PRIMARY KEY (p) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'counted',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO counted SELECT parity(id), COUNT(*) FROM t GROUP BY parity(id);
"""
FUNCTION = "def parity(id: int) -> str:\n    return 'odd' if id % 2 else 'even'\n"

CONF = {
    # As on a cluster whose machines have Spark: without this, each start uploads 400 MB.
    "spark.yarn.jars": f"local:{pyspark_jars()}/*",
    "spark.driver.memory": "600m",
    "spark.executor.memory": "512m",
    "spark.executor.instances": "1",
    "spark.executor.cores": "2",
    "spark.executor.extraJavaOptions": quick_jvm.OPTIONS,
    "spark.pyspark.python": sys.executable,
    "spark.yarn.submit.waitAppCompletion": "true",
}


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_job_runs_and_continues_on_yarn(
    mode: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = tmp_path / "functions"
    functions.mkdir()
    (functions / "parities.py").write_text(FUNCTION)
    script = write(tmp_path / "job.sql", SCRIPT)
    checkpoint = tmp_path / "c"
    with Broker(tmp_path / "broker") as broker, yarn(tmp_path / "yarn") as configuration:
        monkeypatch.setenv("HADOOP_CONF_DIR", str(configuration))
        servers = broker.bootstrap_servers
        variables = {"servers": servers, "functions": str(functions)}
        arguments = ["submit", script, "--master", "yarn", "--deploy-mode", mode, "--bounded"]
        arguments += ["--checkpoint", str(checkpoint)]
        arguments += [w for key, value in CONF.items() for w in ("--conf", f"{key}={value}")]
        arguments += [w for key, value in variables.items() for w in ("--var", f"{key}={value}")]
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic("ids", num_partitions=2)])["ids"].result(30)
        job = BoundedRun(spark, SCRIPT, checkpoint, variables)
        for begin, end in ((0, 301), (301, 402)):
            produce_json(servers, "ids", ({"id": i} for i in range(begin, end)))
            code, out, err = run(*arguments)
            assert code == 0, (out, err)
            assert job.rows("counted") == {
                ("even",): {"p": "even", "n": (end + 1) // 2},
                ("odd",): {"p": "odd", "n": end // 2},
            }
