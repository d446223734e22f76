"""The jars of functions that tests compile against Flink's API."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from streamtable.jvm.install.jars import JarSet
from streamtable.jvm.install.tools import java_tool

_HERE = Path(__file__).parent
_API = JarSet("flink-api", "Flink's API for tests", "4 jars, 4 MB", _HERE / "ivy.xml")


@pytest.fixture(scope="session")
def flink_api() -> list[Path]:
    """Return the jars of Flink's API."""
    return _API.jars()


@pytest.fixture(scope="session")
def functions_jar(flink_api: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the functions of the tests; return their jar."""
    folder = tmp_path_factory.mktemp("functions")
    class_path = ":".join(map(str, flink_api))
    sources = sorted(_HERE.glob("*.java"))
    command = [java_tool("javac"), "-proc:none", "-cp", class_path, "-d", folder / "out", *sources]
    subprocess.run(command, check=True)
    jar = folder / "functions.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for file in (folder / "out").rglob("*.class"):
            archive.write(file, file.relative_to(folder / "out"))
    return jar


@pytest.fixture
def add_jars(flink_api: list[Path], functions_jar: Path) -> str:
    """Return the statements that add all jars."""
    return "".join(f"ADD JAR '{jar}';\n" for jar in [functions_jar, *flink_api])
