"""Archive of streamtable and the packages that it needs, for a driver in a cluster.

The archive has the layout of `site-packages`. Some packages have native code, so it serves a
cluster with the same system and the same minor version of Python as this machine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.metadata import files as files_of
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import streamtable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.jars import connector_jars

_OWN = "streamtable"
_HOME = Path(streamtable.__file__).parent
_BUNDLED = f"{_OWN}/jvm/bundled"

#: Packages that every Spark brings.
_OF_SPARK = {"pyspark", "py4j"}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

#: File of the archive with the minor version of Python.
PYTHON = "python"


def write_packages(archive: Path, more: Sequence[str], python_files: Sequence[Path]) -> list[str]:
    """Write the archive.

    Args:
        archive: the path of a new zip file.
        more: names of further installed packages, such as `pyarrow`; they come with the packages
            that they need.
        python_files: directories and files of `python.files`.

    Returns:
        The paths of `python_files` in the archive.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE for a package that is not installed, and the errors
            of `connector_jars` and `operators_jar`.
    """
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        packed.writestr(PYTHON, f"{sys.version_info.major}.{sys.version_info.minor}\n")
        _write_own(packed)
        for found in _needed(more):
            for file in files_of(found.name) or ():
                path = Path(str(found.locate_file(file)))
                if ".." not in file.parts and "__pycache__" not in file.parts and path.is_file():
                    packed.write(path, str(file))
        placed = []
        for number, given in enumerate(python_files):
            place = f"python_files/{number}/{given.name}"
            placed.append(place)
            if given.is_file():
                packed.write(given, place)
            for inner in _files(given):
                packed.write(inner, f"{place}/{inner.relative_to(given).as_posix()}")
    return placed


def _write_own(packed: ZipFile) -> None:
    """Write this package with its jars and with the metadata that names its connectors."""
    for file in _files(_HOME):
        packed.write(file, f"{_OWN}/{file.relative_to(_HOME).as_posix()}")
    if not (_HOME / "jvm" / "bundled").is_dir():  # a checkout has them in the cache
        jars = connector_jars()
        operators = operators_jar()
        packed.write(operators, f"{_BUNDLED}/operators/{operators.name}", ZIP_STORED)
        for jar in jars:
            packed.write(jar, f"{_BUNDLED}/{jar.parent.name}/{jar.name}", ZIP_STORED)
    own = distribution(_OWN)
    for name in ("METADATA", "entry_points.txt"):
        packed.writestr(f"{_OWN}-{own.version}.dist-info/{name}", own.read_text(name) or "")


def _files(folder: Path) -> Iterator[Path]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return (path for path in found if "__pycache__" not in path.parts)


def _needed(more: Sequence[str]) -> list[Distribution]:
    """Return the packages that streamtable, its plugins and `more` need, without streamtable."""
    plugins = [found.name for found in distributions() if _is_plugin(found)]
    waiting = [_OWN, *plugins, *more]
    asked = set(map(_simple, more))
    known: dict[str, Distribution | None] = {}
    while waiting:
        name = _simple(waiting.pop())
        if name in known or name in _OF_SPARK:
            continue
        known[name] = _installed(name, required=name in asked)
        waiting += _requirements(known[name])
    return [found for name, found in sorted(known.items()) if found and name != _OWN]


def _simple(name: str) -> str:
    return name.lower().replace("_", "-")


def _is_plugin(found: Distribution) -> bool:
    return any(entry.group.startswith(f"{_OWN}.") for entry in found.entry_points)


def _installed(name: str, *, required: bool) -> Distribution | None:
    """Return a package; None for a requirement that does not apply to this Python."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        if not required:
            return None
        raise StreamtableError(
            Condition.RESOURCE_UNAVAILABLE,
            what=f"package {name}",
            reason="this Python does not have it",
            hint=f"pip install {name}, or correct --package",
        ) from None


def _requirements(found: Distribution | None) -> Iterator[str]:
    """Yield the names of required packages, without those of extras."""
    for requirement in (found.requires if found else None) or ():
        name = _NAME.match(requirement)
        if name and "extra ==" not in requirement:
            yield name[0]
