"""Row kinds and changelog modes, with Flink's names and byte codes (`RowKind`, `ChangelogMode`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

#: The hidden column with the row kind of each changelog row; a TINYINT with Flink's code.
ROW_KIND_COLUMN = "__row_kind"


class RowKind(IntEnum):
    """Row kind of a changelog row; the value is Flink's byte code."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    @property
    def short(self) -> str:
        """Short name: `+I`, `-U`, `+U` or `-D`."""
        return ("+I", "-U", "+U", "-D")[self.value]

    @property
    def removes(self) -> bool:
        """Whether the change takes a row away."""
        return self in (RowKind.UPDATE_BEFORE, RowKind.DELETE)


@dataclass(frozen=True)
class ChangelogMode:
    """Changelog mode: the row kinds that a node of the plan can emit.

    There are three modes, as in Flink:

    - append: +I.
    - upsert by a key: +I, +U and -D. A row replaces the earlier row of its key.
    - retract: all four row kinds. Each change first retracts the old row.
    """

    kinds: frozenset[RowKind]

    @property
    def is_append(self) -> bool:
        """Whether the changelog is append-only."""
        return self.kinds == {RowKind.INSERT}

    @property
    def has_before(self) -> bool:
        """Whether updates include the update-before row."""
        return RowKind.UPDATE_BEFORE in self.kinds

    @property
    def has_updates(self) -> bool:
        """Whether a row can replace another row, instead of a delete and an insert."""
        return RowKind.UPDATE_AFTER in self.kinds

    def without_updates(self) -> ChangelogMode:
        """Return the mode with a delete and an insert for each update; append-only stays so."""
        return self if self.is_append else INSERT_DELETE

    def __str__(self) -> str:
        letters = {RowKind.INSERT: "I", RowKind.UPDATE_BEFORE: "UB", RowKind.UPDATE_AFTER: "UA"}
        return ",".join(letters.get(kind, "D") for kind in sorted(self.kinds))


APPEND = ChangelogMode(frozenset({RowKind.INSERT}))
UPSERT = ChangelogMode(frozenset({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE}))
RETRACT = ChangelogMode(frozenset(RowKind))
#: Changes without updates: a row has no identity, so that no row replaces another one.
INSERT_DELETE = ChangelogMode(frozenset({RowKind.INSERT, RowKind.DELETE}))
