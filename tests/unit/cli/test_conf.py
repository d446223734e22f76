"""`streamtable conf`: the settings that a job needs, in the forms that platforms read."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from click.testing import CliRunner, Result

from streamtable.cli.main import cli
from streamtable.core.settings.spark import FIXED
from streamtable.session import Session

_MACHINE = (
    "spark.driver.host",
    "spark.driver.bindAddress",
    "spark.master",
    "spark.shuffle.manager.incremental",
    "spark.ui.enabled",
)


def _conf(*arguments: str) -> Result:
    done = CliRunner().invoke(cli, ["conf", *arguments])
    assert done.exit_code == 0, done.output
    return done


def test_json_has_the_session_settings() -> None:
    found = json.loads(_conf("--format", "json").stdout)
    for key, setting in FIXED.items():
        assert found[key] == setting.value
    assert found["spark.sql.extensions"] == "io.streamtable.query.StateOrder"
    assert not set(found) & set(_MACHINE)
    whole = Session().spark_settings()
    options = {key for key in found if key.endswith("JavaOptions")}
    assert {key: found[key] for key in set(found) - options} == {
        key: whole[key] for key in set(found) - options
    }
    assert "file:" not in str(found)  # the log settings and the class archive of this machine
    assert "SharedArchiveFile" not in str(found)


def test_every_output_format_has_the_same_settings(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(
        "SET 'parallelism.default' = '7';\nSET 'spark.driver.memory' = '3g';\n"
        "SET 'pipeline.name' = 'counts of words';\n"
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');\n"
        "CREATE TABLE p (a INT) WITH ('connector' = 'print');\n"
        "INSERT INTO p SELECT a FROM t;\n"
    )
    found = json.loads(_conf(str(script), "--format", "json").stdout)
    assert found["spark.sql.shuffle.partitions"] == "7"
    assert found["spark.driver.memory"] == "3g"
    assert found["spark.app.name"] == "counts of words"
    lines = _conf(str(script)).stdout.splitlines()
    pairs = [line.split(" ", 1) for line in lines if not line.startswith("#")]
    assert dict(pairs) == found
    words = shlex.split(_conf(str(script), "--format", "conf").stdout)
    assert words[::2] == ["--conf"] * len(found)
    assert dict(word.split("=", 1) for word in words[1::2]) == found


def test_launch_has_only_jvm_start_settings() -> None:
    found = json.loads(_conf("--launch", "--format", "json").stdout)
    assert set(found) == {"spark.driver.memory", "spark.driver.defaultJavaOptions"}


def test_jars_are_named_in_the_given_folder() -> None:
    here = json.loads(_conf("--format", "json").stdout)["spark.jars"].split(",")
    there = json.loads(_conf("--format", "json", "--jars", "s3://b/jars/").stdout)["spark.jars"]
    assert there.split(",") == [f"s3://b/jars/{Path(jar).name}" for jar in here]


def test_a_master_sets_the_driver_host() -> None:
    found = json.loads(_conf("--format", "json", "--master", "spark://127.0.0.1:7077").stdout)
    assert found["spark.master"] == "spark://127.0.0.1:7077"
    assert found["spark.driver.host"] == "127.0.0.1"


def test_secrets_are_left_out() -> None:
    done = _conf("--set", "spark.hadoop.fs.s3a.secret.key=hunter22", "--format", "json")
    assert "hunter22" not in done.output
    assert "spark.hadoop.fs.s3a.secret.key" not in json.loads(done.stdout)
    assert "'spark.hadoop.fs.s3a.secret.key' is left out" in done.stderr


def test_a_wrong_script_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("INSERT INTO nowhere SELECT 1;")
    done = CliRunner().invoke(cli, ["conf", str(script)])
    assert done.exit_code == 1
    assert "nowhere" in done.stderr


def test_secrets_inside_of_values_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("hunter22\n")
    script = tmp_path / "job.sql"
    script.write_text(
        "SET 'spark.driver.extraJavaOptions' ="
        f" '-Djavax.net.ssl.trustStorePassword=${{file:{tmp_path}/pw}}';\n"
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');\n"
        "CREATE TABLE p (a INT) WITH ('connector' = 'print');\n"
        "INSERT INTO p SELECT a FROM t;\n"
    )
    done = _conf(str(script), "--format", "json")
    assert "hunter22" not in done.output
    assert "spark.driver.extraJavaOptions" not in json.loads(done.stdout)
    assert "'spark.driver.extraJavaOptions' is left out" in done.stderr
