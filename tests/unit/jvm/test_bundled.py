from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamtable.devbroker.jars import broker_jars
from streamtable.jvm.install import bundled
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.installed_spark import SPARK_MINORS, installed_spark
from streamtable.jvm.install.jars import connector_jars

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.jvm.conftest import FakeJdk

_JARS = {minor: f"streamtable-operators_{minor}_2.13-1.0-abc.jar" for minor in SPARK_MINORS}


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an installed wheel, with a jar for each Spark and a connector."""
    pinned = connector_jars()[0].parent.name  # the folder of the pinned versions
    own = tmp_path / "bundled"
    operators = [("operators", jar) for jar in _JARS.values()]
    for folder, name in (*operators, (pinned, "connector.jar")):
        (own / folder).mkdir(parents=True, exist_ok=True)
        (own / folder / name).touch()
    monkeypatch.setattr(bundled, "_OWN", own)
    return own


def test_bundled_jars_are_neither_compiled_nor_fetched(jdk: FakeJdk, carried: Path) -> None:
    before = jdk.calls
    jdk.broken.touch()
    assert operators_jar() == carried / "operators" / _JARS[installed_spark().minor]
    assert [jar.name for jar in connector_jars()] == ["connector.jar"]
    assert jdk.calls == before


@pytest.mark.parametrize(
    ("version", "minor"), [("4.2.0", "4.2"), ("4.2.1-emr-2", "4.2"), ("4.3.0", "4.3")]
)
def test_the_jar_of_the_installed_spark_is_used(
    version: str, minor: str, carried: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / f"spark-core_2.13-{version}.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    assert operators_jar() == carried / "operators" / _JARS[minor]


def test_operators_for_another_spark_are_not_used(carried: Path) -> None:
    assert bundled.bundled_operators("4.3", "2.13") == carried / "operators" / _JARS["4.3"]
    assert bundled.bundled_operators("4.4", "2.13") is None
    assert bundled.bundled_operators("4.3", "2.12") is None


@pytest.mark.usefixtures("carried")
def test_a_custom_ivy_file_overrides_the_bundled_jars(
    jdk: FakeJdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "ivy.xml"
    own.write_text("<ivy-module/>")
    monkeypatch.setenv("STREAMTABLE_IVY_FILE", str(own))
    before = jdk.calls
    assert [jar.name for jar in connector_jars()] == ["thing-1.0.jar"]
    assert jdk.calls == before + 1


def test_broker_jars_come_from_the_broker_wheel(
    jdk: FakeJdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = broker_jars()[0].parent.name
    package = tmp_path / "site" / "streamtable_broker"
    (package / folder).mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / folder / "kafka.jar").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    before = jdk.calls
    assert [jar.name for jar in broker_jars()] == ["kafka.jar"]
    assert jdk.calls == before
