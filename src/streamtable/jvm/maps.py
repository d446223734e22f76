"""Java maps and lists, read without an exception of the JVM's at their end."""

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


def texts(java: Any) -> dict[str, str]:
    """A `java.util.Map` of texts by texts."""
    return {key: str(java.get(key)) for key in listed(java.keySet())}


def listed(java: Any) -> list[str]:
    """A `java.util.Collection` of texts."""
    return [str(element) for element in java.toArray()]
