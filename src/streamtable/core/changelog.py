"""Row kinds and changelog modes, with Flink's names and byte codes (`RowKind`, `ChangelogMode`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

#: The hidden column that carries the row kind of every changelog row; a TINYINT, Flink's code.
ROW_KIND_COLUMN = "__row_kind"


class RowKind(IntEnum):
    """What a changelog row does to the table; the value is Flink's byte code."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    @property
    def short(self) -> str:
        """`+I`, `-U`, `+U` or `-D`."""
        return ("+I", "-U", "+U", "-D")[self.value]


@dataclass(frozen=True)
class ChangelogMode:
    """The row kinds that a node of the plan can produce.

    Three modes exist, as in Flink: append (+I), upsert by a key (+I, +U, -D: a row replaces the
    earlier one of its key) and retract (all four: every change first takes the old row back).
    """

    kinds: frozenset[RowKind]

    @property
    def is_append(self) -> bool:
        """Whether rows are only ever added."""
        return self.kinds == {RowKind.INSERT}

    @property
    def has_before(self) -> bool:
        """Whether an update comes with the row it replaces."""
        return RowKind.UPDATE_BEFORE in self.kinds

    def __str__(self) -> str:
        letters = {RowKind.INSERT: "I", RowKind.UPDATE_BEFORE: "UB", RowKind.UPDATE_AFTER: "UA"}
        return ",".join(letters.get(kind, "D") for kind in sorted(self.kinds))


APPEND = ChangelogMode(frozenset({RowKind.INSERT}))
UPSERT = ChangelogMode(frozenset({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE}))
RETRACT = ChangelogMode(frozenset(RowKind))
