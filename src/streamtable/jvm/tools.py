"""Where Java is, and whether it will do: `java_tool`, `java_version`, PySpark's jars.

`python -m streamtable.jvm.tools` says what was found; `make setup` asks it before it downloads.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from streamtable.core.errors import Condition, StreamtableError

#: What Spark 4.3 asks for, and the level the operators are compiled to.
MINIMUM_JAVA = 17

Tool = Literal["java", "javac"]


@cache
def java_tool(name: Tool) -> Path:
    """The path of `java` or `javac`: first in JAVA_HOME, then on the PATH.

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
    """The feature version of a `java` or `javac`: 17, or 8 for what calls itself 1.8.

    Raises:
        StreamtableError: JAVA_MISSING if the program cannot say (macOS has such stubs).
    """
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
    # A JVM may print 'Picked up JAVA_TOOL_OPTIONS: ...' first, which may hold digits of its own.
    version = re.search(r'(?:javac |version ")(?:1\.)?(\d+)', said)
    if not version:
        raise _missing(tool.name, f"{tool} does not tell its version")
    return int(version[1])


def _missing(tool: str, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.JAVA_MISSING,
        hint=f"install a JDK {MINIMUM_JAVA} or newer (a JRE has no javac), and put its bin folder"
        " on the PATH or set JAVA_HOME",
        tool=f"{tool} {MINIMUM_JAVA} or newer",
        reason=reason,
    )


def pyspark_jars() -> Path:
    """The folder of jars in the installed PySpark, found without importing it.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE if there is no PySpark.
    """
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise StreamtableError(
            Condition.RESOURCE_UNAVAILABLE,
            hint="install streamtable with its dependencies: pip install streamtable",
            what="Spark's jars",
            reason="this Python has no pyspark",
        )
    return Path(spec.origin).parent / "jars"


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
