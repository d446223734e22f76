"""How long state is kept: `table.exec.state.ttl`, and the hint STATE_TTL of a single query.

As in Flink the setting holds for every operator that keeps rows until they are taken back, and the
hint for the regular joins and the GROUP BY of its own query, by the names that FROM gives to their
inputs; 0 keeps state as long as its rows live. Windows, interval joins and frames of OVER that hold
so much time drop their state by event time and have no such limit.

Source of the rules: Flink's *SQL Hints* and *Streaming Concepts* pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar

from sqlglot import exp

from streamtable.core.durations import parse_duration
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given, Settings
from streamtable.core.settings import STATE_TTL
from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.expand_node import Expand
from streamtable.plan.nodes import Calc, Collect, GroupAggregate, Node, Sink, UnionAll
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.relation import Relation
from streamtable.plan.source_nodes import Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_joins import TemporalJoin
from streamtable.plan.time_nodes import TimeOperator

#: The name of the hint.
HINT = "STATE_TTL"

R = TypeVar("R", Sink, Collect)


@dataclass(frozen=True)
class TtlHints:
    """What the STATE_TTL hints of one SELECT say, by name of a relation in its FROM.

    Attributes:
        given: name -> duration as written.
        taken: the names that an operator has asked for.
    """

    given: Mapping[str, Given] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    @staticmethod
    def of(query: exp.Select) -> TtlHints:
        """The hints of a SELECT.

        Raises:
            StreamtableError: INVALID_OPTION for what is no duration.
        """
        clause = query.args.get("hint")
        hints = [h for h in (clause.expressions if clause else ()) if h.name == HINT]
        found = TtlHints({name: given for hint in hints for name, given in hint.options.items()})
        for name in found.given:
            found._duration(name)
        return found

    def take(self, relation: Relation) -> timedelta | None:
        """How long an operator keeps the rows of an input; None where no hint says so."""
        names = {column.qualifier for column in relation.columns}
        name = next(iter(names)) if len(names) == 1 else None
        if name is None or name not in self.given:
            return None
        self.taken.add(name)
        return self._duration(name)

    def check_taken(self) -> None:
        """Refuses hints that no operator has asked for.

        Raises:
            StreamtableError: OPTION_NOT_SETTABLE.
        """
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
    """A grouping of one relation of FROM keeps its groups as long as a hint says."""
    if not isinstance(node, GroupAggregate):
        return node
    return replace(node, ttl=hints.take(source))


def with_state_ttl(plan: R, settings: Settings) -> R:
    """Tells every operator how long it keeps its state, where no hint has told it."""
    return replace(plan, input=_told(plan.input, settings[STATE_TTL]))


def expiring_nodes(node: Node) -> Iterator[Node]:
    """The operators of a tree whose state Spark lets expire.

    Those that wait for the watermark look at the clock themselves.
    """
    return filter(_expires, _every(node))


def _every(node: Node) -> Iterator[Node]:
    yield node
    for child in node.inputs:
        yield from _every(child)


def _expires(node: Node) -> bool:
    match node:
        case Join():
            return node.left_ttl is not None or node.right_ttl is not None
        case (
            Normalize()
            | GroupAggregate()
            | TopN()
            | Materialize()
            | SortedOver()
            | ArrivalDeduplicate()
        ):
            return node.ttl is not None
        case ArrivalOver():
            return node.expiry is not None
        case _:
            return False


def _told(node: Node, default: timedelta) -> Node:
    match node:
        case Join():
            return replace(
                node,
                left=_told(node.left, default),
                right=_told(node.right, default),
                left_ttl=_limit(node.left_ttl, default),
                right_ttl=_limit(node.right_ttl, default),
            )
        case (
            GroupAggregate()
            | TopN()
            | Materialize()
            | SortedOver()
            | Deduplicate()
            | ArrivalDeduplicate()
            | ArrivalOver()
        ):
            return replace(node, input=_told(node.input, default), ttl=_limit(node.ttl, default))
        case OverAggregate() if not node.frame.of_time:
            return replace(node, input=_told(node.input, default), ttl=_limit(node.ttl, default))
        case TemporalJoin():
            left, right = (_told(child, default) for child in node.inputs)
            return replace(node, left=left, right=right, ttl=_limit(node.ttl, default))
        case Normalize():
            return replace(node, ttl=_limit(node.ttl, default))
        case Calc() | Expand() | Repeat():
            return replace(node, input=_told(node.input, default))
        case UnionAll():
            return UnionAll(tuple(_told(child, default) for child in node.inputs))
        case Scan() | Values() | StaticTable():
            return node
        case TimeOperator():
            return node.over([_told(child, default) for child in node.inputs])


def _limit(own: timedelta | None, default: timedelta) -> timedelta | None:
    """What holds; None for as long as the rows live."""
    return (default if own is None else own) or None
