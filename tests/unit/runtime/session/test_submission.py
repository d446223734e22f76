"""The command line of spark-submit, its files, and input that is refused before the submit."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

from streamtable.cli.main import cli
from streamtable.core.secrets import hide
from streamtable.jvm.install.installed_spark import installed_spark
from streamtable.jvm.install.tools import java_tool
from streamtable.runtime.submission.line import PROGRAM

SCRIPT = """
CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE p (a INT) WITH ('connector' = 'print');
INSERT INTO p SELECT a FROM t WHERE a <> ${least};
"""
_VAR = ("--var", "least=471147")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    file = tmp_path / "job.sql"
    file.write_text(SCRIPT)
    return file


def _submit(script: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["submit", str(script), *_VAR, *arguments])


def _line(script: Path, *arguments: str) -> list[str]:
    done = _submit(script, *arguments, "--dry-run")
    assert done.exit_code == 0, done.output
    return _words(done)


def _words(done: Result) -> list[str]:
    """Return the words of a printed command; as in a shell, a backslash continues the line."""
    return shlex.split(done.stdout.replace("\\\n", ""))


def _after(line: list[str], option: str) -> str:
    return line[line.index(option) + 1]


def _conf(line: list[str]) -> dict[str, str]:
    pairs = (word.split("=", 1) for at, word in enumerate(line) if line[at - 1] == "--conf")
    return dict(pairs)


def test_client_mode(script: Path) -> None:
    line = _line(script, "--bounded", "--checkpoint", "c", "--conf", "spark.driver.memory=3g")
    assert line[0].endswith("/bin/spark-submit")
    assert _after(line, "--deploy-mode") == "client"
    assert "--master" not in line
    assert "streamtable-operators" in _after(line, "--jars")
    assert _conf(line)["spark.driver.memory"] == "3g"
    assert _conf(line)["spark.pyspark.python"] == sys.executable
    program = line[line.index(str(PROGRAM)) :]
    assert program[1] == "--arguments-from"
    assert program[3:] == ["run", str(script), "--bounded", "--checkpoint", "c"]
    hidden = Path(program[2])
    assert json.loads(hidden.read_text()) == ["--var", "least=471147"]
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    assert "471147" not in " ".join(line)


def test_secret_settings_are_passed_in_a_file(script: Path) -> None:
    key = "spark.hadoop.fs.s3a.secret.key"
    done = _submit(script, "--conf", f"{key}=hunter22\\", "--dry-run")
    assert "hunter22" not in done.output
    line = _words(done)
    assert "--load-spark-defaults" in line
    file = Path(_after(line, "--properties-file"))
    assert file.read_text() == f"{key}=hunter22\\\\\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_settings_with_known_secrets_are_passed_in_a_file(
    mode: str, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    (tmp_path / "pw").write_text("hunter22\n")
    key, option = "spark.driver.extraJavaOptions", "-Djavax.net.ssl.trustStorePassword="
    script.write_text(f"SET '{key}' = '{option}${{file:{tmp_path}/pw}}';\n{SCRIPT}")
    where = ("--master", "yarn", "--deploy-mode", mode, "--installed")
    done = _submit(script, *(where if mode == "cluster" else ()), "--dry-run")
    assert done.exit_code == 0, done.output
    assert "hunter22" not in done.output
    line = _words(done)
    assert key not in _conf(line)
    (found,) = Path(_after(line, "--properties-file")).read_text().splitlines()
    assert found.startswith(f"{key}=")
    assert found.endswith(f"{option}hunter22")


def test_a_printed_line_has_no_secret(script: Path) -> None:
    hide("hunter22")
    done = _submit(script, "--checkpoint", "hunter22/c", "--dry-run")
    assert "hunter22" not in done.output
    assert _after(_words(done), "--checkpoint") == "****/c"


def test_defaults_of_the_cluster_override_ours(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("# ours\nspark.driver.memory   9g\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert "spark.driver.memory" not in _conf(_line(script))
    given = _conf(_line(script, "--set", "spark.driver.memory=3g"))
    assert given["spark.driver.memory"] == "3g"


def test_cluster_mode_ships_script_and_packages(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    line = _line(script, "--master", "yarn", "--deploy-mode", "cluster", "--files", "a.pem")
    files = _after(line, "--files").split(",")
    assert [Path(file).name for file in files] == ["job.sql", "a.pem", "arguments.json"]
    program = line[line.index(str(PROGRAM)) :]
    assert program[1:] == ["--arguments-from", "arguments.json", "run", "job.sql"]
    assert not {"spark.pyspark.python", "spark.pyspark.driver.python"} & set(_conf(line))
    assert "file:" not in str(_conf(line))
    archive, _, folder = _after(line, "--archives").partition("#")
    # As on the driver of a cluster: only the shipped packages, no installed packages.
    work = tmp_path / "container"
    work.mkdir()
    with ZipFile(archive) as packed:
        packed.extractall(work / folder)
    (work / "job.sql").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-S", "-E", PROGRAM, "validate", "job.sql", *_VAR],
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "job.sql: valid, 1 INSERT(s)\n"
    spark = installed_spark()
    call = f"b.bundled_operators('{spark.minor}', '{spark.scala}')"
    found = f"import streamtable.jvm.install.bundled as b; print({call})"
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", f"import sys; sys.path.insert(0, {folder!r}); {found}"],
        cwd=work,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip().endswith(".jar")
    # The packages have native code for this minor version of Python.
    (work / folder / "python").write_text("3.2\n")
    done = subprocess.run(
        [sys.executable, PROGRAM, "--version"],
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "packages for Python 3.2, but the driver runs Python 3." in done.stderr


def test_installed_packages_are_not_shipped(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    line = _line(script, "--master", "yarn", "--deploy-mode", "cluster", "--installed")
    assert "--archives" not in line
    assert "spark.executorEnv.PYTHONPATH" not in _conf(line)


CLUSTER = ("--deploy-mode", "cluster")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--master", "local[2]", *CLUSTER), "on this machine only. Hint: remove --deploy-mode"),
        (("--master", "spark://127.0.0.1:1"), "127.0.0.1:1: Connection refused"),
        (("--master", "yarn"), "set HADOOP_CONF_DIR to the folder with the cluster's yarn-site"),
        ((*CLUSTER, "--checkpoint", "c"), "give an absolute path that all machines share"),
        (
            (*CLUSTER, "--package", "nowhere"),
            "this Python does not have it. Hint: pip install nowhere",
        ),
        (("--conf", "spark.executr.memory=1g"), "did you mean 'spark.executor.memory'"),
        (("--conf", "spark.sql.ansi.enabled=true"), "its value is always 'false'"),
        (("--conf", "spark.master=yarn"), "set --master"),
        (("--var", "least=x y z"), "job.sql"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    script: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    done = _submit(script, *arguments)
    assert done.exit_code == 1
    assert message in done.stderr
    assert "spark-submit \\" not in done.output


def test_packages_need_cluster_mode(script: Path) -> None:
    done = _submit(script, "--installed")
    assert done.exit_code == 2
    assert "--deploy-mode cluster" in done.stderr


def test_an_old_java_is_refused(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.22\" 2024-01-16' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    java_tool.cache_clear()
    try:
        done = _submit(script)
    finally:
        java_tool.cache_clear()
    assert done.exit_code == 1
    assert f"{java} is version 11" in done.stderr
    assert "install a Java runtime (JRE or JDK) 17 or newer" in done.stderr
    assert len(done.stderr.splitlines()) == 1
