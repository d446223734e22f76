"""Spark minors other than the installed one, as far as the compiler needs them.

`python -m tools.spark_minors` compiles the operators for each of them to nowhere and fails on any
warning. `make check` runs it, `make wheel` packs a jar for each.

`ivy-spark-<minor>.xml` lists the jars of such a Spark (50 MB); PySpark itself has 450 MB. Libraries
come from the installed PySpark: the operators use few of them, and no method that differs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from streamtable.core.errors import InternalError, StreamtableError
from streamtable.jvm.install.compile import TESTKIT, CompiledFor, for_installed, lint
from streamtable.jvm.install.installed_spark import SCALA, SPARK_MINORS, installed_spark
from streamtable.jvm.install.jars import JarSet
from streamtable.jvm.install.tools import pyspark_jars

_CORE = re.compile(r"spark-core_[\d.]+-(?P<version>.+)\.jar")


def compiled_for(minor: str) -> CompiledFor:
    """Return the jars of a supported Spark; fetch them if another one is installed.

    Raises:
        StreamtableError: SPARK_MISSING, SPARK_VERSION, JAVA_MISSING or RESOURCE_UNAVAILABLE.
    """
    installed = for_installed()
    if installed.minor == minor:
        return installed
    file = Path(__file__).with_name(f"ivy-spark-{minor}.xml")
    own = JarSet("compile", f"Spark {minor} for the compiler", "9 jars, 52 MB", file).jars()
    (version,) = (found["version"] for jar in own if (found := _CORE.fullmatch(jar.name)))
    jars = sorted(pyspark_jars().glob("*.jar"))
    libraries = (jar for jar in jars if not jar.name.startswith("spark-"))
    return CompiledFor(version, SCALA, (*own, *libraries))


def _main() -> int:
    installed = installed_spark().minor
    for minor in SPARK_MINORS:
        if minor == installed:
            continue
        try:
            spark = compiled_for(minor)
            refused = lint(spark, *spark.sources, TESTKIT)
        except (StreamtableError, InternalError) as error:
            refused = f"error: {error}"
        if refused:
            sys.stderr.write(f"for Spark {minor}:\n{refused}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
