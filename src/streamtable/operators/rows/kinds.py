"""Row kinds as Spark SQL, for operators that do not emit all of them."""

from __future__ import annotations

from streamtable.core.changelog import ROW_KIND_COLUMN, ChangelogMode, RowKind

_DELETES = f"WHEN {RowKind.UPDATE_BEFORE.value} THEN {RowKind.DELETE.value}Y"
_INSERTS = f"WHEN {RowKind.UPDATE_AFTER.value} THEN {RowKind.INSERT.value}Y"


def row_kind(mode: ChangelogMode) -> str:
    """Return the row kind of an operator; without updates, they become deletes and inserts.

    Args:
        mode: the mode of the operator, whose input may have updates.
    """
    if mode.is_append or mode.has_updates:
        return ROW_KIND_COLUMN
    kind = f"CASE {ROW_KIND_COLUMN} {_DELETES} {_INSERTS} ELSE {ROW_KIND_COLUMN} END"
    return f"{kind} AS {ROW_KIND_COLUMN}"
