"""New tables: the reader waits until the driver has created their topics and stored the tables.

If brokers allow it, a producer creates a missing topic itself, but without compaction.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.ingest.records.known import KnownTable, read_tables, tables_json

_WAIT_S = 60.0
_LOOK_S = 0.05


def ask_for_topics(path: str, tables: Iterable[TableId]) -> dict[TableId, KnownTable]:
    """Wait until the driver has created the topics of tables, or until a timeout.

    After a timeout, the writer's own error reports the missing topic.

    Returns:
        The tables as the driver has stored them. A table that was dropped or has no key is not
        stored.
    """
    wanted = sorted(map(list, tables))
    if not wanted:
        return {}
    # The same tables may be asked for again: one of them has got a primary key since.
    Path(f"{path}.made").unlink(missing_ok=True)
    _write(f"{path}.asked", wanted)
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end:
        made, stored = _made(path)
        if made == wanted:
            return read_tables(stored)
        time.sleep(_LOOK_S)
    return {}


def asked_tables(path: str) -> list[TableId]:
    """Return the tables that the reader waits for; empty if it does not wait."""
    wanted = _read(f"{path}.asked")
    return [] if wanted == _made(path)[0] else [TableId(*name) for name in wanted]


def answer(path: str, tables: Iterable[TableId], known: Mapping[TableId, KnownTable]) -> None:
    """Report that the topics of these tables exist, and which of the tables are stored."""
    asked = sorted(tables)
    stored = {table: known[table] for table in asked if table in known}
    _write(f"{path}.made", [[list(table) for table in asked], tables_json(stored)])


def forget(path: str) -> None:
    """Delete all requests and answers, at a start."""
    for suffix in (".asked", ".made"):
        Path(path + suffix).unlink(missing_ok=True)


def _made(path: str) -> list[Any]:
    """Return the names of the last answer, and the stored tables."""
    return _read(f"{path}.made") or [[], []]


def _write(path: str, found: list[Any]) -> None:
    new = Path(f"{path}.new")
    new.write_text(json.dumps(found), encoding="utf-8")
    new.replace(path)


def _read(path: str) -> list[Any]:
    try:
        found: list[Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return found
