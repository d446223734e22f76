"""Queries with state that expires, whose changes were recorded from Flink, and their tables.

Each table gets some rows, then no rows for longer than the state's time-to-live, then other rows.
There is a table of complete changes, a table of rows with event times, and a table of versions.
"""

from __future__ import annotations

COLUMNS = "k INT, g STRING, v INT"

#: Row kinds with rows.
Phase = list[tuple[str, tuple[int, str, int]]]

#: Changes before the pause.
BEFORE: Phase = [("+I", (1, "a", 3)), ("+I", (2, "a", 5)), ("+I", (3, "b", 7))]
#: Changes after the pause; the state of the updated and the deleted row has expired by then.
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

TIMED_COLUMNS = "k INT, g STRING, v INT, s BIGINT"
#: The seconds of `s` as an event time.
TIMED = "ts AS TO_TIMESTAMP_LTZ(s * 1000, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"

#: Rows of k, g, v and s.
TimedPhase = list[tuple[int, str, int, int]]

#: The last row of a phase moves the watermark, so that all other rows of the phase are emitted.
TIMED_BEFORE: TimedPhase = [(1, "a", 3, 1), (2, "a", 5, 2), (3, "b", 7, 3), (4, "z", 0, 10)]
TIMED_AFTER: TimedPhase = [
    (5, "a", 1, 20),
    (6, "b", 2, 21),
    (7, "a", 4, 22),
    (8, "c", 6, 23),
    (9, "y", 0, 40),
]
VERSIONS_COLUMNS = "k STRING, v INT, s BIGINT"
#: Rows of k, v and s, versions by k. The key c has a version only after the pause.
VERSIONS_BEFORE: list[tuple[str, int, int]] = [("a", 10, 0), ("z", 20, 10)]
VERSIONS_AFTER: list[tuple[str, int, int]] = [("c", 30, 19), ("x", 40, 40)]

_OVER = "SELECT k, COUNT(*) OVER w, SUM(v) OVER w FROM t WINDOW w AS (PARTITION BY g ORDER BY {})"
_FIRST = (
    "SELECT k, g FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY ts{}) AS rn FROM t)"
    " WHERE rn = 1"
)
TIMED_QUERIES = (
    _FIRST.format(""),
    _FIRST.format(" DESC"),
    _OVER.format("ts"),
    _OVER.format("ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    _OVER.format("ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"),
    _OVER.format("ts RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND CURRENT ROW"),
    _OVER.format("v"),
    # Flink's TTL also deletes rows that wait for the watermark, such as the last row of a phase.
    "SELECT t.k, u.v FROM t LEFT JOIN u FOR SYSTEM_TIME AS OF t.ts ON t.g = u.k WHERE t.g < 'y'",
)
