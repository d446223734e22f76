"""Java options with which Spark runs quickly in tests.

A run of the suite starts hundreds of short-lived JVMs. In these, optimized compilation costs more
time than it saves. Classes are loaded from the class archive (`jvm.install.class_archive`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamtable.demo.warm import archive_made

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Spark's own variable for options of a driver's JVM.
VARIABLE = "SPARK_SUBMIT_OPTS"

#: For a JVM that lives for a minute. With one compiler, a JVM reserves 48 MB for compiled code, not
#: 240 MB. The suite's session fills 48 MB; from then on, calls that need code of their own fail.
_ONE_COMPILER = "-XX:TieredStopAtLevel=1"
OPTIONS = f"{_ONE_COMPILER} -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"


def options() -> str:
    """Return the options; create the archive if it does not exist yet, which takes a minute."""
    archive_made()
    return OPTIONS


@contextmanager
def long_lived() -> Iterator[None]:
    """Use both compilers in JVMs that start now: the suite's session lives for most of the run."""
    quick = os.environ[VARIABLE]
    os.environ[VARIABLE] = quick.replace(_ONE_COMPILER, "")
    try:
        yield
    finally:
        os.environ[VARIABLE] = quick
