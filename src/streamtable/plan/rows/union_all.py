"""UNION ALL operator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from streamtable.core.changelog import ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION
from streamtable.plan.rows.calc import Calc, Projection, passed_on


@stable("UnionAll", inputs="inputs")
@dataclass(frozen=True)
class UnionAll(Node):
    """Rows of several inputs with equal fields; duplicates are kept."""

    title = "Union"
    state = None
    mixes_inputs = True
    unites_inputs = True

    inputs: tuple[Node, ...]

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields that all inputs share; the `query` modules have matched names and types.

        A field is nullable if it is nullable in one of the inputs.
        """
        # Read the fields of each input once: otherwise each union in a chain doubles the time.
        first, *others = ({f.name: f for f in node.fields} for node in self.inputs)
        return tuple(
            replace(field, type=field.type.with_nullable(True))
            if any(other[name].type.nullable for other in others)
            else field
            for name, field in first.items()
            if all(name in other for other in others)
        )

    @property
    def mode(self) -> ChangelogMode:
        """Row kinds of all inputs."""
        return ChangelogMode(frozenset().union(*(node.mode.kinds for node in self.inputs)))

    def over(self, inputs: Iterable[Node]) -> UnionAll:
        """Return the operator over other inputs."""
        return replace(self, inputs=tuple(inputs))

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return the consumer's need."""
        del child
        return before

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the inputs; rows without one come first.

        Flink keeps the order of each input, and has none between inputs.
        """
        below = [child.positioned() for child in self.inputs]
        if not any(below):
            return None
        pairs = zip(self.inputs, below, strict=True)
        return self.over(found or _unpositioned(child) for child, found in pairs)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the same fields for each input."""
        return tuple(set(wanted) for _ in self.inputs)

    def is_event_time(self, name: str) -> bool:
        """Return whether the field is an event time in every input."""
        return all(child.is_event_time(name) for child in self.inputs)


def _unpositioned(node: Node) -> Node:
    zeros = (
        Projection(field, f"CAST(0 AS {field.type.root.value})", constant=True)
        for field in POSITION
    )
    return Calc(node, (*passed_on(node.fields), *zeros))
