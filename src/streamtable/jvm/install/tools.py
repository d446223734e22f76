"""Find Java and Spark's jars, and check the Java version.

`python -m streamtable.jvm.install.tools` prints the result. `make setup` runs it before it
downloads.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from streamtable.core.errors import Condition, StreamtableError

#: The minimum Java version of every supported Spark, and the release to compile for.
MINIMUM_JAVA = 17

Tool = Literal["java", "javac"]

_RELEASE = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)


@cache
def java_tool(name: Tool) -> Path:
    """Return the path of `java` or `javac`: first in JAVA_HOME, then on the PATH.

    Raises:
        StreamtableError: JAVA_MISSING if there is none, or it is older than Java 17.
    """
    home = os.environ.get("JAVA_HOME")
    found = (home and shutil.which(name, path=str(Path(home) / "bin"))) or shutil.which(name)
    if not found:
        raise _missing(name, "neither JAVA_HOME nor PATH has it")
    version = java_version(Path(found))
    if version < MINIMUM_JAVA:
        raise _missing(name, f"{found} is version {version}")
    return Path(found)


def java_version(tool: Path) -> int:
    """Return the feature version of a `java` or `javac`, such as 17; 8 for a version 1.8.

    The file `release` of a JDK or JRE contains it. Without this file, the program prints it.

    Raises:
        StreamtableError: JAVA_MISSING if the program prints no version (macOS has such stubs).
    """
    release = tool.resolve().parents[1] / "release"
    if release.is_file():
        noted = _RELEASE.search(release.read_text(encoding="utf-8"))
        if noted:
            return int(noted[1])
    import subprocess  # only here, because most checks start no program

    try:
        said = subprocess.run(  # noqa: S603 - the user's own JDK
            [tool, "-version"],
            check=True,
            text=True,
            timeout=60,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise _missing(tool.name, f"{tool} does not run: {error}") from error
    # A JVM may first print 'Picked up JAVA_TOOL_OPTIONS: ...', which may contain digits.
    version = re.search(r'(?:javac |version ")(?:1\.)?(\d+)', said)
    if not version:
        raise _missing(tool.name, f"{tool} does not print its version")
    return int(version[1])


def _missing(tool: str, reason: str) -> StreamtableError:
    path = " and put its bin folder on the PATH or set JAVA_HOME"
    hint = f"install a Java runtime (JRE or JDK) {MINIMUM_JAVA} or newer,{path}"
    if tool == "javac":
        hint = (
            f"install a JDK {MINIMUM_JAVA} or newer (a JRE has no javac),{path}; a released wheel"
            " of streamtable needs no compiler"
        )
    return StreamtableError(
        Condition.JAVA_MISSING, hint=hint, tool=f"{tool} {MINIMUM_JAVA} or newer", reason=reason
    )


def pyspark_jars() -> Path:
    """Return the folder of Spark's jars without importing PySpark.

    `SPARK_HOME` has priority, as it has when PySpark launches its JVM. Next is the installed
    PySpark, which contains the jars, or is in the `python` folder of a whole Spark.

    Raises:
        StreamtableError: SPARK_MISSING if this Python has no PySpark, or there are no jars.
    """
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        reason = "this Python has no pyspark"
        raise _no_spark(reason)
    package = Path(spec.origin).parent
    given = os.environ.get("SPARK_HOME")
    homes = [Path(given)] if given else [package, package.parents[1]]
    found = next((home / "jars" for home in homes if (home / "jars").is_dir()), None)
    if found is None:
        reason = f"{'SPARK_HOME, ' if given else ''}{homes[0]}, has no folder 'jars'"
        raise _no_spark(reason)
    return found


def _no_spark(reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.SPARK_MISSING,
        hint="pip install 'streamtable[spark]', or set SPARK_HOME to a whole Spark and put its"
        " python folder on PYTHONPATH, as spark-submit does",
        reason=reason,
    )


def _main() -> int:
    try:
        java_tool("java")
        sys.stdout.write(f"JDK {java_version(java_tool('javac'))} at {java_tool('javac')}\n")
    except StreamtableError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
