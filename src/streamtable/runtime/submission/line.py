"""Command line of spark-submit for a job, with the files that it names."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamtable.core.options import Settings
from streamtable.core.secrets import holds_secret, without_secrets
from streamtable.core.settings.job import JOB_NAME, PYTHON_FILES
from streamtable.core.settings.session import python_files
from streamtable.jvm.install.tools import pyspark_jars
from streamtable.jvm.property_files import properties
from streamtable.jvm.submitted import AT_LAUNCH
from streamtable.runtime.session.configuration import JARS
from streamtable.runtime.submission.packages import write_packages
from streamtable.runtime.submission.platform import platform_settings

#: The program that spark-submit starts.
PROGRAM = Path(__file__).parent / "program" / "streamtable_job.py"

#: Name of the folder, on the cluster, with the packages.
_PACKAGES = "streamtable_packages"

_DRIVER_PYTHON = "spark.pyspark.driver.python"
_PYTHON = "spark.pyspark.python"
_WORKER_PATH = "spark.executorEnv.PYTHONPATH"


@dataclass(frozen=True)
class Submission:
    """A job for spark-submit.

    Attributes:
        file: the script or job file.
        settings: the job's settings.
        found: all Spark settings of the job on this machine.
        shown: arguments of `streamtable run` that may be printed.
        hidden: arguments that may hold secrets, such as `--var`.
        master: Spark's master URL; None leaves it to `spark-defaults.conf`.
        in_cluster: whether the driver runs in the cluster.
        conf: further Spark settings, which precede ours.
        more_files: further files for the working directory of the driver.
        installed: whether the Python of the cluster has streamtable.
        packages: names of further Python packages for the cluster.
    """

    file: Path
    settings: Settings
    found: Mapping[str, str]
    shown: Sequence[str]
    hidden: Sequence[str]
    master: str | None
    in_cluster: bool
    conf: Mapping[str, str]
    more_files: Sequence[str] = ()
    installed: bool = False
    packages: Sequence[str] = ()


def spark_home() -> Path:
    """Return the folder of the Spark whose `spark-submit` runs; raises as `pyspark_jars`."""
    return pyspark_jars().parent


def spark_defaults() -> dict[str, str]:
    """Return the settings of `spark-defaults.conf`, which spark-submit reads."""
    folder = Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf")
    try:
        lines = (folder / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.replace("=", " ", 1).split(None, 1) for line in lines if line.strip())
    return {pair[0]: pair[-1].strip() for pair in pairs if not pair[0].startswith("#")}


def submit_line(job: Submission, folder: Path) -> list[str]:
    """Write the files of a job, and return the command line of spark-submit.

    Args:
        job: the job.
        folder: an empty folder, which only this user can read, for the files.

    Raises:
        StreamtableError: the errors of `write_packages`.
    """
    line = [str(spark_home() / "bin" / "spark-submit")]
    if job.master is not None:
        line += ["--master", job.master]
    line += ["--deploy-mode", "cluster" if job.in_cluster else "client"]
    line += ["--name", job.settings.get(JOB_NAME) or job.file.stem]
    conf = {**_launch_settings(job), **job.conf}
    hidden = [*job.hidden]
    files = [*job.more_files]
    if not job.in_cluster:
        line += ["--jars", job.found[JARS]]
    else:
        files.insert(0, str(job.file.absolute()))
        if not job.installed:
            archive = folder / f"{_PACKAGES}.zip"
            local = [Path(file) for file in python_files(job.settings)]
            placed = write_packages(archive, job.packages, local)
            line += ["--archives", f"{archive}#{_PACKAGES}"]
            conf.setdefault(_WORKER_PATH, _PACKAGES)
            if placed:
                paths = ",".join(f"{_PACKAGES}/{place}" for place in placed)
                hidden += ["--set", f"{PYTHON_FILES.key}={paths}"]
    secrets = {key: value for key, value in conf.items() if holds_secret(key, value)}
    for key, value in conf.items():
        if key not in secrets:
            line += ["--conf", f"{key}={value}"]
    if secrets:
        file = _private(folder / "secrets.conf", properties(secrets))
        line += ["--properties-file", str(file), "--load-spark-defaults"]
    before = []
    if hidden:
        file = _private(folder / "arguments.json", json.dumps(hidden))
        if job.in_cluster:
            files.append(str(file))
        before = ["--arguments-from", file.name if job.in_cluster else str(file)]
    if files:
        line += ["--files", ",".join(files)]
    script = job.file.name if job.in_cluster else str(job.file)
    return [*line, str(PROGRAM), *before, "run", script, *job.shown]


def shown_line(line: Sequence[str]) -> str:
    """Return a command line for a shell, with one option on each line, secrets masked."""
    parts: list[str] = []
    for word in line:
        quoted = shlex.quote(without_secrets(word))
        if word.startswith("--") or word == str(PROGRAM):
            parts.append(f" \\\n  {quoted}")
        else:
            parts.append(f" {quoted}" if parts else quoted)
    return "".join(parts)


def _launch_settings(job: Submission) -> dict[str, str]:
    """Return the settings that the driver's JVM reads when it starts, and the Pythons.

    As in a job, `spark-defaults.conf` precedes our defaults, and the script precedes both.
    """
    if job.in_cluster:
        needed = platform_settings(job.found, job.settings, job.master, None)
        secret = {key: value for key, value in needed.secrets.items() if key in AT_LAUNCH}
        launch = {**needed.launch, **secret}
    else:
        launch = {key: job.found[key] for key in AT_LAUNCH if key in job.found}
        launch[_DRIVER_PYTHON] = sys.executable
        if "PYSPARK_PYTHON" not in os.environ:
            launch[_PYTHON] = sys.executable
    own = {f"spark.{key}" for key in job.settings.passthrough}
    ours = {key: value for key, value in launch.items() if key not in spark_defaults()}
    return {**ours, **{key: launch[key] for key in own & launch.keys()}}


def _private(file: Path, text: str) -> Path:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return file
