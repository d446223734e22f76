"""Exchange operator: the rows of each sink key in one task, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from streamtable.core.changelog import ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.keys import listed
from streamtable.plan.node import Key


@stable("Exchange", key="key", order="order")
@dataclass(frozen=True)
class Exchange(UnaryNode):
    """Shuffle append-only rows by the sink's key, and sort each batch.

    The state of a window is kept by group and window, so different tasks may emit two windows of a
    group. Flink emits all windows of a group in one task. Of several rows with the same key, the
    sink must get the row of the last window last.

    Attributes:
        key: the primary key of the sink.
        order: input fields that order the rows; they are not passed on.
    """

    title = "Exchange"
    state = None

    key: Key
    order: Key

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input, without the order fields."""
        return self.fields_without(self.order)

    @property
    def mode(self) -> ChangelogMode:
        """Mode of the input."""
        return self.input.mode

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input."""
        return self.input.row_keys(ordered=ordered)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the key and the order fields."""
        return (wanted | {*self.key, *self.order},)

    def obstacle(self) -> str | None:
        """Return that rows are sorted, batch by batch."""
        return "windows of one sink key are sorted, which Spark does in micro-batches only"

    @property
    def headline(self) -> str:
        """Shows key and order."""
        return f"Exchange by {listed(self.key)}, in the order of {listed(self.order)}"
