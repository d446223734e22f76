"""If the workers of a cluster cannot run a job, the error is one line with the remedy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import quick_jvm
from tests.integration.faults.cluster import Cluster
from tests.integration.jobs.support import Cli, run, write

from streamtable.jvm.install.class_archive import java_options
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.tools import java_tool

SCRIPT = """
CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE p (a INT) WITH ('connector' = 'print');
INSERT INTO p SELECT a FROM t;
"""

#: A program with its own Spark session, whose jars only the driver has.
PROGRAM = """
import sys
from pyspark.sql import SparkSession
from streamtable.core.errors import StreamtableError
from streamtable.runtime.job import RunOptions
from streamtable.session import Session

session = Session()
session.load(sys.argv[1], "job.sql")
settings = session.spark_settings(sys.argv[2])
settings["spark.driver.extraClassPath"] = settings.pop("spark.jars").replace(",", ":")
settings.update(pair.split("=", 1) for pair in sys.argv[3:])
spark = SparkSession.builder.config(map=settings).getOrCreate()
try:
    session.run(RunOptions(), print, spark)
except StreamtableError as error:
    sys.exit(f"error: {error}")
"""

_QUICK = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": f"{quick_jvm.OPTIONS} {java_options()}",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("spark"), workers=1) as found:
        yield found


def _refused(script: Path, master: str, **more: str) -> str:
    """Run a job with further Spark settings and return its error; the job must print no row."""
    settings = {**_QUICK, **{key.replace("_", "."): value for key, value in more.items()}}
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    code, out, err = run("run", write(script, SCRIPT), "--master", master, *given)
    assert code == 1, (out, err)
    assert "I[" not in out
    [error] = [line for line in err.splitlines() if line.startswith("error: ")]
    assert error.startswith(f"error: WORKERS_UNUSABLE: the workers of {master} cannot run the job")
    return error


def test_a_worker_without_streamtable_jars(cluster: Cluster) -> None:
    given = ("=".join(pair) for pair in _QUICK.items())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, SCRIPT, cluster.url, *given],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 1
    # Spark may log a line after the error.
    lacking = "a worker lacks the jar of streamtable's operators"
    [error] = [line for line in done.stderr.splitlines() if lacking in line]
    assert "name the jars that `streamtable jars` lists in 'spark.jars'" in error


@pytest.mark.soak
def test_a_worker_with_another_spark_version(cluster: Cluster, tmp_path: Path) -> None:
    # Spark reads its version from this file.
    (tmp_path / "spark-version-info.properties").write_text("version=4.2.9\n")
    error = _refused(tmp_path / "job.sql", cluster.url, spark_executor_extraClassPath=str(tmp_path))
    assert "has Spark 4.2.9, but the driver has 4." in error
    assert "on every worker" in error


@pytest.mark.soak
def test_a_worker_with_another_operators_version(cluster: Cluster, tmp_path: Path) -> None:
    old = tmp_path / "streamtable-operators-old.jar"
    shutil.copy(operators_jar(), old)
    error = _refused(tmp_path / "job.sql", cluster.url, spark_executor_extraClassPath=str(old))
    assert "has another version of streamtable's operators: streamtable-operators-old.jar" in error


@pytest.mark.soak
def test_a_worker_with_an_old_java_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "java-11"
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(
        "#!/bin/sh\n"
        "echo 'Error: LinkageError occurred while loading main class' >&2\n"
        "echo 'java.lang.UnsupportedClassVersionError: class file version 61.0' >&2\n"
        "exit 1\n"
    )
    java.chmod(0o755)
    java_tool("java")  # the worker processes run on this Java
    before = os.environ.get("JAVA_HOME")
    monkeypatch.setenv("JAVA_HOME", str(home))  # executors run on the old Java
    with Cluster(tmp_path / "spark", workers=1) as cluster:
        monkeypatch.delenv("JAVA_HOME")
        if before is not None:
            monkeypatch.setenv("JAVA_HOME", before)
        script = write(tmp_path / "job.sql", SCRIPT)
        process = Cli.start("run", script, "--master", cluster.url)
        # The master restarts executors forever, so the job waits for a worker that can run one.
        process.wait_for(
            "in the logs of its executors that they start: each needs Java 17 or newer"
        )
        process.terminate()
        code, out, _ = process.end()
    assert code == 0
    assert "I[" not in out
