"""PySpark's conversion of numpy values, in a process that may never import numpy."""

from __future__ import annotations

import sys
from typing import Any


class _IfImported:
    """A converter of numpy values that is asked only if this process has imported numpy.

    PySpark's converters import numpy, pandas and pyarrow, if they are installed, for the first
    argument of any call of the JVM. A process without numpy has no numpy values. Measured: 0.46 s
    of CPU at each start.
    """

    def __init__(self, converter: Any) -> None:
        self._converter = converter

    def can_convert(self, value: object) -> bool:
        """Return whether the value is one of numpy."""
        return "numpy" in sys.modules and bool(self._converter.can_convert(value))

    def convert(self, value: object, client: Any) -> Any:
        """Return the Java value."""
        return self._converter.convert(value, client)


def import_numpy_late(gateway: Any) -> None:
    """Let the calls of a gateway convert numpy values without an import of numpy."""
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

    # The calls share this list.
    converters = gateway._gateway_client.converters  # noqa: SLF001 - PySpark has no public way
    for index, converter in enumerate(converters):
        if isinstance(converter, (NumpyArrayConverter, NumpyScalarConverter)):
            converters[index] = _IfImported(converter)
