"""Spark settings as a Java property file, for spark-submit's option `--properties-file`."""

from __future__ import annotations

from collections.abc import Mapping

_LINES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
_IN_VALUE = str.maketrans(_LINES)
_IN_KEY = str.maketrans(_LINES | {character: f"\\{character}" for character in ":=#! "})


def properties(settings: Mapping[str, str]) -> str:
    """Return the text of a file with these settings.

    Spark reads it as UTF-8, and removes spaces around values.
    """
    pairs = (
        f"{key.translate(_IN_KEY)}={value.translate(_IN_VALUE)}" for key, value in settings.items()
    )
    return "".join(f"{pair}\n" for pair in pairs)
