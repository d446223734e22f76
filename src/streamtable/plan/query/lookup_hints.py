"""LOOKUP hints: how lookups of rows that a table does not have yet are repeated.

Source of the rules: *LOOKUP* in Flink's *SQL Hints* page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sqlglot import exp

from streamtable.core.durations import parse_duration
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.option_kinds import integer
from streamtable.core.options import Given
from streamtable.plan.query.relation import Relation
from streamtable.sql.nodes import HintNode
from streamtable.sql.place import place_of

#: Name of the hint.
HINT = "LOOKUP"

_TABLE = "table"
_ASYNC = "async"
_DELAY, _ATTEMPTS = "fixed-delay", "max-attempts"
#: The options of a retry, which Flink requires together, with the values that Flink knows.
_KEYWORDS = {"retry-predicate": "lookup_miss", "retry-strategy": "fixed_delay"}
_RETRY = (*_KEYWORDS, _DELAY, _ATTEMPTS)
#: Options of asynchronous lookups, and of the distribution of rows.
_NOT_YET = {
    "output-mode": "lookups wait for their rows, in order",
    "capacity": "lookups wait for their rows, one at a time",
    "timeout": "lookups wait for their rows; the driver has timeouts of its own",
    "shuffle": "rows stay in their task; the partial cache of a table serves all tasks",
}
_KNOWN = (_TABLE, _ASYNC, *_RETRY, *_NOT_YET)


@dataclass(frozen=True)
class LookupRetry:
    """Repetition of lookups that find no row.

    Attributes:
        delay: wait between two lookups.
        attempts: largest number of lookups of a key.
    """

    delay: timedelta
    attempts: int


@dataclass(frozen=True)
class LookupHints:
    """LOOKUP hints of one SELECT, by the name of a relation in FROM.

    Attributes:
        given: name -> retry, or None; and the place of the hint.
        taken: names of the hints that a lookup join has used.
    """

    given: Mapping[str, tuple[LookupRetry | None, Span | None]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    @staticmethod
    def of(query: exp.Select) -> LookupHints:
        """Return the hints of a SELECT.

        Raises:
            StreamtableError: an error of an option, at its place.
        """
        clause = query.args.get("hint")
        hints = [h for h in (clause.expressions if clause else ()) if h.name == HINT]
        return LookupHints(dict(map(_read, hints)))

    def take(self, relation: Relation) -> LookupRetry | None:
        """Return the retry for a looked-up relation, and mark the hint as used."""
        for name in {column.qualifier for column in relation.columns}:
            if name is not None and name in self.given:
                self.taken.add(name)
                return self.given[name][0]
        return None

    def check_taken(self) -> None:
        """Refuse hints that no lookup join has used.

        Raises:
            StreamtableError: OPTION_NOT_SETTABLE.
        """
        for name, (_, at) in self.given.items():
            if name not in self.taken:
                raise StreamtableError(
                    Condition.OPTION_NOT_SETTABLE,
                    at=at,
                    option=f"{HINT}('{_TABLE}' = '{name}')",
                    reason=f"{name} is not the right table of a lookup join with a connector",
                    hint="remove the hint, or join FOR SYSTEM_TIME AS OF a processing time",
                )


def _read(hint: HintNode) -> tuple[str, tuple[LookupRetry | None, Span | None]]:
    """Return the table of a hint, with its retry and its place."""
    given, at = hint.options, place_of(hint)
    for key, value in given.items():
        if key in _NOT_YET:
            raise _not_yet(key, value, _NOT_YET[key])
        if key not in _KNOWN:
            raise StreamtableError(
                Condition.UNKNOWN_OPTION,
                at=value.at,
                hint=closest(key, _KNOWN) or f"known: {', '.join(_KNOWN)}",
                table=given[_TABLE].text if _TABLE in given else "",
                option=key,
                owner=f"the hint {HINT}",
            )
    if _TABLE not in given:
        raise _missing(_TABLE, "", at)
    name = given[_TABLE].text
    if _ASYNC in given and _checked(_ASYNC, given[_ASYNC], ("true", "false")) == "true":
        raise _not_yet(_ASYNC, given[_ASYNC], "lookups wait for their rows; remove it")
    if not any(key in given for key in _RETRY):
        return name, (None, at)
    for key in _RETRY:
        if key not in given:
            raise _missing(key, name, at)
    for key, keyword in _KEYWORDS.items():
        _checked(key, given[key], (keyword,))
    return name, (LookupRetry(_delay(given[_DELAY]), _attempts(given[_ATTEMPTS])), at)


def _checked(key: str, given: Given, known: tuple[str, ...]) -> str:
    text = given.text.strip().lower()
    if text not in known:
        raise _invalid(key, given, " or ".join(f"'{word}'" for word in known))
    return text


def _delay(given: Given) -> timedelta:
    try:
        return parse_duration(given.text)
    except ValueError:
        raise _invalid(_DELAY, given, "a duration such as '10 s'") from None


def _attempts(given: Given) -> int:
    kind = integer(minimum=1)
    try:
        return kind.read(given.text)
    except ValueError:
        raise _invalid(_ATTEMPTS, given, kind.expects) from None


def _invalid(key: str, given: Given, expected: str) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_OPTION,
        at=given.at,
        option=f"{HINT} {key}",
        value=given.text,
        expected=expected,
    )


def _missing(key: str, name: str, at: Span | None) -> StreamtableError:
    return StreamtableError(
        Condition.MISSING_OPTION,
        at=at,
        hint=f"add '{key}' = '...' to the hint",
        table=name,
        option=key,
        owner=f"the hint {HINT}",
    )


def _not_yet(key: str, given: Given, hint: str) -> StreamtableError:
    return StreamtableError(
        Condition.NOT_YET,
        at=given.at,
        what=f"'{key}' = '{given.text}' in the hint {HINT}",
        hint=hint,
    )
