"""Queries with state that expires, whose changes were recorded from Flink, and what they read.

A table of complete changes gets some rows, then nothing for longer than state lives, then others.
"""

from __future__ import annotations

COLUMNS = "k INT, g STRING, v INT"

#: Row kinds with rows.
Phase = list[tuple[str, tuple[int, str, int]]]

#: What comes before the pause.
BEFORE: Phase = [("+I", (1, "a", 3)), ("+I", (2, "a", 5)), ("+I", (3, "b", 7))]
#: What comes after it: an update, an insert and a delete, of rows that are forgotten by then.
AFTER: Phase = [
    ("-U", (1, "a", 3)),
    ("+U", (1, "a", 4)),
    ("+I", (4, "d", 8)),
    ("-D", (3, "b", 7)),
]

QUERIES = (
    "SELECT g, COUNT(*), SUM(v), MAX(v) FROM l GROUP BY g",
    "SELECT g, COUNT(DISTINCT v), MIN(v) FROM l GROUP BY g",
    "SELECT DISTINCT g FROM l",
)
