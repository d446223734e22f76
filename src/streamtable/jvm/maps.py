"""Java maps read in one call."""

from __future__ import annotations

from typing import Any


def numbers(java: Any) -> dict[str, int]:
    """A `java.util.Map` of whole numbers whose keys hold neither `=` nor `, `.

    py4j ends an iteration by an exception of the JVM's, for whose kind PySpark then searches every
    jar: to read the counts of one table so, five times a second, took a third of a core.
    """
    inside = str(java.toString())[1:-1]
    entries = (entry.rsplit("=", 1) for entry in inside.split(", ") if entry)
    return {key: int(value) for key, value in entries}
