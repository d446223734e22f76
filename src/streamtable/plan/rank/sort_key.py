"""Sort key: a column and its sort order."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.identity import stable


@stable("SortKey", field="field", descending="descending", nulls_first="nulls_first")
@dataclass(frozen=True)
class SortKey:
    """One column of a sort order."""

    field: str
    descending: bool
    nulls_first: bool

    @property
    def described(self) -> str:
        """The column, formatted for EXPLAIN."""
        direction = "DESC" if self.descending else "ASC"
        return f"{self.field} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"
