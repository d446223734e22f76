"""Topics of new tables: the reader waits until the driver has created them.

If brokers allow it, a producer creates a missing topic itself, but without compaction.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path

from streamtable.connectors.mysql_cdc.reader import TableId

_WAIT_S = 60.0
_LOOK_S = 0.05


def ask_for_topics(path: str, tables: Iterable[TableId]) -> None:
    """Wait until the driver has created the topics of tables, or until a timeout.

    After a timeout, the writer's own error reports the missing topic.
    """
    wanted = sorted(map(list, tables))
    if not wanted:
        return
    _write(f"{path}.asked", wanted)
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end and _read(f"{path}.made") != wanted:
        time.sleep(_LOOK_S)


def asked_tables(path: str) -> list[TableId]:
    """Return the tables that the reader waits for; empty if it does not wait."""
    wanted = _read(f"{path}.asked")
    return [] if wanted == _read(f"{path}.made") else [TableId(*name) for name in wanted]


def answer(path: str, tables: Iterable[TableId]) -> None:
    """Report that the topics of these tables exist."""
    _write(f"{path}.made", sorted(map(list, tables)))


def forget(path: str) -> None:
    """Delete all requests and answers, at a start."""
    for suffix in (".asked", ".made"):
        Path(path + suffix).unlink(missing_ok=True)


def _write(path: str, names: list[list[str]]) -> None:
    new = Path(f"{path}.new")
    new.write_text(json.dumps(names), encoding="utf-8")
    new.replace(path)


def _read(path: str) -> list[list[str]]:
    try:
        found: list[list[str]] = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return found
