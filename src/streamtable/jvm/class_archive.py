"""An archive of Spark's classes (class data sharing), out of which a JVM starts quickly.

Without one every start reads and checks some fifteen thousand classes out of 200 MB of jars.
`runtime.warm` makes it, once per Java and PySpark; a start that finds none does without.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from streamtable.jvm.cache import cache_dir
from streamtable.jvm.tools import java_tool, pyspark_jars

#: Java options for a driver; what the JVM thinks of an archive would else stand on standard output.
_QUIET = "-Xlog:disable -Xlog:all=warning:stderr"

#: Spark's own variable for options of a driver's JVM.
_SPARK_OPTIONS = "SPARK_SUBMIT_OPTS"

#: How many archives, of 180 MB each, stay in the cache.
_KEPT = 2


def archive() -> Path:
    """Where the archive is, or would be, for this Java and these very jars."""
    parts = [java_tool("java").resolve(), pyspark_jars()]
    text = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in parts)
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    return cache_dir() / "classes" / f"spark-{key}.jsa"


def java_options() -> str:
    """Options of a driver that starts out of the archive; empty where there is none."""
    found = archive()
    return f"-XX:SharedArchiveFile={found} {_QUIET}" if found.exists() else ""


def make(command: Sequence[str | Path]) -> Path:
    """Makes the archive, unless it is there.

    Args:
        command: runs Spark with what a job needs, and ends when its JVM has ended.

    Raises:
        subprocess.CalledProcessError: the command failed; nothing is left behind.
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
