"""Versions of tables without a program: the task's error carries them to the driver.

A batch may have rows of a table that no longer exists, or of an earlier table of the same name. The
server cannot describe them, but their rows in the binlog do.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from streamtable.connectors.mysql_cdc.reader import Column, MySqlType, TableId, TableSchema
from streamtable.core.errors import StreamtableError


def unplanned(table: TableSchema, error: StreamtableError) -> StreamtableError:
    """Return the error with a note that describes the table; messages do not show notes."""
    error.add_note(json.dumps(asdict(table)))
    return error


def unplanned_table(error: StreamtableError) -> TableSchema | None:
    """Return the table of the note of `unplanned`; None if the error has no note."""
    for note in getattr(error, "__notes__", ()):
        found = json.loads(note)
        return TableSchema(
            TableId(*found["id"]),
            tuple(map(_column, found["columns"])),
            tuple(found["primary_key"]),
            found["engine"],
        )
    return None


def _column(found: dict[str, Any]) -> Column:
    kind = found["type"]
    return Column(
        found["name"], MySqlType(**{**kind, "values": tuple(kind["values"])}), found["nullable"]
    )
