"""The automaton of a pattern has the states and transitions of Flink's NFA compiler."""

from __future__ import annotations

import pytest

from streamtable.operators.match.automaton import automaton
from streamtable.plan.match.pattern import PatternVariable

A, B = PatternVariable("A"), PatternVariable("B")
#: Pattern -> transitions of each state. `+1>0` takes a row of variable 1 and moves to state 0; `>0`
#: moves without a row. The lists have the conditions that must hold and those that must fail.
AUTOMATA = {
    (A, B): ["", "+1>0 [1] []", "+0>1 [0] []"],
    (PatternVariable("A", 0, 1), B): ["", "+1>0 [1] []", "+0>1 [0] [] >1 [] []"],
    (PatternVariable("A", 1, None), B): [
        "",
        "+1>0 [1] [0]",
        ">1 [] [] +0>2 [0] []",
        "+0>2 [0] []",
    ],
    (PatternVariable("A", 0, None, reluctant=True), B): [
        "",
        "+1>0 [1] []",
        ">1 [] [] +0>2 [0] []",
        "+0>2 [0] [] >1 [] []",
    ],
    (PatternVariable("A", 1, 2), B): [
        "",
        "+1>0 [1] [0]",
        "+0>1 [0] [] >1 [] []",
        "+0>2 [0] []",
    ],
    (PatternVariable("A", 2, 2), B): ["", "+1>0 [1] []", "+0>1 [0] []", "+0>2 [0] []"],
    (PatternVariable("A", 1, None), PatternVariable("B", 0, 1), PatternVariable("C")): [
        "",
        "+2>0 [2] []",
        "+1>1 [1] [0] >1 [] [0]",
        ">2 [] [] +0>3 [0] []",
        "+0>3 [0] []",
    ],
}


@pytest.mark.parametrize(("pattern", "states"), AUTOMATA.items(), ids=str)
def test_automata(pattern: tuple[PatternVariable, ...], states: list[str]) -> None:
    found = [
        " ".join(
            f"{f'+{e.variable}' if e.take else ''}>{e.target} {e.holds} {e.fails}"
            for e in state.edges
        )
        for state in automaton(pattern)
    ]
    assert found == states
