"""Window Top-N operator: ROW_NUMBER per window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Key, Node
from streamtable.plan.position import with_ties
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.state import StateLayout
from streamtable.plan.window.emission import positioned_by_time
from streamtable.plan.window.fields import WindowField
from streamtable.plan.window.window import Window


@stable(
    "WindowTopN",
    window="window",
    partition="partition",
    end="end",
    order="order",
    limit="limit",
    skip="skip",
    rank="rank",
    ties="ties",
    last="last",
)
@dataclass(frozen=True)
class WindowTopN(UnaryNode):
    """Emit the first rows of each partition of a window, once, when the watermark passes its end.

    As in Flink, the row that arrived first ranks first among equal rows.

    Attributes:
        partition: partition fields, including the window bounds.
        end: partition field with the end of the window.
        rank: name and type of the row number; None: unused.
        ties: input fields with a row's position in its source; they are not passed on. Without
            them, equal rows are ordered by all columns from the left.
        last: whether the last of equal rows ranks first, as in Flink's deduplication that keeps the
            last row by event time.
    """

    title = "WindowTopN"
    state = StateLayout("WindowTopN", 1, ("WindowTopNProcessor",), frozenset({"top"}))
    waits = fires_windows = True
    emits_by_time = emits_apart = True

    window: Window
    partition: Key
    end: str
    order: tuple[SortKey, ...]
    limit: int
    skip: int = 0
    rank: Field | None = None
    ties: Key = ()
    last: bool = False

    @property
    def grouping(self) -> Key:
        """Partition fields."""
        return self.partition

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input without the ties, then the row number."""
        return (*self.fields_without(self.ties), *((self.rank,) if self.rank else ()))

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    @property
    def clock_window(self) -> Window | None:
        """The window of the operator."""
        return self.window if self.window.processing else None

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the partition fields, plus the row number if there may be several rows."""
        del ordered
        if self.limit == 1:
            return (self.partition,)
        return ((*self.partition, self.rank.name),) if self.rank else ()

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return the consumer's need: the input is append-only."""
        return before or not child.mode.is_append

    def settled(self, before: bool) -> WindowTopN:
        """Return the operator with row positions, which break ties."""
        del before
        below, ties = with_ties(self.input)
        return replace(self, input=below, ties=ties)

    def positioned(self) -> Node:
        """Return the operator with positions by the window's end."""
        return positioned_by_time(self, self.end)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the partition and the order."""
        own = {self.rank.name} if self.rank else set()
        return (wanted - own | {*self.partition, *(k.field for k in self.order), *self.ties},)

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound of an input field."""
        return self.passed_window(name)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    @property
    def headline(self) -> str:
        """Shows window, partition, order and limit."""
        order = ", ".join(key.described for key in self.order)
        rank = f" with {self.rank.name}" if self.rank else ""
        skip = f" after {self.skip}" if self.skip else ""
        rows = f"{self.limit}{skip} of {order or 'any order'}{rank}"
        return f"WindowTopN {self.window.described} by ({', '.join(self.partition)}): {rows}"
