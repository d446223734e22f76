"""The launch of Spark's JVM for a session, or ahead of the session and of PySpark's import."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from streamtable.core.options import Settings
from streamtable.jvm.launch import Launch
from streamtable.jvm.submitted import is_submitted
from streamtable.runtime.session.configuration import ARENAS, ARENAS_KEPT, start_settings
from streamtable.runtime.session.launch_log import launch_log

#: The JVM that starts ahead of the first Spark session; None if there is none, or it is in use.
_ahead: Launch | None = None


@contextmanager
def launched_ahead(
    settings: Settings, master: str | None, verbose: bool, notice: Callable[[str], None]
) -> Iterator[None]:
    """Start a JVM now, in the background, for a `start_spark` in the block with equal settings.

    Does nothing in a process that has imported PySpark, and so may have a JVM. The arguments are
    those of `start_spark`.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE, SPARK_MISSING, JAVA_MISSING, or INVALID_OPTION for a
            time zone.
    """
    global _ahead  # noqa: PLW0603 - a process has one JVM
    if is_submitted() or "pyspark" in sys.modules:
        yield
        return
    set_environment()
    _ahead = Launch(start_settings(settings, master), launch_log(verbose, notice))
    try:
        yield
    finally:
        unused, _ahead = _ahead, None
        if unused is not None:
            unused.abandon()


def launch(wanted: Mapping[str, str], verbose: bool, notice: Callable[[str], None]) -> Launch:
    """Return the JVM that has started ahead, if its settings are equal; else start one.

    Raises:
        StreamtableError: SPARK_MISSING.
    """
    global _ahead
    found, _ahead = _ahead, None
    if found is not None:
        if found.wanted == wanted:
            return found
        found.abandon()
    return Launch(wanted, launch_log(verbose, notice))


def set_environment() -> None:
    """Set the variables that a JVM and its Python workers inherit, unless the user has set them."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault(ARENAS, ARENAS_KEPT)
