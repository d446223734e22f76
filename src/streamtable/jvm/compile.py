"""The operators' jar: the Java sources beside this file, compiled against the installed PySpark.

Compiling on the user's machine is what keeps the jar fitting the Spark that is really there. The
jar's name carries a hash of everything it is made from; a jar that exists is complete. Sources are
compiled with `--release`, so the result does not depend on which JDK does it.

`python -m streamtable.jvm.compile --lint` compiles to nowhere and fails on any warning.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from streamtable import __version__
from streamtable.core.errors import InternalError, StreamtableError
from streamtable.jvm.cache import cache_dir, locked
from streamtable.jvm.jars import connector_jars
from streamtable.jvm.tools import MINIMUM_JAVA, java_tool, pyspark_jars

SOURCES = Path(__file__).with_name("java")

# Left out of `all`: noise about Spark's own class files and manifests, and serialVersionUID, which
# matters to no class here because none outlives the jar it is in.
_LINT = "-Xlint:all,-processing,-serial,-classfile,-path"
_SPARK_CORE = re.compile(r"spark-core_(?P<scala>[\d.]+)-(?P<spark>(?P<minor>\d+\.\d+).*)\.jar")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def operators_jar(sources: Path = SOURCES) -> Path:
    """The compiled operators, from the cache or compiled now (a few seconds).

    Raises:
        StreamtableError: JAVA_MISSING without a JDK, RESOURCE_UNAVAILABLE without Kafka's jars.
        InternalError: there are no sources, or they do not compile.
    """
    files = _java_files(sources)
    spark_jars, connectors = pyspark_jars(), connector_jars()
    core = next(filter(None, (_SPARK_CORE.fullmatch(j.name) for j in spark_jars.iterdir())), None)
    if core is None:
        message = f"no spark-core jar in {spark_jars}"
        raise InternalError(message)
    digest = hashlib.sha256(core["spark"].encode())
    for jar in connectors:
        digest.update(jar.name.encode())
    for file in files:
        digest.update(str(file.relative_to(sources)).encode() + b"\0" + file.read_bytes())
    folder = cache_dir() / "operators"
    name = f"streamtable-operators_{core['minor']}_{core['scala']}-{__version__}"
    jar = folder / f"{name}-{digest.hexdigest()[:12]}.jar"
    if not jar.exists():
        with locked(folder / "lock"):
            if not jar.exists():
                _build(files, [spark_jars / "*", *connectors], jar)
    return jar


def lint(sources: Path = SOURCES) -> str | None:
    """What javac has against the sources, or None; warnings count."""
    with tempfile.TemporaryDirectory() as scratch:
        class_path = [pyspark_jars() / "*", *connector_jars()]
        return _javac(_java_files(sources), class_path, Path(scratch), "-Werror")


def _java_files(sources: Path) -> list[Path]:
    files = sorted(sources.rglob("*.java"))
    if not files:
        message = f"the package holds no Java sources at {sources}"
        raise InternalError(message)
    return files


def _build(files: list[Path], class_path: list[Path], jar: Path) -> None:
    """Compile and pack beside the final place, then rename."""
    with tempfile.TemporaryDirectory(prefix=f"{jar.stem}.", dir=jar.parent) as scratch:
        classes = Path(scratch, "classes")
        refused = _javac(files, class_path, classes)
        if refused:
            message = f"the operators do not compile: {refused}"
            raise InternalError(message)
        packed = Path(scratch, jar.name)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(classes.rglob("*.class")):
                # A fixed date: the same sources give the same bytes.
                entry = zipfile.ZipInfo(file.relative_to(classes).as_posix(), _EPOCH)
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
        packed.rename(jar)


def _javac(files: list[Path], class_path: list[Path], into: Path, *more: str) -> str | None:
    """Run javac; its output if it fails, else None."""
    command: list[str | Path] = [
        *(java_tool("javac"), "--release", str(MINIMUM_JAVA), "-encoding", "UTF-8"),
        *("-proc:none", _LINT, *more, "-cp", os.pathsep.join(map(str, class_path))),
        "-d",
        into,
        *files,
    ]
    done = subprocess.run(  # noqa: S603 - javac on our own sources
        command,
        check=False,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.strip() if done.returncode else None


def _main() -> int:
    parser = argparse.ArgumentParser(prog="streamtable.jvm.compile", description=__doc__)
    parser.add_argument("--lint", action="store_true", help="fail on warnings, keep nothing")
    try:
        if not parser.parse_args().lint:
            sys.stdout.write(f"{operators_jar()}\n")
            return 0
        refused = lint()
    except (StreamtableError, InternalError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if refused:
        sys.stderr.write(f"{refused}\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(_main())
