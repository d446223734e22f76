"""Keys of Python's dictionaries for rows and their values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Hashable, Mapping
from typing import Any


def row_key(value: Any) -> Hashable:
    """Return a hashable value that is equal for equal rows only.

    In Python, NaN does not equal itself, -0.0 equals 0.0, and lists and maps have no hash.

    Args:
        value: a value of a column, or a tuple of them.
    """
    if isinstance(value, tuple | list):
        return tuple(map(row_key, value))
    if isinstance(value, Mapping):
        return frozenset((row_key(k), row_key(v)) for k, v in value.items())
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1.0, value))
    if isinstance(value, datetime.datetime):
        # In the hour that a change of the clock repeats, two instants are equal but for the fold.
        return (value, value.fold)
    return value  # type: ignore[no-any-return]
