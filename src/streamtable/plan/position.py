"""The position of a record in its source."""

from __future__ import annotations

from collections.abc import Iterable

from streamtable.core.types import BIGINT, INT, Field

#: Fields for operators whose result depends on the order of the records.
POSITION = (
    Field("__partition", INT.with_nullable(False)),
    Field("__offset", BIGINT.with_nullable(False)),
)
POSITION_NAMES = tuple(field.name for field in POSITION)

#: The number of an element in its array, behind the position of the row. NULL for no element.
PLACE = Field("__place", INT)


def positions_in(fields: Iterable[Field]) -> tuple[Field, ...]:
    """Return the position fields of rows that have a position, with the place if there is one."""
    return (*POSITION, *(field for field in fields if field.name == PLACE.name))
