"""Kafka's jars, fetched once: Spark's connector and a whole broker; and a schema registry.

Versions stand in `ivy.xml`; the Ivy that travels inside PySpark resolves them, so that a user
needs Python and Java but no Maven. Each conf of the file becomes one folder of the cache, named by
the file's hash: another version list is another folder, and a folder that exists is complete.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.cache import cache_dir, locked
from streamtable.jvm.tools import java_tool, pyspark_jars

_PINNED = Path(__file__).with_name("ivy.xml")
_TIMEOUT_SECONDS = 900
_SHOWN_LINES = 6


@dataclass(frozen=True)
class _Conf:
    """A conf of the Ivy file; `size` is what the pinned file amounts to.

    Attributes:
        file: where it stands; an archive has one of its own, with settings beside it.
    """

    name: str
    what: str
    size: str
    file: Path = _PINNED

    @property
    def is_archive(self) -> bool:
        return self.file != _PINNED

    @property
    def more(self) -> tuple[str | Path, ...]:
        """Further arguments for Ivy."""
        if not self.is_archive:
            return ()
        return ("-settings", self.file.with_name(f"{self.file.stem}-settings.xml"), "-types", _TAR)


_TAR = "tar.gz"
_SPARK = _Conf("spark", "Kafka's connector for Spark", "5 jars, 11 MB")
_BROKER = _Conf("broker", "Kafka's broker", "46 jars, 44 MB")
_REGISTRY = _Conf(
    "registry", "a schema registry", "104 MB", Path(__file__).with_name("ivy-registry.xml")
)


def connector_jars() -> list[Path]:
    """The jars Spark needs to reach Kafka, fetched if this is the first time.

    Raises:
        StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, FILE_UNREADABLE.
    """
    return sorted(_folder(_SPARK).glob("*.jar"))


def broker_jars() -> list[Path]:
    """The class path of a Kafka broker, fetched if this is the first time.

    Raises:
        StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, FILE_UNREADABLE.
    """
    return sorted(_folder(_BROKER).glob("*.jar"))


def registry_home() -> Path:
    """The folder of a schema registry, unpacked, fetched if this is the first time.

    Raises:
        StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, FILE_UNREADABLE.
    """
    return _folder(_REGISTRY)


def _folder(conf: _Conf) -> Path:
    given = None if conf.is_archive else os.environ.get("STREAMTABLE_IVY_FILE")
    ivy_file = Path(given or conf.file)
    try:
        digest = hashlib.sha256(ivy_file.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise StreamtableError(
            Condition.FILE_UNREADABLE,
            hint="STREAMTABLE_IVY_FILE must name a file, or be unset",
            path=ivy_file,
            reason=error.strerror,
        ) from error
    root = cache_dir() / "jars"
    folder = root / f"{conf.name}-{digest}"
    if not folder.is_dir():
        with locked(root / "lock"):
            if not folder.is_dir():
                _fetch(conf, ivy_file, folder)
    return folder


def _fetch(conf: _Conf, ivy_file: Path, folder: Path) -> None:
    """Fill a folder beside the final one, then rename it: it appears complete or not at all."""
    size = f" ({conf.size})" if ivy_file == conf.file else ""
    sys.stderr.write(f"fetching {conf.what}{size} ... ")
    sys.stderr.flush()
    begun = time.monotonic()
    partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        _run_ivy(conf, ivy_file, partial)
        if conf.is_archive:
            _unpack(partial)
        partial.chmod(0o755)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        sys.stderr.write(f"{time.monotonic() - begun:.0f} s\n")


def _run_ivy(conf: _Conf, ivy_file: Path, into: Path) -> None:
    ivy_jar = next(pyspark_jars().glob("ivy-*.jar"), None)
    if ivy_jar is None:
        raise _unavailable(conf, "this PySpark carries no Ivy")
    command: list[str | Path] = [
        *(java_tool("java"), "-jar", ivy_jar),
        *("-cache", cache_dir() / "ivy", "-m2compatible", "-ivy", ivy_file, "-confs", conf.name),
        *conf.more,
        *("-retrieve", f"{into}/[artifact]-[revision](-[classifier]).[ext]"),
    ]
    try:
        done = subprocess.run(  # noqa: S603 - java on our own arguments
            command,
            check=False,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired as error:
        raise _unavailable(conf, f"no end after {_TIMEOUT_SECONDS} s") from error
    if done.returncode or not any(into.iterdir()):
        raise _unavailable(conf, "Ivy says: " + _telling_lines(done.stdout))


def _unpack(folder: Path) -> None:
    """Put the content of the archive that lies there in its place."""
    for archive in folder.glob(f"*.{_TAR}"):
        with tarfile.open(archive) as content:
            content.extractall(folder, filter="data")
        archive.unlink()


def _telling_lines(output: str) -> str:
    """The last lines of Ivy's report that are words rather than frames and banners."""
    lines = [line.strip(" \t:|") for line in output.splitlines()]
    words = [line for line in lines if set(line) - set("-=.: ") and "USE VERBOSE" not in line]
    return "; ".join(words[-_SHOWN_LINES:])


def _unavailable(conf: _Conf, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.RESOURCE_UNAVAILABLE,
        hint="check the network (a proxy goes into JAVA_TOOL_OPTIONS as -Dhttps.proxyHost=...), or"
        " name another list of versions in STREAMTABLE_IVY_FILE",
        what=conf.what,
        reason=reason,
    )
