"""Read Java maps and lists without the exception that ends a py4j iteration."""

from __future__ import annotations

from typing import Any


def numbers(java: Any) -> dict[str, int]:
    """Read a `java.util.Map` of whole numbers; its keys contain neither `=` nor `, `.

    py4j ends an iteration with an exception of the JVM, and PySpark then searches every jar for the
    kind of exception. Reading the counters of one table in this way, five times a second, used a
    third of a core.
    """
    inside = str(java.toString())[1:-1]
    entries = (entry.rsplit("=", 1) for entry in inside.split(", ") if entry)
    return {key: int(value) for key, value in entries}


def texts(java: Any) -> dict[str, str]:
    """Read a `java.util.Map` of text keys and values."""
    return {key: str(java.get(key)) for key in listed(java.keySet())}


def listed(java: Any) -> list[str]:
    """Read a `java.util.Collection` of texts."""
    return [str(element) for element in java.toArray()]
