"""If Spark or Java do not fit, the error is one line with the fix."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from streamtable.cli.main import cli
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.install import tools
from streamtable.jvm.install.installed_spark import SCALA, SPARK_MINORS, installed_spark
from streamtable.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.jvm.conftest import FakeJdk

_SCRIPT = """CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE p (a INT) WITH ('connector' = 'print');
INSERT INTO p SELECT a FROM t;
"""


def _spark(home: Path, core: str) -> Path:
    (home / "jars").mkdir(parents=True)
    (home / "jars" / core).touch()
    return home


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "job.sql"
    file.write_text(_SCRIPT)
    return file


def _refused(script: Path, *more: str) -> str:
    done = CliRunner().invoke(cli, ["run", str(script), *more])
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    return line


def test_the_installed_spark_fits() -> None:
    found = installed_spark()
    assert found.minor in SPARK_MINORS
    assert found.scala == SCALA
    assert found.version.startswith(found.minor)


@pytest.mark.parametrize(("version", "minor"), [("4.3.7-amzn-1", "4.3"), ("4.2.0", "4.2")])
def test_spark_home_takes_precedence(
    version: str, minor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _spark(tmp_path / "spark", f"spark-core_2.13-{version}.jar")
    monkeypatch.setenv("SPARK_HOME", str(home))
    found = installed_spark()
    assert (found.jars, found.version, found.minor) == (home / "jars", version, minor)


def test_the_python_folder_of_a_spark_distribution_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _spark(tmp_path / "spark", "spark-core_2.13-4.3.0.jar")
    (home / "python" / "pyspark").mkdir(parents=True)
    (home / "python" / "pyspark" / "__init__.py").touch()
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.syspath_prepend(str(home / "python"))
    assert installed_spark().jars == home / "jars"


@pytest.mark.parametrize(
    ("core", "words"),
    [
        ("spark-core_2.13-3.5.9.jar", "Spark 3.5.9 for Scala 2.13"),
        ("spark-core_2.13-4.1.4.jar", "has operators for Spark 4.2 and 4.3"),
        ("spark-core_2.13-4.4.0.jar", "has operators for Spark 4.2 and 4.3"),
        ("spark-core_2.13-4.30.0.jar", "Spark 4.30.0 for Scala 2.13"),
        ("spark-core_2.12-4.3.0.jar", "has operators for Spark 4.2 and 4.3 with Scala 2.13"),
    ],
)
def test_another_spark_is_refused_before_anything_is_created(
    core: str, words: str, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(_spark(tmp_path / "spark", core)))
    line = _refused(script, "--checkpoint", str(tmp_path / "checkpoint"))
    assert line.startswith("error: SPARK_VERSION")
    assert words in line
    assert "pip install 'pyspark==4.3.*'" in line
    assert not (tmp_path / "checkpoint").exists()


def test_a_spark_home_without_spark_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(StreamtableError, match=r"SPARK_HOME, .* has no folder 'jars'") as caught:
        installed_spark()
    assert caught.value.condition is Condition.SPARK_MISSING
    (tmp_path / "jars").mkdir()
    with pytest.raises(StreamtableError, match="no spark-core jar"):
        installed_spark()


def test_a_missing_pyspark_is_reported_with_the_pip_command(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "find_spec", lambda _: None)
    line = _refused(script, "--checkpoint", str(tmp_path / "checkpoint"))
    assert line.startswith("error: SPARK_MISSING: Spark was not found: this Python has no pyspark")
    assert "pip install 'streamtable[spark]'" in line
    assert not (tmp_path / "checkpoint").exists()
    demo = CliRunner().invoke(cli, ["demo", "--bounded"])
    assert demo.exit_code == 1
    assert demo.stderr == f"{line}\n"
    with pytest.raises(StreamtableError, match="SPARK_MISSING"):
        Session().spark_settings()


def test_an_old_java_version_is_refused(script: Path, jdk: FakeJdk, tmp_path: Path) -> None:
    jdk.install("11.0.2")
    line = _refused(script, "--checkpoint", str(tmp_path / "checkpoint"))
    assert line.startswith("error: JAVA_MISSING: java 17 or newer was not found")
    assert "is version 11" in line
    assert "install a Java runtime (JRE or JDK) 17 or newer" in line
    assert not (tmp_path / "checkpoint").exists()
    assert jdk.calls == 0
