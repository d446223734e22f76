"""A class data sharing (CDS) archive of Spark's classes, which shortens the start of a JVM.

Without an archive, every start reads and verifies about 15,000 classes in 200 MB of jars.
`runtime.warm` creates the archive, once per Java and PySpark. A start without an archive still
works.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from streamtable.jvm.cache import cache_dir
from streamtable.jvm.submitted import is_submitted
from streamtable.jvm.tools import java_tool, pyspark_jars

#: Java options of a driver. Without them, the JVM prints warnings about an archive to standard
#: output.
_QUIET = "-Xlog:disable -Xlog:all=warning:stderr"

#: Spark's variable for options of a driver's JVM.
_SPARK_OPTIONS = "SPARK_SUBMIT_OPTS"

#: The highest number of archives in the cache, 180 MB each.
_KEPT = 2


def archive() -> Path:
    """Return the path of the archive for this Java and these jars; it may not exist."""
    parts = [java_tool("java").resolve(), pyspark_jars()]
    text = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in parts)
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    return cache_dir() / "classes" / f"spark-{key}.jsa"


def java_options() -> str:
    """Return the options of a driver that uses the archive; empty if there is no archive.

    A driver that spark-submit has started runs already, maybe on a machine without Spark's jars.
    """
    if is_submitted():
        return ""
    found = archive()
    return f"-XX:SharedArchiveFile={found} {_QUIET}" if found.exists() else ""


def make(command: Sequence[str | Path]) -> Path:
    """Create the archive if it does not exist.

    Args:
        command: runs Spark with the classes of a job, and ends after its JVM has ended.

    Raises:
        subprocess.CalledProcessError: the command failed; no file remains.
    """
    wanted = archive()
    if wanted.exists():
        return wanted
    wanted.parent.mkdir(parents=True, exist_ok=True)
    draft = wanted.with_suffix(f".{os.getpid()}")
    making = {_SPARK_OPTIONS: f"-XX:ArchiveClassesAtExit={draft} {_QUIET}"}
    try:
        subprocess.run(  # noqa: S603 - our own interpreter
            command, check=True, env={**os.environ, **making}, stdin=subprocess.DEVNULL
        )
        draft.replace(wanted)
    finally:
        draft.unlink(missing_ok=True)
    ages = sorted(wanted.parent.glob("spark-*.jsa"), key=lambda path: path.stat().st_mtime)
    for old in ages[:-_KEPT]:
        old.unlink(missing_ok=True)
    return wanted
