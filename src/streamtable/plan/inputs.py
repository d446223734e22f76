"""Base classes of operators: by number of inputs, with a state TTL, with updates by key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Self

from streamtable.core.changelog import INSERT_DELETE, RETRACT, UPSERT, ChangelogMode
from streamtable.core.identity import stable
from streamtable.plan.node import Key, Node
from streamtable.plan.position import is_scattered
from streamtable.plan.state import limit

if TYPE_CHECKING:
    from streamtable.core.types import Field
    from streamtable.plan.window.fields import WindowField


class LeafNode(Node):
    """An operator without inputs."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """No inputs."""
        return ()

    def over(self, inputs: Iterable[Node]) -> Self:
        """Return the operator itself: a leaf has no inputs."""
        del inputs
        return self


@stable("", input="input")
@dataclass(frozen=True)
class UnaryNode(Node):
    """An operator over one input.

    Attributes:
        passes_times: whether the operator passes on event times and windows of the input unchanged.
    """

    input: Node

    passes_times: ClassVar[bool] = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The single input."""
        return (self.input,)

    def over(self, inputs: Iterable[Node]) -> Self:
        """Return the operator over another input."""
        (node,) = inputs
        return replace(self, input=node)

    @property
    def grouping(self) -> Key | None:
        """Input fields by whose values the operator groups rows; None if it does not group rows."""
        return None

    @property
    def state_keys(self) -> tuple[Key, ...]:
        """The grouping fields."""
        return () if self.grouping is None else (self.grouping,)

    @property
    def batch_order(self) -> Key:
        """Input fields that order the rows of a batch, where their order decides about the result.

        Rows of an earlier batch come first. Empty if there are no such fields.
        """
        return ()

    def obstacle(self) -> str | None:
        """Return that windows are taken in order: in real-time mode, they arrive in any order."""
        if self.batch_order and is_scattered(self.input):
            return "windows of one key are taken in order, which Spark does in micro-batches only"
        return super().obstacle()

    def fields_without(self, names: Key) -> tuple[Field, ...]:
        """Return the fields of the input except some, which the operator does not pass on."""
        return tuple(field for field in self.input.fields if field.name not in names)

    def is_event_time(self, name: str) -> bool:
        """Return whether the input's field is an event time that the operator passes on."""
        if not self.passes_times:
            return super().is_event_time(name)
        return self._has(name) and self.input.is_event_time(name)

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound of the input's field, if the operator passes it on."""
        return self.passed_window(name) if self.passes_times else None

    def passed_window(self, name: str) -> WindowField | None:
        """Return the window bound in a field of the input."""
        return self.input.window_field(name) if self._has(name) else None

    def _has(self, name: str) -> bool:
        return any(f.name == name for f in self.input.fields)


@stable("", left="left", right="right")
@dataclass(frozen=True)
class BinaryNode(Node):
    """An operator over two inputs."""

    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The left and the right input."""
        return (self.left, self.right)

    def over(self, inputs: Iterable[Node]) -> Self:
        """Return the operator over other inputs."""
        left, right = inputs
        return replace(self, left=left, right=right)


class Expiring(Node):
    """An operator with one state and a TTL for it."""

    ttl: timedelta | None

    def limited(self, default: timedelta) -> Self:
        """Return the operator with its own TTL or, by default, the setting's."""
        return replace(self, ttl=limit(self.ttl, default))  # type: ignore[type-var]

    @property
    def kept_for(self) -> Sequence[tuple[str, timedelta | None]]:
        """The operator's single state and its TTL."""
        return (("state", self.ttl),)


class PairsChanges(Node):
    """An operator that combines a retracted row and an added row with equal keys into an update.

    Attributes:
        key: output fields by which rows are paired. None: there are no such fields, and every
            change is a delete or an insert.
        before: whether to emit update-before rows.
    """

    key: Key | None
    before: bool

    @property
    def mode(self) -> ChangelogMode:
        """Inserts and deletes, and updates if there is a key."""
        if self.key is None:
            return INSERT_DELETE
        return RETRACT if self.before else UPSERT

    def pruned(self, wanted: set[str]) -> Node:
        """Return the pruned operator; its key is removed if the consumer does not read it.

        The operator then does not pair changes.
        """
        pruned = super().pruned(wanted)
        there = {f.name for f in pruned.fields}
        if set(self.key or ()) <= there:
            return pruned
        return replace(pruned, key=None)  # type: ignore[type-var]
