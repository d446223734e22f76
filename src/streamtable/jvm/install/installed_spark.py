"""The installed Spark and its compatibility with the operators; PySpark is not imported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.install.tools import java_tool, pyspark_jars
from streamtable.jvm.submitted import is_submitted, submitted_version

#: Supported minor versions of Spark and their Scala version.
SPARK_MINORS = ("4.2", "4.3")
SCALA = "2.13"

#: Minor versions whose real-time mode runs only queries without a shuffle.
_NO_REAL_TIME_SHUFFLES = frozenset({"4.2"})

_CORE = re.compile(r"spark-core_(?P<scala>[\d.]+)-(?P<version>\d+\.\d+.*)\.jar")


@dataclass(frozen=True)
class InstalledSpark:
    """A Spark on this machine.

    Attributes:
        jars: the folder of its jars; None if spark-submit has started this process, because the
            driver's machine may have no such folder.
        version: such as `4.3.0`, from the name of its core jar.
        scala: such as `2.13`.
    """

    jars: Path | None
    version: str
    scala: str

    @property
    def minor(self) -> str:
        """The minor version, such as `4.3`."""
        return minor_of(self.version)


def minor_of(version: str) -> str:
    """Return the minor version of a Spark version: `4.3` for `4.3.0`."""
    return ".".join(version.split(".")[:2])


def supported() -> str:
    """Return the supported versions of Spark, in words."""
    return f"Spark {' and '.join(SPARK_MINORS)}"


def shuffles_in_real_time(version: str) -> bool:
    """Return whether real-time mode of a Spark version runs queries with a shuffle."""
    return minor_of(version) not in _NO_REAL_TIME_SHUFFLES


def installed_spark() -> InstalledSpark:
    """Return the Spark that a job will start or that has started it, if the operators support it.

    Raises:
        StreamtableError: SPARK_MISSING, or SPARK_VERSION for another minor or Scala version.
    """
    found = _submitted() if is_submitted() else _on_this_machine()
    wanted = f"this streamtable has operators for {supported()}"
    if found.minor not in SPARK_MINORS:
        raise _does_not_fit(found, wanted)
    if found.scala != SCALA:
        raise _does_not_fit(found, f"{wanted} with Scala {SCALA}")
    return found


def _submitted() -> InstalledSpark:
    """Return the Spark of spark-submit. Spark 4 has no other Scala version."""
    return InstalledSpark(None, submitted_version(), SCALA)


def _on_this_machine() -> InstalledSpark:
    jars = pyspark_jars()
    cores = (_CORE.fullmatch(jar.name) for jar in sorted(jars.iterdir()))
    core = next(filter(None, cores), None)
    if core is None:
        raise StreamtableError(
            Condition.SPARK_MISSING,
            hint="install an Apache Spark: pip install 'streamtable[spark]'",
            reason=f"{jars} has no spark-core jar",
        )
    return InstalledSpark(jars, core["version"], core["scala"])


def check_machine() -> None:
    """Check that this machine has a Java runtime and a Spark that the operators support.

    Raises:
        StreamtableError: JAVA_MISSING, SPARK_MISSING or SPARK_VERSION.
    """
    installed_spark()
    if not is_submitted():  # else Java runs already
        java_tool("java")


def _does_not_fit(found: InstalledSpark, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.SPARK_VERSION,
        hint=f"pip install 'pyspark=={SPARK_MINORS[-1]}.*', or set SPARK_HOME to a Spark"
        f" {SPARK_MINORS[-1]} built with Scala {SCALA}",
        version=found.version,
        scala=found.scala,
        place=found.jars.parent if found.jars else "spark-submit",
        reason=reason,
    )
