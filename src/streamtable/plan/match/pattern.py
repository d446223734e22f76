"""Pattern of MATCH_RECOGNIZE: variables, quantifiers, and where the search continues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from streamtable.core.identity import stable, stable_members

_SIGNS = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}


@stable("PatternVariable", name="name", least="least", most="most", reluctant="reluctant")
@dataclass(frozen=True)
class PatternVariable:
    """A variable of a pattern with its quantifier.

    Attributes:
        least: the least number of rows.
        most: the largest number of rows; None: no limit.
        reluctant: whether it matches as few rows as possible.
    """

    name: str
    least: int = 1
    most: int | None = 1
    reluctant: bool = False

    @property
    def is_optional(self) -> bool:
        """Whether a match may have no row of the variable."""
        return self.least == 0

    @property
    def is_greedy(self) -> bool:
        """Whether the variable takes every row that it can; `A?` and `A{2}` have no choice."""
        return not self.reluctant and (self.least, self.most) != (0, 1) and self.least != self.most

    @property
    def described(self) -> str:
        """The variable as written in SQL."""
        counts = (self.least, self.most)
        if counts in _SIGNS:
            sign = _SIGNS[counts]
        elif self.least == self.most:
            sign = f"{{{self.least}}}"
        else:
            sign = f"{{{self.least},{'' if self.most is None else self.most}}}"
        return f"{self.name}{sign}{'?' if self.reluctant else ''}"


@stable_members(PAST_LAST_ROW="past_last_row", NEXT_ROW="next_row", FIRST="first", LAST="last")
class SkipTo(Enum):
    """Where the search continues after a match."""

    PAST_LAST_ROW = auto()
    NEXT_ROW = auto()
    FIRST = auto()
    LAST = auto()


@stable("MatchSkip", to="to", variable="variable")
@dataclass(frozen=True)
class Skip:
    """AFTER MATCH SKIP.

    Attributes:
        variable: the variable of FIRST and LAST.
    """

    to: SkipTo
    variable: str | None = None

    @property
    def described(self) -> str:
        """The clause as written in SQL."""
        if self.variable is not None:
            return f"TO {self.to.name} {self.variable}"
        return "PAST LAST ROW" if self.to is SkipTo.PAST_LAST_ROW else "TO NEXT ROW"


def described(pattern: Sequence[PatternVariable]) -> str:
    """Return the pattern as written in SQL."""
    return " ".join(variable.described for variable in pattern)
