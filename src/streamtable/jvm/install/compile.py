"""The operators' jar: the Java sources beside this file, compiled against the installed PySpark.

`java` goes into the jar that jobs load, `testkit` into one that only `streamtable.testing` loads.
`shims` has a folder per minor version of Spark, with the code that differs between them. The jar
contains the folder of its Spark.

A released wheel carries the operators (`jvm.install.bundled`). A checkout, and a wheel built
without them, compile them into the cache. The jar's name carries a hash of everything it is made
from; a jar that exists is complete. Sources are compiled with `--release`, so they run on every
Java from 17 on.

`python -m streamtable.jvm.install.compile --lint` compiles to nowhere and fails on any warning.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamtable import __version__
from streamtable.core.errors import InternalError, StreamtableError
from streamtable.jvm.install.bundled import bundled_operators
from streamtable.jvm.install.cache import cache_dir, locked
from streamtable.jvm.install.installed_spark import installed_spark, minor_of
from streamtable.jvm.install.jars import connector_jars
from streamtable.jvm.install.tools import MINIMUM_JAVA, java_tool, pyspark_jars

SOURCES = Path(__file__).parents[1] / "java"
SHIMS = Path(__file__).parents[1] / "shims"
TESTKIT = Path(__file__).parents[1] / "testkit"

# Excluded from `all`: warnings about Spark's own class files and manifests, and about
# serialVersionUID, which is irrelevant because no serialized object outlives its jar.
_LINT = "-Xlint:all,-processing,-serial,-classfile,-path"
_OPERATORS, _TESTKIT = "operators", "testkit"
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class CompiledFor:
    """A Spark to compile against.

    Attributes:
        version: such as `4.3.0`.
        scala: such as `2.13`.
        class_path: its jars; `*` stands for all jars of a folder.
    """

    version: str
    scala: str
    class_path: tuple[Path, ...]

    @property
    def minor(self) -> str:
        """The minor version, such as `4.3`."""
        return minor_of(self.version)

    @property
    def sources(self) -> list[Path]:
        """The folders with the sources of the operators."""
        return [SOURCES, SHIMS / self.minor]


def for_installed() -> CompiledFor:
    """Return the installed Spark; raises SPARK_MISSING or SPARK_VERSION."""
    spark = installed_spark()
    return CompiledFor(spark.version, spark.scala, ((spark.jars or pyspark_jars()) / "*",))


def operators_jar(sources: Path | None = None) -> Path:
    """Return the operators' jar: from the wheel, from the cache, or compiled (a few seconds).

    Args:
        sources: a folder of other sources; None for the sources of this package.

    Raises:
        StreamtableError: SPARK_MISSING, or SPARK_VERSION for a Spark that the operators do not
            support; JAVA_MISSING without a JDK, RESOURCE_UNAVAILABLE without Kafka's jars.
        InternalError: there are no sources, or they do not compile.
    """
    folder = cache_dir() / _OPERATORS
    if sources is not None:
        return _compiled(_OPERATORS, folder, [sources], connector_jars(), for_installed())
    spark = installed_spark()
    bundled = bundled_operators(spark.minor, spark.scala)
    return bundled or compiled_operators(folder, for_installed())


def compiled_operators(folder: Path, spark: CompiledFor) -> Path:
    """Return the operators' jar in a folder; compile it if missing. Raises as `operators_jar`."""
    return _compiled(_OPERATORS, folder, spark.sources, connector_jars(), spark)


def harness_jar() -> Path:
    """Return the compiled test harness of operators; raises as `operators_jar`."""
    libraries = [*connector_jars(), operators_jar()]
    return _compiled(_TESTKIT, cache_dir() / _TESTKIT, [TESTKIT], libraries, for_installed())


def _compiled(
    what: str, folder: Path, sources: Sequence[Path], libraries: list[Path], spark: CompiledFor
) -> Path:
    """Return the jar of some sources; compile it against Spark and these jars if missing."""
    digest = hashlib.sha256(spark.version.encode())
    for jar in libraries:
        digest.update(jar.name.encode())
    files = []
    for root in sources:
        for file in _java_files(root):
            digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
            files.append(file)
    name = f"streamtable-{what}_{spark.minor}_{spark.scala}-{__version__}"
    jar = folder / f"{name}-{digest.hexdigest()[:12]}.jar"
    if not jar.exists():
        with locked(folder / "lock"):
            if not jar.exists():
                _build(files, [*spark.class_path, *libraries], jar)
    return jar


def lint(spark: CompiledFor, *folders: Path) -> str | None:
    """Return javac's errors and warnings for the sources of some folders, or None."""
    with tempfile.TemporaryDirectory() as scratch:
        files = [file for folder in folders for file in _java_files(folder)]
        return _javac(files, [*spark.class_path, *connector_jars()], Path(scratch), "-Werror")


def _java_files(sources: Path) -> list[Path]:
    files = sorted(sources.rglob("*.java"))
    if not files:
        message = f"the package holds no Java sources at {sources}"
        raise InternalError(message)
    return files


def _build(files: list[Path], class_path: list[Path], jar: Path) -> None:
    """Compile and pack in a temporary path, then rename."""
    with tempfile.TemporaryDirectory(prefix=f"{jar.stem}.", dir=jar.parent) as scratch:
        classes = Path(scratch, "classes")
        refused = _javac(files, class_path, classes)
        if refused:
            message = f"{jar.stem} does not compile: {refused}"
            raise InternalError(message)
        packed = Path(scratch, jar.name)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(classes.rglob("*.class")):
                # A fixed date, so that the same sources give the same bytes.
                entry = zipfile.ZipInfo(file.relative_to(classes).as_posix(), _EPOCH)
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
        packed.rename(jar)


def _javac(files: list[Path], class_path: list[Path], into: Path, *more: str) -> str | None:
    """Run javac; return its output if it fails, else None."""
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
    import argparse  # only for the command

    parser = argparse.ArgumentParser(prog="streamtable.jvm.install.compile", description=__doc__)
    parser.add_argument("--lint", action="store_true", help="fail on warnings, keep nothing")
    try:
        if not parser.parse_args().lint:
            sys.stdout.write(f"{operators_jar()}\n")
            return 0
        spark = for_installed()
        refused = lint(spark, *spark.sources, TESTKIT)
    except (StreamtableError, InternalError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if refused:
        sys.stderr.write(f"{refused}\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(_main())
