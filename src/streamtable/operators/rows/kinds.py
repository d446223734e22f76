"""Row kinds as Spark SQL, for consumers that do not take all of them."""

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
    return _replaced(_DELETES, _INSERTS)


def deleting_row_kind() -> str:
    """Return the row kind in which an update-before row is a delete."""
    return _replaced(_DELETES)


def _replaced(*cases: str) -> str:
    whens = " ".join(cases)
    return f"CASE {ROW_KIND_COLUMN} {whens} ELSE {ROW_KIND_COLUMN} END AS {ROW_KIND_COLUMN}"
