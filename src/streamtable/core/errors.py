"""Errors that users see: a stable condition, a place, the problem, and a hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streamtable.core.conditions import Condition
from streamtable.core.secrets import without_secrets

__all__ = [
    "Condition",
    "Faults",
    "ForwardedError",
    "InternalError",
    "Span",
    "StreamtableError",
    "closest",
    "raise_all",
    "singles",
]


@dataclass(frozen=True, order=True)
class Span:
    """A place in a script.

    Attributes:
        file: the file name that the user passed; `<string>` for text that is not from a file.
        line: first line is 1.
        column: first column is 1.
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __deepcopy__(self, memo: object) -> Span:
        """Return the span itself: copies of a query share spans, which makes copying cheaper."""
        return self


class StreamtableError(Exception):
    """An error in the user's input or in an external system.

    Args:
        condition: stable name; `core.conditions` has its message template.
        at: the place in the script, if there is one.
        hint: what to do; ends the message.
        values: values of the template's fields.
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
        """Format the error on one line: `place: CONDITION: what is wrong. Hint: what to do`."""
        place = f"{self.at}: " if self.at else ""
        hint = f". Hint: {self.hint}" if self.hint else ""
        return without_secrets(" ".join(f"{place}{self.message}{hint}".split()))

    @property
    def message(self) -> str:
        """The error without place and hint: `CONDITION: what is wrong`."""
        text = self.condition.template.format(**self.values)
        return without_secrets(" ".join(f"{self.condition.name}: {text}".split()))

    def located(self, at: Span | None) -> StreamtableError:
        """Return the error with a place, unless it already has one."""
        if self.at is not None or at is None:
            return self
        return StreamtableError(self.condition, at=at, hint=self.hint, **self.values)


class ForwardedError(StreamtableError):
    """A streamtable error from a task or another process, with its original message.

    Args:
        text: the result of `render` in that process.
        condition: the condition of the error.
    """

    def __init__(self, text: str, condition: Condition) -> None:
        self._text = text
        super().__init__(condition)

    def render(self) -> str:
        """Return the original message of the error."""
        return without_secrets(self._text)

    @property
    def message(self) -> str:
        """The original message, which includes place and hint."""
        return self.render()


class Faults(StreamtableError):  # noqa: N818 - several errors, not one
    """Several independent errors of one script, in script order.

    Condition, place and hint are those of the first error.

    Attributes:
        faults: the errors; each is a single one.
    """

    def __init__(self, faults: Sequence[StreamtableError]) -> None:
        self.faults = tuple(faults)
        first = self.faults[0]
        super().__init__(first.condition, at=first.at, hint=first.hint, **first.values)

    def render(self) -> str:
        """Format the errors, one per line."""
        return "\n".join(str(fault) for fault in self.faults)

    def located(self, at: Span | None) -> StreamtableError:
        """Return the errors, each with a place."""
        return Faults([fault.located(at) for fault in self.faults])


def singles(error: StreamtableError) -> tuple[StreamtableError, ...]:
    """Return the errors of `Faults`, or the single error itself."""
    return error.faults if isinstance(error, Faults) else (error,)


def raise_all(faults: Sequence[StreamtableError]) -> None:
    """Raise a single error as itself and several as `Faults`; do nothing if there are none."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise Faults(faults)


class InternalError(Exception):
    """A bug in streamtable: an earlier stage violated an invariant."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return a hint with the closest known word (`did you mean 'x'?`), or None."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return f"did you mean '{names[near[0]]}'?" if near else None
