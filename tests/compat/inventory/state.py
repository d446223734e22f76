"""The state of Flink's features in streamtable: computed by the front end, not written down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from streamtable.core.errors import Condition, Faults, StreamtableError
from streamtable.session import Session

HERE = Path(__file__).parent
_TABLES = (HERE / "tables.sql").read_text(encoding="utf-8")
_HEAD = re.compile(r"-- (chapter|case|of|refused|unrecorded): (.*)\n")


class State(Enum):
    """State of a feature of Flink in streamtable; the value is the text for the page."""

    WORKS = "works"
    NO_EFFECT = "accepted with a notice, without effect"
    NOT_YET = "not supported yet"
    REFUSED = "refused"


@dataclass
class Case:
    """A statement or clause.

    Attributes:
        name: the name in Flink's spelling.
        chapter: section of the page.
        classes: names of its classes in Flink's parser.
        refused: why streamtable will never support it; None if it works or will work.
        unrecorded: why Flink was not asked about it; None if Flink was asked.
        example: a script.
    """

    name: str
    chapter: str
    classes: tuple[str, ...] = ()
    refused: str | None = None
    unrecorded: str | None = None
    example: str = ""


def cases(name: str) -> Iterator[Case]:
    """Yield the cases of a file."""
    text = (HERE / f"{name}.sql").read_text(encoding="utf-8")
    chapter, found = "", None
    for line in text.splitlines(keepends=True):
        head = _HEAD.fullmatch(line)
        if head is None:
            if found is not None:
                found.example += line
        elif head[1] == "chapter":
            chapter = head[2]
        elif head[1] == "case":
            if found is not None:
                yield found
            found = Case(head[2], chapter)
        else:
            assert found is not None, line
            if head[1] == "of":
                found.classes += tuple(head[2].split())
            elif head[1] == "refused":
                found.refused = head[2]
            else:
                found.unrecorded = head[2]
    if found is not None:
        yield found


@cache
def _loaded(example: str) -> tuple[Session, StreamtableError | None]:
    """Return the session after a script over `tables.sql`, and the first error of the script."""
    session = Session()
    session.load(_TABLES, "tables.sql")
    try:
        session.load(example, "job.sql")
    except StreamtableError as error:
        return session, error
    except Faults as faults:
        return session, faults.faults[0]
    return session, None


def outcome(example: str) -> StreamtableError | None:
    """Return the error of a script over `tables.sql`; None if the script is valid."""
    return _loaded(example)[1]


def state(case: Case) -> State:
    """Return the state of a statement or clause."""
    session, error = _loaded(case.example)
    if error is None:
        idle = any(f"{case.name} has no effect" in notice for notice in session.notices())
        return State.NO_EFFECT if idle else State.WORKS
    if case.refused is not None:
        return State.REFUSED
    return State.NOT_YET


def way_out(case: Case) -> str:
    """Return the reason why a case is refused, or the hint of its error message."""
    error = outcome(case.example)
    return case.refused or (error.hint if error is not None else None) or ""


def told(case: Case) -> bool:
    """Return whether the error of a case says that it is not supported yet."""
    error = outcome(case.example)
    return error is not None and error.condition in (Condition.NOT_YET, Condition.UNSUPPORTED_TYPE)
