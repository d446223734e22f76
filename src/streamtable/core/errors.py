"""The one family of errors a user sees: a stable condition, a place, what was found, a way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streamtable.core.conditions import Condition
from streamtable.core.secrets import without_secrets

__all__ = [
    "Condition",
    "Faults",
    "InternalError",
    "Span",
    "StreamtableError",
    "closest",
    "raise_all",
]


@dataclass(frozen=True, order=True)
class Span:
    """A place in a script.

    Attributes:
        file: as the user gave it; `<string>` for text that came from no file.
        line: first line is 1.
        column: first column is 1.
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class StreamtableError(Exception):
    """A fault in what the user gave us or in the systems we were pointed at.

    Args:
        condition: stable name; its template in `core.conditions` gives the wording.
        at: the place in the script, where there is one.
        hint: the way out; ends the message.
        values: fill the template's fields.
    """

    def __init__(
        self,
        condition: Condition,
        *,
        at: Span | None = None,
        hint: str | None = None,
        **values: object,
    ) -> None:
        self.condition = condition
        self.at = at
        self.hint = hint
        self.values = values
        super().__init__(self.render())

    def render(self) -> str:
        """One line: `place: CONDITION: what is wrong. Hint: the way out`."""
        place = f"{self.at}: " if self.at else ""
        text = self.condition.template.format(**self.values)
        hint = f". Hint: {self.hint}" if self.hint else ""
        return without_secrets(" ".join(f"{place}{self.condition.name}: {text}{hint}".split()))

    def located(self, at: Span | None) -> StreamtableError:
        """The same error with a place, unless it already has one."""
        if self.at is not None or at is None:
            return self
        return StreamtableError(self.condition, at=at, hint=self.hint, **self.values)


class Faults(Exception):  # noqa: N818 - several errors, not one
    """Several independent faults of one script, in its order."""

    def __init__(self, faults: Sequence[StreamtableError]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def raise_all(faults: Sequence[StreamtableError]) -> None:
    """Raises nothing, the only fault, or all of them as `Faults`."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise Faults(faults)


class InternalError(Exception):
    """A bug of ours, never the user's: an invariant that an earlier stage should have secured."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word nearest to a misspelled one as a hint (`did you mean 'x'?`), or None."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return f"did you mean '{names[near[0]]}'?" if near else None
