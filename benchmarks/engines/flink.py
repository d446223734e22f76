"""Install Flink in a virtual environment in the cache folder, and run jobs in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.harness import processes
from streamtable.jvm.install.cache import cache_dir
from streamtable.jvm.install.tools import java_tool, pyspark_jars

VERSION = "2.2.0"
#: The second module contains the avro format, which Flink's wheel lacks.
MODULES = (
    ("org.apache.flink", "flink-sql-connector-kafka", "5.0.0-2.2"),
    ("org.apache.flink", "flink-sql-avro-confluent-registry", VERSION),
)

_RUNNING = re.compile(r"^(\S+ \S+) .*Source: .* switched from INITIALIZING to RUNNING", re.M)


@dataclass(frozen=True)
class Flink:
    """An installation of Flink.

    Attributes:
        python: the interpreter of its environment.
        jars: connectors, for `pipeline.jars`.
    """

    python: Path
    jars: tuple[Path, ...]


def installed() -> Flink:
    """Install Flink, its Kafka connector and avro at first use (about a minute, 700 MB)."""
    home = cache_dir() / f"benchmark-pyflink-{VERSION}"
    python, jars = home / "venv" / "bin" / "python", home / "jars"
    if not (home / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
        pip: list[str | Path] = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "setuptools<81",
            f"apache-flink=={VERSION}",
        ]
        subprocess.run(pip, check=True)
        (ivy,) = pyspark_jars().glob("ivy-*.jar")
        command: list[str | Path] = [java_tool("java"), "-jar", ivy, "-cache", home / "ivy"]
        to = f"{jars}/[artifact]-[revision].[ext]"
        for module in MODULES:
            more = ["-m2compatible", "-dependency", *module, "-confs", "default", "-retrieve", to]
            subprocess.run([*command, *more], check=True, stdout=subprocess.DEVNULL)
        (home / "complete").touch()
    return Flink(python, tuple(jars.glob("flink-sql-*.jar")))


def command(flink: Flink, script: str, settings: Mapping[str, str], folder: Path) -> list[str]:
    """Return the command that runs a script; its description is written to `folder`."""
    spec = folder / "job.json"
    jars = [str(jar) for jar in flink.jars]
    spec.write_text(json.dumps({"jars": jars, "settings": dict(settings), "script": script}))
    job = Path(__file__).with_name("flink_job.py")
    return [str(flink.python), str(job), str(spec)]


def run(
    flink: Flink, script: str, settings: Mapping[str, str], folder: Path, timeout_s: float
) -> tuple[processes.Used, float]:
    """Run a script to its end.

    Returns:
        The resources that it used, and the time when its sources began to read (epoch seconds),
            from Flink's log.
    """
    logs = folder / "logs"
    logs.mkdir()
    env = {"FLINK_LOG_DIR": str(logs), "PYTHONPATH": ""}
    start = command(flink, script, settings, folder)
    used = processes.run(start, env, folder / "out.log", timeout_s, folder / "checkpoint")
    begun = [
        datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S,%f").timestamp()
        for log in logs.glob("*.log")
        for stamp in _RUNNING.findall(log.read_text(errors="replace"))
    ]
    return used, min(begun)
