"""Histories as change events in the formats of Debezium, Canal, Maxwell and GoldenGate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamtable.testing.histories import Change

#: A row with its key, as JSON values; None if there is no row.
Row = Mapping[str, Any] | None


def change_events(style: str, key: str, history: Iterable[Change]) -> list[tuple[bytes, bytes]]:
    """Convert a history into records of (key, event); changes without an effect give no record.

    Args:
        style: `debezium-json`, `canal-json`, `maxwell-json` or `ogg-json`.
        key: name of the key column.
        history: the history from its beginning, because an event also contains the old row.
    """
    live: dict[int, Row] = {}
    records = []
    for change in history:
        before = live.pop(change.key, None)
        after = None if change.values is None else {key: change.key, **change.values}
        if after is not None:
            live[change.key] = after
        if before is not None or after is not None:
            event = json.dumps(_STYLES[style](before, after)).encode()
            records.append((str(change.key).encode(), event))
    return records


def _debezium(before: Row, after: Row) -> dict[str, Any]:
    kind = "c" if before is None else "d" if after is None else "u"
    return {"before": before, "after": after, "op": kind, "source": {"db": "shop"}}


def _canal(before: Row, after: Row) -> dict[str, Any]:
    kind = "INSERT" if before is None else "DELETE" if after is None else "UPDATE"
    old = _changed(before, after)
    event = {"data": [before if after is None else after], "type": kind, "isDdl": False}
    return event | {"old": None if old is None else [old], "database": "shop", "table": "t"}


def _maxwell(before: Row, after: Row) -> dict[str, Any]:
    kind = "insert" if before is None else "delete" if after is None else "update"
    event: dict[str, Any] = {"database": "shop", "table": "t", "type": kind}
    old = _changed(before, after)
    event["data"] = before if after is None else after
    return event if old is None else event | {"old": old}


def _ogg(before: Row, after: Row) -> dict[str, Any]:
    kind = "I" if before is None else "D" if after is None else "U"
    return {"table": "SHOP.T", "op_type": kind, "before": before, "after": after}


def _changed(before: Row, after: Row) -> Row:
    """Return the old values of the columns that an update changed."""
    if before is None or after is None:
        return None
    return {name: value for name, value in before.items() if after[name] != value}


_STYLES: Mapping[str, Callable[[Row, Row], dict[str, Any]]] = {
    "debezium-json": _debezium,
    "canal-json": _canal,
    "maxwell-json": _maxwell,
    "ogg-json": _ogg,
}
