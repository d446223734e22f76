"""Join types."""

from __future__ import annotations

from enum import Enum

from streamtable.core.identity import stable_members
from streamtable.core.types import Field


@stable_members(INNER="INNER", LEFT="LEFT", RIGHT="RIGHT", FULL="FULL", SEMI="SEMI", ANTI="ANTI")
class JoinKind(Enum):
    """Join type; the value is its name in EXPLAIN."""

    INNER = "Join"
    LEFT = "LeftJoin"
    RIGHT = "RightJoin"
    FULL = "FullJoin"
    SEMI = "SemiJoin"
    ANTI = "AntiJoin"

    @property
    def pads_left(self) -> bool:
        """Whether an unmatched right row is emitted with NULL in the left columns."""
        return self in (JoinKind.RIGHT, JoinKind.FULL)

    @property
    def pads_right(self) -> bool:
        """Whether an unmatched left row is emitted with NULL in the right columns."""
        return self in (JoinKind.LEFT, JoinKind.FULL)

    @property
    def left_only(self) -> bool:
        """Whether only left rows are emitted, filtered by whether they have a match."""
        return self in (JoinKind.SEMI, JoinKind.ANTI)

    def depends_on_unmatched(self, *, left: bool) -> bool:
        """Whether the output depends on which rows of an input are unmatched."""
        return (self.pads_right or self.left_only) if left else self.pads_left

    def emits_unmatched(self, *, left: bool) -> bool:
        """Whether unmatched rows of an input are emitted."""
        return self is not JoinKind.SEMI and self.depends_on_unmatched(left=left)

    def fields(self, left: tuple[Field, ...], right: tuple[Field, ...]) -> tuple[Field, ...]:
        """Return the output fields, nullable if the row of a side may be unmatched."""
        padded = nullable(left) if self.pads_left else left
        if self.left_only:
            return padded
        return (*padded, *(nullable(right) if self.pads_right else right))


def nullable(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields as nullable."""
    return tuple(Field(f.name, f.type.with_nullable(True)) for f in fields)
