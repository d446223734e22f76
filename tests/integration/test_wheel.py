"""The wheels as users install them: with a Java runtime, without compiler, cache or network.

`make test-wheel` runs these tests on the output of `make wheel`. Dependencies come from the package
index. The variable SPARK names the minor version of PySpark. Without it, pip installs the newest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from streamtable import __version__
from streamtable.jvm.install.installed_spark import SPARK_MINORS
from streamtable.jvm.install.tools import java_tool

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[2]

# In namespaces of its own: sets up the loopback interface and a read-only cache, runs a program.
_CUT = """
import fcntl, os, socket, struct, subprocess, sys
IFF_UP, SIOCSIFFLAGS = 1, 0x8914
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", sys.argv[1]], check=True)
os.execvp(sys.argv[2], sys.argv[2:])
"""
_SCRIPT = """CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE p (a INT) WITH ('connector' = 'print');
INSERT INTO p SELECT a FROM t;
"""


@dataclass(frozen=True)
class Machine:
    """An environment with streamtable, without a network.

    Attributes:
        cut: the command that runs another command without a network; empty if only proxies refuse.
    """

    venv: Path
    folder: Path
    cache: Path
    environment: dict[str, str]
    cut: list[str]

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*self.cut, str(self.venv / "bin" / program), *arguments]
        return subprocess.run(
            command,
            check=False,
            text=True,
            capture_output=True,
            cwd=self.folder,
            env=self.environment,
            timeout=300,
        )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    dist = ROOT / "dist"
    assert list(dist.glob("streamtable-*.whl")), "run `make wheel` first"
    home = tmp_path_factory.mktemp("machine")
    subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
    wanted = f"streamtable[spark,broker]=={__version__}"
    pip = [home / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet", "--only-binary"]
    pip += ["streamtable,streamtable-broker", "--find-links", dist, wanted]
    if os.environ.get("SPARK"):
        pip.append(f"pyspark=={os.environ['SPARK']}.*")
    outside = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run(pip, check=True, env=outside)
    (home / "elsewhere").mkdir()
    environment = {"PATH": str(_programs(home)), "JAVA_HOME": str(_jre(home)), "LANG": "C.UTF-8"}
    environment["HOME"] = str(home / "elsewhere")
    (home / "cache").mkdir()
    cut = _cutter(home / "cache")
    cache = home / "cache"
    if not cut:
        (home / "file").touch()
        cache = home / "file" / "cache"
        refusing = "http://127.0.0.1:9"
        environment |= {"http_proxy": refusing, "https_proxy": refusing}
        ports = "-Dhttp.proxyPort=9 -Dhttps.proxyPort=9"
        environment["JAVA_TOOL_OPTIONS"] = (
            f"-Dhttp.proxyHost=127.0.0.1 -Dhttps.proxyHost=127.0.0.1 {ports}"
        )
    environment["STREAMTABLE_CACHE"] = str(cache)
    return Machine(home / "venv", home / "elsewhere", cache, environment, cut)


def _jre(home: Path) -> Path:
    """Create a JAVA_HOME with `java` and `keytool` only."""
    tools = java_tool("java").resolve().parent
    (home / "jre" / "bin").mkdir(parents=True)
    for name in ("java", "keytool"):
        (home / "jre" / "bin" / name).symlink_to(tools / name)
    return home / "jre"


def _programs(home: Path) -> Path:
    """Create a folder with the programs of the system, without the programs of a JDK."""
    of_a_jdk = {path.name for path in java_tool("java").resolve().parent.iterdir()}
    bin_folder = home / "bin"
    bin_folder.mkdir()
    for folder in ("/usr/sbin", "/usr/bin", "/sbin", "/bin"):
        for path in Path(folder).iterdir() if Path(folder).is_dir() else ():
            link = bin_folder / path.name
            if path.name not in of_a_jdk and not link.is_symlink():
                link.symlink_to(path)
    return bin_folder


def _cutter(cache: Path) -> list[str]:
    """Return the command that runs another command without a network; empty if not allowed."""
    for more in ([], ["--map-root-user"]):
        command = ["unshare", *more, "--net", "--mount", sys.executable, "-c", _CUT, str(cache)]
        if (
            shutil.which("unshare")
            and not subprocess.run([*command, "true"], check=False, capture_output=True).returncode
        ):
            return command
    return []


def test_the_wheel_carries_operators_for_every_spark() -> None:
    (wheel,) = (ROOT / "dist").glob("streamtable-*.whl")
    jars = re.findall(
        r"operators/\S+operators_([\d.]+)_2.13-", "\n".join(ZipFile(wheel).namelist())
    )
    assert sorted(jars) == list(SPARK_MINORS)


def test_the_demo_runs_without_downloads(machine: Machine) -> None:
    if machine.cut:
        listed = machine.run("python", "-c", "import socket; print(socket.if_nameindex())")
        assert listed.stdout == "[(1, 'lo')]\n"
    assert shutil.which("javac", path=machine.environment["PATH"]) is None
    done = machine.run("streamtable", "demo", "--bounded", "--events", "20000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the table matches the produced page views" in done.stdout
    assert "fetching" not in done.stderr
    assert not machine.cache.exists() or list(machine.cache.iterdir()) == []
    assert list(machine.folder.iterdir()) == []


def test_jars_outside_the_wheels_need_a_cache_folder(machine: Machine) -> None:
    program = "from streamtable.devbroker.jars import registry_home; registry_home()"
    done = machine.run("python", "-c", program)
    assert done.returncode != 0
    assert "set STREAMTABLE_CACHE to a folder that can be written" in done.stderr


def test_missing_pyspark_is_reported_in_one_line(machine: Machine, tmp_path: Path) -> None:
    (pyspark,) = machine.venv.glob("lib/python*/site-packages/pyspark")
    hidden = pyspark.with_name("hidden")
    script = tmp_path / "job.sql"
    script.write_text(_SCRIPT)
    pyspark.rename(hidden)
    try:
        assert machine.run("streamtable", "validate", str(script)).returncode == 0
        for arguments in (("run", str(script)), ("demo", "--bounded")):
            done = machine.run("streamtable", *arguments)
            assert done.returncode == 1
            (line,) = done.stderr.splitlines()
            assert line.startswith("error: SPARK_MISSING")
            assert "pip install 'streamtable[spark]'" in line
    finally:
        hidden.rename(pyspark)


def test_the_source_distribution_builds_a_wheel(tmp_path: Path) -> None:
    (source,) = (ROOT / "dist").glob("streamtable-*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, source]
    subprocess.run(pip, check=True)
    assert [path.name for path in tmp_path.iterdir()] == [
        f"streamtable-{__version__}-py3-none-any.whl"
    ]
