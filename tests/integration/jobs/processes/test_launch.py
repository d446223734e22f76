"""The JVM that a job launches: its settings, its failures, its end. Each case is a process."""

from __future__ import annotations

import string
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import lit
from tests.integration.jobs.support import PATIENCE_S, Cli, run, write

from streamtable.jvm.property_files import properties
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE o (n INT) WITH ('connector' = 'blackhole');
INSERT INTO o VALUES (1);
"""

#: Starts a JVM ahead, prints its process, and ends the block without a Spark session.
UNUSED = """
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.session import launch
with launch.launched_ahead(SessionSettings().current(), "local[1]", False, print):
    print(launch._ahead._process.pid)
"""

#: Starts Spark as a job does, and as a program does that may use Spark itself; prints a setting.
OF_A_JOB = """
import sys
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.session.spark import start_spark
print(start_spark(SessionSettings().current(), "local[1]").conf.get(sys.argv[1]))
"""
OF_A_PROGRAM = """
import sys
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.session.sessions import hold_spark
print(hold_spark(SessionSettings().current(), "local[1]", lambda _: None)[0].conf.get(sys.argv[1]))
"""


KAFKA = """
CREATE TABLE s (k INT, v STRING) WITH ('connector' = 'kafka', 'topic' = '$source',
  'properties.bootstrap.servers' = '$servers', 'scan.startup.mode' = 'earliest-offset',
  'format' = 'json');
CREATE TABLE t (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '$sink', 'properties.bootstrap.servers' = '$servers',
  'key.format' = 'json', 'value.format' = 'json');
INSERT INTO t SELECT k, COUNT(v) FROM s GROUP BY k;
"""


def _python(program: str, *arguments: str) -> str:
    """Run a program, and return what it has printed."""
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout.strip()


def _command_lines(parent: int) -> set[str]:
    """Return the command lines of the processes that a process has started, and of theirs."""
    children: dict[int, list[Path]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # has ended
            continue
        children.setdefault(int(fields[1]), []).append(folder)
    found, todo = set(), [parent]
    while todo:
        for folder in children.get(todo.pop(), []):
            todo.append(int(folder.name))
            try:
                found.add((folder / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
    return found


def test_settings_are_not_on_a_command_line(tmp_path: Path) -> None:
    """Any user of a machine can list the command lines of its processes."""
    setting = "SET 'spark.hadoop.fs.s3a.secret.key' = 'hidden-value';"
    script = write(tmp_path / "job.sql", setting + SCRIPT)
    job = Cli.start("run", script, "--bounded", "--master", "local[1]")
    seen: set[str] = set()
    deadline = time.monotonic() + PATIENCE_S
    while job.process.poll() is None:
        seen |= _command_lines(job.process.pid)
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert job.process.returncode == 0
    assert any("org.apache.spark.deploy.SparkSubmit" in line for line in seen)
    assert not any("hidden-value" in line for line in seen)


def test_a_jvm_that_cannot_start_is_reported(tmp_path: Path) -> None:
    script = write(tmp_path / "job.sql", SCRIPT)
    code, _, said = run("run", script, "--bounded", "--set", "spark.driver.memory=1x")
    assert code == 1
    assert "Spark's JVM has ended: exit code 1 at its start" in said
    log = Path(said.partition("its output is in ")[2].partition(";")[0])
    assert "Invalid maximum heap size" in log.read_text()


def test_a_jvm_that_nobody_uses_ends() -> None:
    process = _python(UNUSED)
    assert process
    assert not Path("/proc", process).exists()


def test_spark_defaults_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.theirs   their value\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert _python(OF_A_JOB, "spark.theirs") == "their value"


def test_a_property_file_of_the_user_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "theirs.conf"
    file.write_text("spark.theirs   their value\n")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file {file} pyspark-shell")
    assert _python(OF_A_JOB, "spark.theirs") == "their value"


def test_java_reads_every_setting(spark: SparkSession, tmp_path: Path) -> None:
    settings = {
        "plain": "a value",
        "with spaces = : # !": "#a = b : c !",
        "#begins": "#no comment",
        "backslash": "C:\\temp\\new",
        "lines": "first\nsecond\r\n\tthird\f ",
        "words": "Grüße, 世界 😀",
        "empty": "",
    }
    file = tmp_path / "settings.conf"
    file.write_text(properties(settings), encoding="utf-8")
    jvm = spark._jvm
    assert jvm is not None
    found = jvm.java.util.Properties()
    found.load(jvm.java.io.InputStreamReader(jvm.java.io.FileInputStream(str(file)), "UTF-8"))
    assert {key: found.getProperty(key) for key in settings} == settings
    assert found.size() == len(settings)


#: Runs a command in this process. Prints which of these packages it has imported, and for each JVM
#: whether PySpark was imported when the JVM was launched.
COMMAND = """
import sys
from streamtable.cli.main import main
from streamtable.runtime.session import launch
launches = []
class Launch(launch.Launch):
    def __init__(self, *arguments):
        launches.append("pyspark" in sys.modules)
        super().__init__(*arguments)
launch.Launch = Launch
try:
    main()
finally:
    print(sorted({"numpy", "pandas", "pyarrow", "IPython"} & sys.modules.keys()), launches)
"""


def test_imports_of_commands(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """A command launches one JVM, before it imports PySpark.

    If numpy, pandas and pyarrow are installed, some functions of PySpark import them. A job does
    not use them.
    """
    values = {"source": topic("s"), "sink": topic("t"), "servers": broker.bootstrap_servers}
    produce_json(values["servers"], values["source"], [{"k": 1, "v": "a"}])
    script = write(tmp_path / "job.sql", string.Template(KAFKA).substitute(values))
    checkpoint = ["--checkpoint", str(tmp_path / "c")]
    for command, *options in (
        ("run", script, "--bounded", *checkpoint),
        ("read", script, "t"),
        ("prove", script, *checkpoint),
        ("why", script, "--table", "t", "--key", '{"k": 1}', *checkpoint),
        ("check", script),
    ):
        said = _python(COMMAND, command, *options, "--master", "local[1]").splitlines()[-1]
        assert said.endswith(" [False]"), command
        assert command != "run" or said.startswith("[] ")


@pytest.mark.parametrize(("program", "noted"), [(OF_A_JOB, "false"), (OF_A_PROGRAM, "true")])
def test_pyspark_notes_the_calls_of_programs(program: str, noted: str) -> None:
    assert _python(program, "spark.python.sql.dataFrameDebugging.enabled") == noted


def test_numpy_values_are_converted(spark: SparkSession) -> None:
    numpy = pytest.importorskip("numpy")
    one = spark.range(1).select(lit(numpy.int64(7)), lit(numpy.array([1, 2])))
    assert [tuple(row) for row in one.collect()] == [(7, [1, 2])]
