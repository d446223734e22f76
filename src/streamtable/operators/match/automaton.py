"""Automaton of a pattern: the states and transitions of Flink's NFA compiler.

The states are built from the last variable to the first. A greedy variable does not leave its rows
to what follows: the transitions of the state behind it require that its own condition fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streamtable.jvm.specs.match import PatternEdge, PatternState
from streamtable.plan.match.pattern import PatternVariable


@dataclass
class _Edge:
    take: bool
    target: _State
    holds: list[int] = field(default_factory=list)
    fails: list[int] = field(default_factory=list)


@dataclass(eq=False)
class _State:
    number: int
    variable: int
    edges: list[_Edge] = field(default_factory=list)


@dataclass
class _Builder:
    """Builds the states of one variable after the other.

    Attributes:
        states: all states; the first one is the end.
    """

    states: list[_State] = field(default_factory=lambda: [_State(0, 0)])

    def state(self, variable: int) -> _State:
        self.states.append(_State(len(self.states), variable))
        return self.states[-1]

    def before(self, variable: int, quantified: PatternVariable, sink: _State) -> _State:
        """Add the states of a variable before a state; return the first of them."""
        least, most = max(quantified.least, 1), quantified.most
        looping = most is None
        target = self._loop(variable, sink, greedy=quantified.is_greedy) if looping else sink
        if not looping and quantified.is_greedy:
            _yield_to(variable, sink)
        for _ in range(least, least if most is None else most):
            target = self._single(variable, target, sink)
        for _ in range(least - 1):
            target = self._single(variable, target, None)
        return self._single(variable, target, sink if quantified.is_optional else None)

    def _loop(self, variable: int, sink: _State, *, greedy: bool) -> _State:
        found = self.state(variable)
        found.edges.append(_Edge(take=False, target=sink))
        if greedy:
            _yield_to(variable, sink)
        found.edges.append(_Edge(take=True, target=found, holds=[variable]))
        return found

    def _single(self, variable: int, target: _State, skipped: _State | None) -> _State:
        """Add a state that takes one row; `skipped` follows if it may take none."""
        found = self.state(variable)
        found.edges.append(_Edge(take=True, target=target, holds=[variable]))
        if skipped is not None:
            found.edges.append(_Edge(take=False, target=skipped))
        return found


def _yield_to(variable: int, state: _State) -> None:
    for edge in state.edges:
        edge.fails.append(variable)


def automaton(pattern: Sequence[PatternVariable]) -> list[PatternState]:
    """Return the states of a pattern: the end is the first one, the start the last one."""
    builder = _Builder()
    sink = builder.states[0]
    for number, variable in reversed(list(enumerate(pattern))):
        sink = builder.before(number, variable, sink)
    return [
        PatternState(
            [
                PatternEdge(e.take, state.variable, e.target.number, e.holds, e.fails)
                for e in state.edges
            ]
        )
        for state in builder.states
    ]
