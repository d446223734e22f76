"""A class data sharing (CDS) archive of the classes of a job, which shortens the start of a JVM.

Without an archive, every start reads and verifies about 18,000 classes in 200 MB of jars. A job
over Kafka records the archive, once per Java, PySpark and list of libraries: the demo, which
`make setup` runs. A start without an archive still works.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamtable.jvm.install.cache import cache_dir
from streamtable.jvm.install.jars import PINNED
from streamtable.jvm.install.tools import java_tool, pyspark_jars
from streamtable.jvm.submitted import is_submitted

#: Java options of a driver. Without them, the JVM prints warnings about an archive to standard
#: output.
_QUIET = "-Xlog:disable -Xlog:all=warning:stderr"

#: Spark's variable for options of a driver's JVM.
_SPARK_OPTIONS = "SPARK_SUBMIT_OPTS"

#: The highest number of archives in the cache, 190 MB each. Those used last are kept.
_KEPT = 3

#: The age at which the file of an interrupted recording is deleted, in seconds.
_ABANDONED_S = 3600.0


def archive() -> Path:
    """Return the path of the archive for this Java and these jars; it may not exist."""
    parts = [java_tool("java").resolve(), pyspark_jars()]
    text = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in parts)
    key = hashlib.sha256(text.encode() + PINNED.read_bytes()).hexdigest()[:12]
    return cache_dir() / "classes" / f"spark-{key}.jsa"


def java_options() -> str:
    """Return the options of a driver that uses the archive; empty if there is no archive.

    A driver that spark-submit has started runs already, maybe on a machine without Spark's jars.
    """
    if is_submitted():
        return ""
    found = archive()
    if not found.exists():
        return ""
    with suppress(OSError):
        os.utime(found)
    return f"-XX:SharedArchiveFile={found} {_QUIET}"


@contextmanager
def recording(end: Callable[[], None]) -> Iterator[None]:
    """Create the archive of the JVM that the block launches, unless there is one.

    The archive is complete or absent: a block that fails, or a JVM that cannot write, leaves none.

    Args:
        end: ends the JVM and waits for its end, when it writes the archive.
    """
    wanted = archive()
    if wanted.exists() or not _is_writable(wanted.parent):
        yield
        return
    _delete_old(wanted.parent)
    draft = wanted.with_suffix(f".{os.getpid()}")
    given = os.environ.get(_SPARK_OPTIONS)
    option = f"-XX:ArchiveClassesAtExit={draft} {_QUIET}"
    os.environ[_SPARK_OPTIONS] = f"{given} {option}" if given else option
    whole = False
    try:
        yield
        whole = True
    finally:
        if given is None:
            del os.environ[_SPARK_OPTIONS]
        else:
            os.environ[_SPARK_OPTIONS] = given
        try:
            end()
            if whole and draft.exists():
                draft.replace(wanted)
        finally:
            draft.unlink(missing_ok=True)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _delete_old(folder: Path) -> None:
    """Delete archives in excess of the limit, and what interrupted recordings have left."""

    def used(path: Path) -> float:
        return path.stat().st_mtime

    kept = sorted(folder.glob("spark-*.jsa"), key=used)[1 - _KEPT :]
    for path in folder.glob("spark-*"):
        is_draft = path.suffix != ".jsa"
        if (is_draft and time.time() - used(path) > _ABANDONED_S) or (
            not is_draft and path not in kept
        ):
            path.unlink(missing_ok=True)
