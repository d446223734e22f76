"""The position of a record in its source."""

from __future__ import annotations

from streamtable.core.types import BIGINT, INT, Field

#: Fields for operators whose result depends on the order of the records.
POSITION = (
    Field("__partition", INT.with_nullable(False)),
    Field("__offset", BIGINT.with_nullable(False)),
)
POSITION_NAMES = tuple(field.name for field in POSITION)
