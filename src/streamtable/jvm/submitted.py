"""Processes that spark-submit has started: their JVM runs already, with settings of its own.

spark-submit starts the JVM first, and the JVM starts Python. `spark-submit`, Kubernetes and YARN in
cluster mode, EMR and Dataproc all do so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Set by the JVM that has started this Python process.
_GATEWAY = "PYSPARK_GATEWAY_PORT"

#: Settings that are read when a JVM starts, which is before a submitted program runs.
AT_LAUNCH = (
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.driver.cores",
    "spark.driver.extraJavaOptions",
    "spark.driver.defaultJavaOptions",
    "spark.driver.extraClassPath",
    "spark.driver.extraLibraryPath",
)

#: The process that has started this one: the JVM, if spark-submit is used.
_PARENT = os.getppid()

_POLL_S = 0.1


def is_submitted() -> bool:
    """Return whether spark-submit has started this process."""
    return _GATEWAY in os.environ


def submitting_jvm_has_ended(patience_s: float) -> bool:
    """Return whether the JVM that has started this process has ended, or ends in some seconds."""
    deadline = time.monotonic() + patience_s
    while os.getppid() == _PARENT:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_S)
    return True


def submitted_version() -> str:
    """Return the version of the Spark that has started this process."""
    from pyspark.version import __version__

    return str(__version__)


def submitted_settings() -> dict[str, str]:
    """Return the settings of spark-submit: of its command line and of `spark-defaults.conf`."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # noqa: SLF001 - no public way
    return dict(SparkConf().getAll())


def add_to_class_path(jars: Iterable[Path]) -> None:
    """Add jars to the driver's class path, before its SparkContext is created.

    Jars that spark-submit has put there already are found first.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized()  # noqa: SLF001 - no public way
    jvm: Any = SparkContext._jvm  # noqa: SLF001
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for jar in jars:
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
