"""The wheels for a package index: their contents, and the same bytes from a second build."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from streamtable import __version__
from streamtable.jvm.install.installed_spark import SPARK_MINORS

ROOT = Path(__file__).parents[2]
_TARGET = re.compile(r"\]\(([^)]+)\)")
_WHEEL = f"streamtable-{__version__}-py3-none-any.whl"
_BROKER = f"streamtable_broker-{__version__}-py3-none-any.whl"
_SDIST = f"streamtable-{__version__}.tar.gz"


def _built(folder: Path) -> Path:
    command = [sys.executable, "-m", "tools.wheels", "--into", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(dist: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(dist / _WHEEL)


def test_a_build_is_two_wheels_and_the_sources(dist: Path) -> None:
    assert {path.name for path in dist.iterdir()} == {_WHEEL, _BROKER, _SDIST, "SHA256SUMS"}


@pytest.mark.soak
def test_a_second_build_gives_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    again = _built(tmp_path)
    for name in (_WHEEL, _BROKER, _SDIST, "SHA256SUMS"):
        assert (dist / name).read_bytes() == (again / name).read_bytes(), name


def test_the_description_has_no_link_into_the_checkout(wheel: zipfile.ZipFile) -> None:
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    metadata = message_from_string(wheel.read(name).decode())
    text = str(metadata.get_payload())
    assert "streamtable runs Flink SQL scripts" in text
    assert [target for target in _TARGET.findall(text) if not re.match(r"https?://", target)] == []
    urls = [url.split(", ", 1)[1] for url in metadata.get_all("Project-URL", [])]
    assert [url for url in urls if not re.match(r"https?://", url)] == []
    required = metadata.get_all("Requires-Dist", [])
    assert [line for line in required if "pyspark" in line and "extra" not in line] == []
    assert metadata["Version"] == __version__


def test_the_wheel_has_the_type_marker_and_data_files(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert "streamtable/py.typed" in names
    assert "streamtable/core/settings/spark.txt" in names
    assert "streamtable/demo/pageviews.sql" in names


def test_the_wheel_carries_the_operators_and_the_connector(wheel: zipfile.ZipFile) -> None:
    jars = [name for name in wheel.namelist() if name.endswith(".jar")]
    folders = {re.sub(r"-[0-9a-f]{12}$", "", str(Path(jar).parent)) for jar in jars}
    assert folders == {"streamtable/jvm/bundled/operators", "streamtable/jvm/bundled/spark"}
    operators = [jar for jar in jars if "/operators/" in jar]
    assert len(operators) == len(SPARK_MINORS)
    for minor in SPARK_MINORS:
        (jar,) = (jar for jar in operators if f"-operators_{minor}_" in jar)
        inside = zipfile.ZipFile(io.BytesIO(wheel.read(jar))).namelist()
        assert "io/streamtable/kafka/write/KafkaWriter.class" in inside
        assert [name for name in inside if name.startswith("io/streamtable/testing/")] == []
    assert any("kafka-clients" in jar for jar in jars)
    assert any("spark-sql-kafka" in jar for jar in jars)


@pytest.mark.parametrize("name", [_WHEEL, _BROKER])
def test_every_fetched_jar_has_its_licence(dist: Path, name: str) -> None:
    archive = zipfile.ZipFile(dist / name)
    fetched = {
        Path(entry).stem
        for entry in archive.namelist()
        if entry.endswith(".jar") and "/operators/" not in entry
    }
    licensed = {
        Path(entry).parent.name
        for entry in archive.namelist()
        if "/licences/" in entry and re.match("licen[cs]e|copying", Path(entry).name.lower())
    }
    assert len(fetched) == (14 if name == _WHEEL else 46)
    assert fetched == licensed


def test_the_source_distribution_has_the_files_to_build_wheels(dist: Path) -> None:
    with tarfile.open(dist / _SDIST) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    needed = ("Makefile", "README.md", "LICENSE", "pyproject.toml", "tools/wheels.py")
    assert set(needed) <= names
    assert {"hatch/bundle.py", "packages/broker/pyproject.toml"} <= names
    assert "src/streamtable/jvm/java/io/streamtable/kafka/write/KafkaWriter.java" in names
    assert [name for name in names if name.endswith((".jar", ".class", ".pyc"))] == []


def test_the_broker_extra_requires_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["broker"] == [f"streamtable-broker=={__version__}"]
