"""Base class of operators that process append-only input in the order of a time attribute."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.errors import Span
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Key, Node
from streamtable.plan.position import with_position, with_ties
from streamtable.plan.window.refusals import takes_inserts


class TimeOrdered(UnaryNode):
    """An operator over one append-only input, in the order of a time attribute.

    Attributes:
        clause: name of the SQL clause in messages.
        order: input fields that order rows with the same time; ties are ordered by all fields from
            the left. The optimizer fills them with the positions of the rows.
        at: place of the clause in the script.
    """

    clause: ClassVar[str]
    passes_times = True

    order: Key
    at: Span | None

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input."""
        return self.input.row_keys(ordered=ordered)

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return false: the input is append-only."""
        del child, before
        return False

    def satisfied(self, before: bool, duplicates: bool) -> Node:
        """Refuse inputs with updates or deletes.

        Raises:
            StreamtableError: TAKES_INSERTS_ONLY.
        """
        if not self.input.mode.is_append:
            hint = f"Flink's {self.title} does not accept updates and deletes either"
            raise takes_inserts(self.input, self.at, self.clause, hint)
        return super().satisfied(before, duplicates)

    def settled(self, before: bool) -> Self:
        """Return the operator with row positions, which order rows with the same time.

        In processing time, they order all rows of a batch.
        """
        del before
        order_of = with_position if self.by_processing_time else with_ties
        below, order = order_of(self.input)
        return replace(self, input=below, order=order)  # type: ignore[call-arg]
