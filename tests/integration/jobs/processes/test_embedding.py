"""Jobs in a process that already has Spark, or that runs several jobs.

Each case is a separate program, because a process has one SparkContext.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import PATIENCE_S

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.session import SessionSettings
from streamtable.jvm.install.tools import java_tool, pyspark_jars
from streamtable.runtime.session import foreign
from streamtable.runtime.session.foreign import check_usable
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

BEGIN = """
import sys
import threading
from pyspark import SparkContext
from pyspark.sql import SparkSession
from streamtable.core.errors import StreamtableError
from streamtable.runtime.job import RunOptions
from streamtable.session import Session, fixed_settings

SCRIPT = '''
CREATE TABLE numbers (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}-${{number}}',
  'properties.bootstrap.servers' = '{servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO numbers SELECT k, COUNT(*) FROM (VALUES (1), (2), (1)) AS v(k) GROUP BY k;
'''
ENDLESS = '''
CREATE TABLE source (k INT) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '{servers}', 'format' = 'json'
);
CREATE TABLE numbers (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}-${{number}}',
  'properties.bootstrap.servers' = '{servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO numbers SELECT k, COUNT(*) FROM source GROUP BY k;
'''
SMALL = {{
    "execution.mode": "micro-batch", "parallelism.default": "2", "table.local-time-zone": "UTC",
}}


def made(script, number):
    session = Session(settings=fixed_settings(SMALL))
    session.load(script, "job.sql", {{"number": str(number)}})
    return session


def note(line):
    # In one piece: jobs side by side write from threads of their own.
    sys.stdout.write(f"notice: {{line}}\\n")
    sys.stdout.flush()


def none_left():
    return SparkContext._active_spark_context is None
"""


def _program(broker: Broker, name: str, text: str, folder: Path) -> list[str]:
    """Run a program with this text and return the lines that it prints."""
    program = folder / "program.py"
    program.write_text(BEGIN.format(topic=name, servers=broker.bootstrap_servers) + text)
    done = subprocess.run(
        [sys.executable, str(program)],
        check=False,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


PLAIN = """
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
before = spark.conf.getAll
for given in (spark, None):
    try:
        made(SCRIPT, 0).run(RunOptions(), note, given)
    except StreamtableError as error:
        print(error)
print(spark.conf.getAll == before, spark.range(3).count())
spark.stop()
try:
    made(SCRIPT, 0).run(RunOptions(), note, spark)
except StreamtableError as error:
    print(error)
made(SCRIPT, 0).run(RunOptions(), lambda line: None)  # in the JVM of the stopped session
print("started", none_left())
"""


def test_a_plain_session_is_refused(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    lines = _program(broker, topic("plain"), PLAIN, tmp_path)
    refused = "SPARK_UNUSABLE: the Spark session cannot be used: it lacks the jars of Spark's Kafka"
    assert lines[0].startswith(refused)
    assert "session.spark_settings()" in lines[0]
    assert lines[1] == lines[0]
    assert lines[2] == "True 3"
    assert "it has been stopped" in lines[3]
    assert lines[4:] == ["started True"]


def test_a_session_of_an_unsupported_spark_version_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "SPARK_MINORS", ("3.5",))
    with pytest.raises(StreamtableError) as refused:
        check_usable(spark, SessionSettings().current(), None)
    assert refused.value.condition is Condition.SPARK_UNUSABLE
    assert f"it runs Spark {spark.version}, and this streamtable has operators" in str(
        refused.value
    )


OURS = """
settings = Session(settings=fixed_settings(SMALL)).spark_settings("local[2]")
spark = SparkSession.builder.config(map=settings).getOrCreate()
spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
before, functions = spark.conf.getAll, len(spark.catalog.listFunctions())
for number, given in enumerate((spark, None)):
    made(SCRIPT, number).run(RunOptions(), note, given)
print(spark.conf.getAll == before, len(spark.catalog.listFunctions()) == functions)
print(spark.range(3).count())
for wrong in ({"spark.driver.memory": "3g"}, {"spark.sql.extensions": "org.example.Other"}):
    session = Session(settings=fixed_settings({**SMALL, **wrong}))
    session.load(SCRIPT, "job.sql", {"number": "2"})
    try:
        session.run(RunOptions(), note, spark)
    except StreamtableError as error:
        print(error)
"""


def test_a_given_session_is_left_unchanged(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    lines = _program(broker, topic("ours"), OURS, tmp_path)
    told = [line for line in lines if not line.startswith("notice:")]
    assert told[:2] == ["True True", "3"]
    for line, option in zip(told[2:], ("driver.memory", "sql.extensions"), strict=True):
        assert line.startswith(f"OPTION_NOT_SETTABLE: option 'spark.{option}' cannot be set")


SIDE_BY_SIDE = """
jobs = []
for number in range(2):
    jobs.append(made(ENDLESS, number).start(RunOptions(), note))

def running():
    return all(job.metrics().get("queries") for job in jobs)

tick = threading.Event()
while not running():
    assert all(job.running for job in jobs), [job.wait(0) for job in jobs]
    tick.wait(0.2)
jobs[0].stop()
assert jobs[0].wait(120)
assert jobs[1].running and not none_left()
jobs[1].stop()
assert jobs[1].wait(120)
print("side by side", none_left())
made(SCRIPT, 3).run(RunOptions(), note)
print("again", none_left())
"""


TIMES = """
TIMED = ENDLESS.replace("(k INT)", "(k INT, p AS PROCTIME())")
TIMED = TIMED.replace("SELECT k, COUNT(*) FROM source GROUP BY k", '''
SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY p RANGE INTERVAL '6' SECOND PRECEDING)
FROM source''')
settings = Session(settings=fixed_settings(SMALL)).spark_settings("local[2]")
print(made(TIMED, 0).run(RunOptions(bounded=True), note), none_left())
spark = SparkSession.builder.config(map=settings).getOrCreate()
spark.conf.set("spark.sql.datetime.java8API.enabled", "false")
print(made(TIMED, 1).run(RunOptions(bounded=True), note, spark))
now = spark.sql("SELECT current_timestamp() AS t")._jdf.collectAsList().get(0).get(0)
print(now.getClass().getName())
"""


FAILS = """
for settings in (
    {"execution.mode": "real-time"},  # there is no topic to be asked for its partitions
    {"table.local-time-zone": "Nowhere"},
):
    session = Session(settings=fixed_settings({**SMALL, **settings}))
    session.load(ENDLESS.replace(TOPIC, "absent"), "job.sql", {"number": "0"})
    try:
        session.run(RunOptions(), note)
    except StreamtableError as error:
        print(error.condition.name, none_left())
"""


def test_several_jobs_in_a_process(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """A process runs several jobs.

    Two jobs with one sink name run side by side, two starts fail, and jobs keep times in state in
    any session.
    """
    source = topic("numbers")
    produce_json(broker.bootstrap_servers, source, ({"k": k % 3} for k in range(30)))
    text = "".join((f"TOPIC = '{source}'\n", SIDE_BY_SIDE, FAILS, TIMES))
    lines = _program(broker, source, text, tmp_path)
    assert [line for line in lines if not line.startswith("notice:")] == [
        "side by side True",
        "again True",
        "TOPIC_MISSING True",
        "INVALID_OPTION True",
        "None True",
        "None",
        "java.sql.Timestamp",
    ]


EXIT = """
settings = Session(settings=fixed_settings({{**SMALL, **{settings}}})).spark_settings("local[2]")
spark = SparkSession.builder.config(map=settings).getOrCreate()
made(SCRIPT, 0).run(RunOptions(), note, spark)
print(spark._jvm.ExitProbe.open("{local}").size() > 0)
spark._jvm.ExitProbe.atExit("{local}", "{found}")
"""


def test_state_stores_are_closed_before_the_end_of_the_jvm(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    # If a compaction fails while the JVM ends, RocksDB and the JVM wait for each other forever.
    probe = Path(__file__).with_name("ExitProbe.java")
    classes, local, found = (tmp_path / name for name in ("classes", "local", "found"))
    jars = pyspark_jars() / "*"
    subprocess.run([java_tool("javac"), "-cp", jars, "-d", classes, probe], check=True)
    settings = {
        "spark.local.dir": str(local),
        "spark.driver.extraClassPath": str(classes),
        "spark.sql.streaming.stateStore.maintenanceInterval": "10min",
    }
    text = EXIT.format(settings=settings, local=local, found=found)
    lines = _program(broker, topic("exit"), text, tmp_path)
    assert lines[-1] == "True"
    assert found.read_text() == ""
