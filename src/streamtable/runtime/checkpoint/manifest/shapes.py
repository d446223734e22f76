"""Operators in the shape of a plan (`plan.rules.shape`), as JSON data of this or an older run.

The data names operators and fields by their stable ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamtable.core.identity import identities
from streamtable.plan.node import Node

_ROOT = "Sink"


@dataclass(frozen=True)
class Operator:
    """One operator of a shape.

    Attributes:
        id: stable id of its class.
        own: its fields without its inputs, by their ids.
        inputs: its inputs, left to right.
    """

    id: str
    own: dict[str, Any]
    inputs: tuple[Operator, ...]

    def all(self) -> Iterator[Operator]:
        """Yield the operators of the tree, from the top."""
        yield self
        for child in self.inputs:
            yield from child.all()


@dataclass(frozen=True)
class Place:
    """An operator that differs between two plans.

    Attributes:
        number: its place, from the top, in both plans.
        operator: its id, and its fields that differ, as text.
    """

    number: int
    operator: str


def operators(data: Any) -> Sequence[Operator]:
    """Return the operators of a shape, from the top."""
    return tuple(operator(data).all())


def operator(data: Any) -> Operator:
    """Return the operator at the top of a shape, with its inputs."""
    return _operator(data, _ids())


def first_difference(before: Any, now: Any) -> Place | None:
    """Return the first operator, from the top, that differs between two shapes; None if none."""
    pairs = zip(operators(before), operators(now), strict=False)
    for number, (old, new) in enumerate(pairs):
        if old.id != new.id:
            return Place(number, f"{old.id}, now {new.id}")
        names = [n for n in {**old.own, **new.own} if old.own.get(n) != new.own.get(n)]
        if names:
            return Place(number, f"{', '.join(names)} of {old.id}")
        if len(old.inputs) != len(new.inputs):
            return Place(number, f"number of inputs of {old.id}")
    return None


def _operator(data: Any, ids: frozenset[str]) -> Operator:
    ((name, parts),) = data.items()
    own, inputs = {}, []
    for part, value in parts.items():
        values = value if isinstance(value, list) and value else [value]
        if all(_is_operator(v, ids) for v in values):
            inputs += [_operator(v, ids) for v in values]
        else:
            own[part] = value
    return Operator(name, own, tuple(inputs))


def _is_operator(data: Any, ids: frozenset[str]) -> bool:
    return isinstance(data, dict) and len(data) == 1 and next(iter(data)) in ids


def _ids() -> frozenset[str]:
    """Return the ids of all operators, and of the root."""
    return frozenset({_ROOT, *(i.id for cls, i in identities().items() if issubclass(cls, Node))})
