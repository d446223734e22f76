"""Sets of jars, fetched once; the set of the connectors' libraries, which every job loads.

`ivy.xml` pins the versions. The Ivy in PySpark resolves them, so a user needs Python and Java but
no Maven. Each conf of the file becomes one folder of the cache, with the file's hash in its name.
Another version list therefore gets another folder, and an existing folder is complete. Jars in an
installed wheel (`jvm.install.bundled`) are not fetched.
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
from streamtable.jvm.install.bundled import bundled_folder
from streamtable.jvm.install.cache import cache_dir, locked
from streamtable.jvm.install.tools import java_tool, pyspark_jars

PINNED = Path(__file__).parents[1] / "ivy.xml"
_TIMEOUT_SECONDS = 900
_SHOWN_LINES = 6


@dataclass(frozen=True)
class JarSet:
    """A set of jars: a conf of an Ivy file.

    Attributes:
        name: the conf.
        what: the content, for messages.
        size: the download size of the pinned versions.
        file: the Ivy file.
        archive: whether the set is an archive to unpack; its Ivy file has its own settings.
        wheel: the package that contains the jars, as pip spells it.
    """

    name: str
    what: str
    size: str
    file: Path = PINNED
    archive: bool = False
    wheel: str | None = None

    @property
    def arguments(self) -> tuple[str | Path, ...]:
        """Further arguments for Ivy."""
        if not self.archive:
            return ()
        return ("-settings", self.file.with_name(f"{self.file.stem}-settings.xml"), "-types", _TAR)

    def folder(self) -> Path:
        """Return the folder with the jars, or the unpacked archive; fetch it on first use.

        Raises:
            StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, FILE_UNREADABLE.
        """
        given = os.environ.get("STREAMTABLE_IVY_FILE") if self.file == PINNED else None
        ivy_file = Path(given or self.file)
        try:
            digest = hashlib.sha256(ivy_file.read_bytes()).hexdigest()[:12]
        except OSError as error:
            raise StreamtableError(
                Condition.FILE_UNREADABLE,
                hint="STREAMTABLE_IVY_FILE must name a file, or be unset",
                path=ivy_file,
                reason=error.strerror,
            ) from error
        bundled = bundled_folder(self.name, digest)
        if bundled is not None:
            return bundled
        root = cache_dir() / "jars"
        folder = root / f"{self.name}-{digest}"
        if not folder.is_dir():
            with locked(root / "lock"):
                if not folder.is_dir():
                    _fetch(self, ivy_file, folder)
        return folder

    def jars(self) -> list[Path]:
        """Return the jars, sorted by name; raises as `folder`."""
        return sorted(self.folder().glob("*.jar"))


_TAR = "tar.gz"
_LIBRARIES = JarSet(
    "spark", "the libraries of the connectors", "14 jars, 16 MB", wheel="streamtable"
)


def connector_jars() -> list[Path]:
    """Return the jars that connectors need in Spark; fetch them on first use.

    Raises:
        StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, FILE_UNREADABLE.
    """
    return _LIBRARIES.jars()


def _fetch(wanted: JarSet, ivy_file: Path, folder: Path) -> None:
    """Fill a temporary folder, then rename it, so that the final folder is always complete."""
    size = f" ({wanted.size})" if ivy_file == wanted.file else ""
    sys.stderr.write(f"fetching {wanted.what}{size} ... ")
    sys.stderr.flush()
    begun = time.monotonic()
    partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        _run_ivy(wanted, ivy_file, partial)
        if wanted.archive:
            _unpack(partial)
        partial.chmod(0o755)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        sys.stderr.write(f"{time.monotonic() - begun:.0f} s\n")


def _run_ivy(wanted: JarSet, ivy_file: Path, into: Path) -> None:
    ivy_jar = next(pyspark_jars().glob("ivy-*.jar"), None)
    if ivy_jar is None:
        raise _unavailable(wanted, "this Spark carries no Ivy")
    command: list[str | Path] = [
        *(java_tool("java"), "-jar", ivy_jar),
        *("-cache", cache_dir() / "ivy", "-m2compatible", "-ivy", ivy_file, "-confs", wanted.name),
        *wanted.arguments,
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
        raise _unavailable(wanted, f"not finished after {_TIMEOUT_SECONDS} s") from error
    if done.returncode or not any(into.iterdir()):
        raise _unavailable(wanted, "Ivy says: " + _relevant_lines(done.stdout))


def _unpack(folder: Path) -> None:
    """Unpack the archive in a folder and replace it with its content."""
    for archive in folder.glob(f"*.{_TAR}"):
        with tarfile.open(archive) as content:
            content.extractall(folder, filter="data")
        archive.unlink()


def _relevant_lines(output: str) -> str:
    """Return the last lines of Ivy's report without stack frames and banners."""
    lines = [line.strip(" \t:|") for line in output.splitlines()]
    words = [line for line in lines if set(line) - set("-=.: ") and "USE VERBOSE" not in line]
    return "; ".join(words[-_SHOWN_LINES:])


def _unavailable(wanted: JarSet, reason: str) -> StreamtableError:
    wheel = f"pip install '{wanted.wheel}', which has them, " if wanted.wheel else ""
    return StreamtableError(
        Condition.RESOURCE_UNAVAILABLE,
        hint=f"{wheel}check the network (a proxy goes into JAVA_TOOL_OPTIONS as"
        " -Dhttps.proxyHost=...), or name another list of versions in STREAMTABLE_IVY_FILE",
        what=wanted.what,
        reason=reason,
    )
