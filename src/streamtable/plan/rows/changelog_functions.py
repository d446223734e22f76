"""The operators of `TO_CHANGELOG` and `FROM_CHANGELOG`: row kinds as values of a column, and back.

Source of the rules: Flink 2.3, where both are process table functions with row semantics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode, RowKind
from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Node
from streamtable.plan.window.refusals import takes_inserts


@stable("ToChangelog", op="op", codes="codes")
@dataclass(frozen=True)
class ToChangelog(UnaryNode):
    """An insert for each change of the input, with a code of its row kind.

    Attributes:
        op: the field with the code; it comes first.
        codes: row kinds with their codes; rows of other kinds are dropped.
    """

    title = "ToChangelog"
    state = None
    passes_times = True

    op: Field
    codes: tuple[tuple[RowKind, str], ...]

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The code, then the fields of the input."""
        return (self.op, *self.input.fields)

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return true for changes: Flink requires update-before rows and whole deletes."""
        del before
        return not child.mode.is_append

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the input."""
        below = self.input.positioned()
        return None if below is None else self.over([below])

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return all fields of the input: a change of an unread column is a change, too."""
        del wanted
        return ({f.name for f in self.input.fields},)

    @property
    def headline(self) -> str:
        """Shows the field of the code, and the codes."""
        codes = ", ".join(f"{kind.short} '{code}'" for kind, code in self.codes)
        return f"ToChangelog {self.op.name}: {codes}"


@stable("FromChangelog", op="op", codes="codes")
@dataclass(frozen=True)
class FromChangelog(UnaryNode):
    """The changes that inserts tell by a code of the row kind; another code fails the query.

    Attributes:
        op: the STRING field with the code, which is not passed on.
        codes: codes with their row kinds.
        at: place of the call.
    """

    title = "FromChangelog"
    state = None
    passes_times = True

    op: str
    codes: tuple[tuple[str, RowKind], ...]
    at: Span | None = field(default=None, compare=False)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input, without the code."""
        return self.fields_without((self.op,))

    @property
    def mode(self) -> ChangelogMode:
        """The row kinds that have a code."""
        return ChangelogMode(frozenset(kind for _, kind in self.codes))

    @property
    def retracts_unknown(self) -> bool:
        """Whether codes may retract rows: the input may begin with any code."""
        return not self.mode.is_append

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the input."""
        below = self.input.positioned()
        return None if below is None else self.over([below])

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, and the code."""
        return (wanted | {self.op},)

    def satisfied(self, before: bool, duplicates: bool) -> Node:
        """Refuse inputs with updates or deletes.

        Raises:
            StreamtableError: TAKES_INSERTS_ONLY.
        """
        if not self.input.mode.is_append:
            hint = "TO_CHANGELOG first makes inserts of them"
            raise takes_inserts(self.input, self.at, "FROM_CHANGELOG", hint)
        return super().satisfied(before, duplicates)

    @property
    def changes(self) -> str:
        """The changes that the function makes."""
        return "the changes of FROM_CHANGELOG"

    @property
    def headline(self) -> str:
        """Shows the field of the code, and the codes."""
        codes = ", ".join(f"'{code}' {kind.short}" for code, kind in self.codes)
        return f"FromChangelog {self.op}: {codes}"
