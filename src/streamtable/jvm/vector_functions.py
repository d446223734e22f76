"""Start Spark without its functions of ML vectors, whose registration takes a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext

from streamtable.jvm.packages import Packages


@contextmanager
def without_vector_functions(context: SparkContext) -> Iterator[None]:
    """Let sessions that this thread creates in the block lack the functions.

    Args:
        context: its JVM has our classes.
    """
    functions = _functions(context)
    before = functions.hide()
    try:
        yield
    finally:
        functions.show(before)


def register_vector_functions(context: SparkContext) -> None:
    """Register the functions in the background, for users who call Spark in a session of ours."""
    _functions(context).register()


def _functions(context: SparkContext) -> Any:
    gateway: Any = context._gateway  # noqa: SLF001 - PySpark has no public way
    return Packages("io.streamtable", gateway._gateway_client).query.VectorFunctions  # noqa: SLF001
