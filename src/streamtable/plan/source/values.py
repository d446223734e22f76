"""VALUES operator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import LeafNode
from streamtable.plan.node import Key

#: An integer, or a string without escapes.
_LITERAL = re.compile(r"\d+|\(-\d+\)|'[^'\\]*'")


@stable("Values", fields="fields", rows="rows")
@dataclass(frozen=True)
class Values(LeafNode):
    """Literal rows of a query.

    Attributes:
        rows: Spark SQL of each value, in its field's type; for a query without FROM, one row
            without values.
    """

    title = "Values"
    state = None

    fields: tuple[Field, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return each field that has a different literal in every row."""
        del ordered
        if len(self.rows) == 1:
            return ((),)
        columns = zip(self.fields, zip(*self.rows, strict=True), strict=True)
        return tuple((f.name,) for f, texts in columns if _are_distinct(texts))

    @property
    def constants(self) -> frozenset[str]:
        """All fields, if there is a single row."""
        return frozenset(f.name for f in self.fields if len(self.rows) == 1)

    def narrowed(self, wanted: set[str]) -> Values:
        """Return the rows without unused columns."""
        kept = [i for i, f in enumerate(self.fields) if f.name in wanted]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return Values(tuple(self.fields[i] for i in kept), rows)

    def obstacle(self) -> str:
        """Real-time mode reads only unbounded sources."""
        return "Spark does not read VALUES in real-time mode"

    @property
    def is_static(self) -> bool:
        """Always true."""
        return True

    @property
    def headline(self) -> str:
        """Shows the rows."""
        if not self.fields:
            return f"Values: {len(self.rows)} rows" if len(self.rows) > 1 else "Values: one row"
        names = ", ".join(f.name for f in self.fields)
        rows = ", ".join(f"({', '.join(row)})" for row in self.rows)
        return f"Values ({names}): {rows}"


def _are_distinct(texts: Sequence[str]) -> bool:
    """Return whether these are literals of one type that differ in value as they do in text."""
    return len(set(texts)) == len(texts) and all(map(_LITERAL.fullmatch, texts))
