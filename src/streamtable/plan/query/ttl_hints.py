"""STATE_TTL hints: state TTLs for the operators of a query.

As in Flink, a hint applies to the regular joins and the GROUP BY of its own query, by the names of
their inputs in FROM. With 0, state is kept as long as its rows exist.

Source of the rules: Flink's *SQL Hints* and *Streaming Concepts* pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sqlglot import exp

from streamtable.core.durations import parse_duration
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.node import Node
from streamtable.plan.query.lookup_hints import LookupHints
from streamtable.plan.query.relation import Relation

#: Name of the hint.
HINT = "STATE_TTL"


@dataclass(frozen=True)
class TtlHints:
    """STATE_TTL hints of one SELECT, by the name of a relation in FROM.

    Attributes:
        given: name -> duration as written.
        taken: names of the hints that an operator has used.
        lookups: the LOOKUP hints of the SELECT.
    """

    given: Mapping[str, Given] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    lookups: LookupHints = field(default_factory=LookupHints)

    @staticmethod
    def of(query: exp.Select) -> TtlHints:
        """Return the hints of a SELECT.

        Raises:
            StreamtableError: INVALID_OPTION for an invalid duration.
        """
        clause = query.args.get("hint")
        hints = [h for h in (clause.expressions if clause else ()) if h.name == HINT]
        given = {name: value for hint in hints for name, value in hint.options.items()}
        found = TtlHints(given, lookups=LookupHints.of(query))
        for name in found.given:
            found._duration(name)
        return found

    def take(self, relation: Relation) -> timedelta | None:
        """Return the TTL hint for an input of an operator and mark the hint as used; or None."""
        names = {column.qualifier for column in relation.columns}
        name = next(iter(names)) if len(names) == 1 else None
        if name is None or name not in self.given:
            return None
        self.taken.add(name)
        return self._duration(name)

    def check_taken(self) -> None:
        """Refuse hints that no operator has used.

        Raises:
            StreamtableError: OPTION_NOT_SETTABLE.
        """
        self.lookups.check_taken()
        for name, given in self.given.items():
            if name not in self.taken:
                raise _not_settable(
                    name, given.at, f"no regular join and no GROUP BY here keeps rows of {name}"
                )

    def _duration(self, name: str) -> timedelta:
        given = self.given[name]
        try:
            return parse_duration(given.text)
        except ValueError:
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=given.at,
                option=f"{HINT}('{name}')",
                value=given.text,
                expected="a duration such as '10 s' or '1 d'",
            ) from None


def _not_settable(name: str, at: Span | None, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.OPTION_NOT_SETTABLE,
        at=at,
        option=f"{HINT}('{name}')",
        reason=reason,
        hint="remove the hint",
    )


def aggregate_with_ttl(node: Node, source: Relation, hints: TtlHints) -> Node:
    """Apply the TTL hint to a GROUP BY over a single relation of FROM."""
    if not isinstance(node, GroupAggregate):
        return node
    return replace(node, ttl=hints.take(source))
