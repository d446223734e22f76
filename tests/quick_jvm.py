"""Java options with which Spark runs quickly in tests.

Hundreds of short-lived JVMs make a run of the suite, so that compiling well costs more than it
gives. Classes come out of the archive that every start uses (`jvm.install.class_archive`).
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

#: For a JVM that lives for a minute. With one compiler 48 MB are reserved for what it compiles, not
#: 240; the suite's session fills them, and calls that need code of their own fail from then on.
_ONE_COMPILER = "-XX:TieredStopAtLevel=1"
OPTIONS = f"{_ONE_COMPILER} -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"


def options() -> str:
    """The options; makes the archive where there is none yet, which takes a minute."""
    archive_made()
    return OPTIONS


@contextmanager
def long_lived() -> Iterator[None]:
    """A JVM that starts meanwhile has both compilers: the suite's session lives for most of it."""
    quick = os.environ[VARIABLE]
    os.environ[VARIABLE] = quick.replace(_ONE_COMPILER, "")
    try:
        yield
    finally:
        os.environ[VARIABLE] = quick
