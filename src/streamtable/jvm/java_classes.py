"""Descriptions of the Java classes of user-defined functions, for the planner.

A short-lived JVM reads the class by reflection (`io.streamtable.userfunctions.Describe`). It runs
once per class and set of jars in a process.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from streamtable.core.errors import InternalError
from streamtable.jvm.install.tools import java_tool, pyspark_jars

_TIMEOUT_SECONDS = 120


def local_jar(path: str) -> Path | None:
    """Return the file of a jar's path or `file:` URI; None if this machine has no such file."""
    parts = urlsplit(path)
    if parts.scheme not in ("", "file"):
        return None
    file = Path(unquote(parts.path) if parts.scheme else path)
    return file if file.is_file() else None


def described_class(name: str, jars: Sequence[str]) -> dict[str, Any]:
    """Describe a class: kind, determinism and signatures; or `error`, with `lacking` classes.

    Args:
        name: the class.
        jars: paths of jars; those that do not exist are left out.

    Raises:
        StreamtableError: JAVA_MISSING, SPARK_MISSING, SPARK_VERSION, RESOURCE_UNAVAILABLE.
        InternalError: the JVM prints no description.
    """
    files = [file for file in map(local_jar, jars) if file is not None]
    stamps = tuple((str(file.absolute()), file.stat().st_mtime_ns) for file in files)
    return _described(name, stamps)


@lru_cache(maxsize=256)
def _described(name: str, jars: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    # Few scripts have functions of their own, and these imports take long.
    import json
    import subprocess

    from streamtable.jvm.install.compile import operators_jar

    # Spark's jars come first, as in the JVMs that run the function.
    class_path = [str(operators_jar()), f"{pyspark_jars()}/*", *(path for path, _ in jars)]
    done = subprocess.run(  # noqa: S603 - java on the user's own jars
        [
            *(java_tool("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            *("-cp", os.pathsep.join(class_path)),
            *("io.streamtable.userfunctions.Describe", name),
        ],
        check=False,
        text=True,
        errors="replace",
        timeout=_TIMEOUT_SECONDS,
        capture_output=True,
    )
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        message = f"class {name} has no description: {done.stderr.strip()[-400:]}"
        raise InternalError(message) from error
    return found
