"""GTID sets of MySQL as text, such as `uuid:1-5:7,uuid:9`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SET = re.compile(r"(?:[0-9a-f-]{36}(?::\d+(?:-\d+)?)+,?)+", re.IGNORECASE)


def joined(gtids: str, transactions: Iterable[str]) -> str:
    """Return a GTID set with further transactions.

    Args:
        gtids: the set.
        transactions: the GTIDs of transactions, `uuid:8`.

    Returns:
        The set; empty if `gtids` is empty, is one of MariaDB, or has tags (MySQL 8.3).
    """
    if not _SET.fullmatch(gtids):
        return ""
    found: dict[str, list[tuple[int, int]]] = {}
    for entry in (*gtids.split(","), *transactions):
        server, *ranges = entry.lower().split(":")
        for text in ranges:
            first, _, last = text.partition("-")
            found.setdefault(server, []).append((int(first), int(last or first)))
    return ",".join(":".join((server, *_merged(ranges))) for server, ranges in found.items())


def _merged(ranges: list[tuple[int, int]]) -> Iterator[str]:
    """Yield the ranges as text, in order; adjacent ones become one."""
    ranges.sort()
    first, last = ranges[0]
    for begin, end in ranges[1:]:
        if begin > last + 1:
            yield _text(first, last)
            first = begin
        last = max(last, end)
    yield _text(first, last)


def _text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
