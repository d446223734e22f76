"""Static table with rows from a program."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import LeafNode


@stable("StaticTable", name="name", fields="fields")
@dataclass(frozen=True)
class StaticTable(LeafNode):
    """The rows of a DataFrame that a program has registered as a view; they do not change.

    Attributes:
        rows: the DataFrame.
    """

    title = "StaticTable"
    state = None

    name: str
    fields: tuple[Field, ...]
    rows: object = field(compare=False, repr=False)

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    def narrowed(self, wanted: set[str]) -> StaticTable:
        """Return the table without unused columns."""
        return replace(self, fields=tuple(f for f in self.fields if f.name in wanted))

    def obstacle(self) -> str:
        """Real-time mode reads only unbounded sources."""
        return "Spark does not read a DataFrame in real-time mode"

    @property
    def is_static(self) -> bool:
        """Always true."""
        return True

    @property
    def headline(self) -> str:
        """Shows the columns."""
        return f"StaticTable {self.name}: reads ({', '.join(f.name for f in self.fields)})"
