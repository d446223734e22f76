"""Base class of joins on equal keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import BinaryNode
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.keys import distinct, has_key, unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.window.fields import WindowField


@stable("", derived=("condition_fields",), kind="kind", keys="keys", condition="condition")
@dataclass(frozen=True)
class PairNode(BinaryNode):
    """Join of two inputs on equal keys; NULL equals nothing.

    The fields of the inputs have different names.

    Attributes:
        keys: pairs (left field, right field) that must be equal and have the same type.
        condition: further join condition as Spark SQL over the fields of both inputs.
        condition_fields: the fields that the condition reads.
    """

    kind: JoinKind
    keys: tuple[tuple[str, str], ...]
    condition: str | None
    condition_fields: frozenset[str]

    @property
    def left_keys(self) -> Key:
        """Left fields of the join key."""
        return tuple(left for left, _ in self.keys)

    @property
    def right_keys(self) -> Key:
        """Right fields of the join key."""
        return tuple(right for _, right in self.keys)

    @property
    def state_keys(self) -> tuple[Key, ...]:
        """Join key of each input."""
        return (self.left_keys, self.right_keys)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the left input, then of the right; nullable if a row may be unmatched."""
        return self.kind.fields(self.left.fields, self.right.fields)

    @property
    def arrival_inputs(self) -> tuple[Node, ...]:
        """The inputs whose fields are passed on."""
        return (self.left,) if self.kind.left_only else self.inputs

    @property
    def pair_condition(self) -> str | None:
        """Join condition."""
        return self.condition

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the join key, and the fields of the condition."""
        both = wanted | self.condition_fields | {*self.left_keys, *self.right_keys}
        return tuple(both & {f.name for f in node.fields} for node in self.inputs)

    @property
    def equal(self) -> str:
        """The equalities, formatted for EXPLAIN."""
        return " AND ".join(f"{left} = {right}" for left, right in self.keys)

    @property
    def equal_where(self) -> str:
        """The equalities and the condition, formatted for EXPLAIN."""
        return f"{self.equal}, where {self.condition}" if self.condition else self.equal

    def unique(self) -> tuple[Key, ...]:
        """Return the unique keys of the joined rows."""
        left, right = unique_keys(self.left), unique_keys(self.right)
        return distinct(v for key in self.combined(left, right) for v in self.variants(key))

    def combined(self, left: Iterable[Key], right: Iterable[Key]) -> list[Key]:
        """Combine keys of the inputs to keys of the joined rows.

        If a row has at most one match, its own key is enough. The exception is a join that also
        emits unmatched rows in which this key is NULL. Ordered keys are told from ordered keys
        only: between two changes of different tasks, a row may have two matches or none.
        """
        kind = self.kind
        if kind.left_only:
            return list(left)
        found: list[Key] = []
        if has_key(right, self.right_keys) and not kind.pads_left:
            found.extend(left)
        if has_key(left, self.left_keys) and not kind.pads_right:
            found.extend(right)
        for one, other in product(left, right):
            # In a full join, either part may be NULL for an unmatched row. If both parts could also
            # be NULL in a row itself, two rows could have the same key.
            told_apart = _never_null(one, self.left) or _never_null(other, self.right)
            if kind is not JoinKind.FULL or told_apart:
                found.append((*one, *other))
        return found

    def variants(self, key: Key) -> Iterable[Key]:
        """Yield the key, then the key with fields replaced by equal fields of an inner join."""
        if self.kind is not JoinKind.INNER:
            return [key]
        equals: dict[str, str] = {}
        for left, right in self.keys:
            equals.setdefault(left, right)
            equals.setdefault(right, left)
        return product(*([name, equals[name]] if name in equals else [name] for name in key))

    def side_window(self, name: str) -> WindowField | None:
        """Return the window bound in a field of an input, if every row has it."""
        padded = (self.kind.pads_left, self.kind.pads_right)
        for child, may_miss in zip(self.inputs, padded, strict=True):
            if any(f.name == name for f in child.fields):
                return None if may_miss else child.window_field(name)
        return None


def _never_null(key: Key, node: Node) -> bool:
    """Return whether some field of the key is never NULL."""
    return any(f.name in key and not f.type.nullable for f in node.fields)
