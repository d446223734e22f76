"""Temporal joins over left rows that are updated and deleted, recorded from Flink.

The tables get some changes, then none until the watermark has passed these, then other changes.
"""

from __future__ import annotations

LEFT_COLUMNS = "k INT, g STRING, h STRING, v INT, s BIGINT"
VERSIONS_COLUMNS = "k STRING, v INT, s BIGINT"
#: The seconds of `s` as an event time. Only the last row of a phase moves the watermark past a row.
TIME, WATERMARK = "TO_TIMESTAMP_LTZ(s * 1000, 3)", "ts - INTERVAL '10' SECOND"
TIMED = f"ts AS {TIME}, WATERMARK FOR ts AS {WATERMARK}"

#: Row kinds with rows of k, g, h, v and s.
Phase = list[tuple[str, tuple[int, str, str, int, int]]]

#: Changes before the watermark passes any of the rows. The last row moves the watermark.
WAITING: Phase = [
    ("+I", (1, "a", "b", 3, 1)),
    ("+I", (2, "a", "b", 5, 2)),
    ("+I", (3, "b", "a", 7, 3)),
    ("+I", (4, "b", "b", 25, 6)),
    ("+I", (5, "none", "a", 1, 2)),
    # Three rows get another value, another key and another time.
    ("-U", (1, "a", "b", 3, 1)),
    ("+U", (1, "a", "b", 4, 1)),
    ("-U", (3, "b", "a", 7, 3)),
    ("+U", (3, "a", "a", 7, 3)),
    ("-U", (4, "b", "b", 25, 6)),
    ("+U", (4, "b", "b", 25, 1)),
    ("-D", (2, "a", "b", 5, 2)),
    ("+I", (2, "b", "a", 9, 7)),
    ("+I", (6, "b", "a", 8, 7)),
    ("+I", (0, "z", "z", 0, 20)),
]
#: Changes after the watermark has passed: rows whose versions are the newest.
NEWEST: Phase = [
    ("-D", (6, "b", "a", 8, 7)),
    ("-U", (2, "b", "a", 9, 7)),
    ("+U", (2, "b", "a", 11, 7)),
    ("+I", (7, "a", "a", 2, 30)),
    ("+I", (9, "z", "z", 0, 40)),
]
#: Changes after the watermark has passed: rows whose versions have been replaced.
REPLACED: Phase = [
    ("-D", (3, "a", "a", 7, 3)),
    ("-U", (1, "a", "b", 4, 1)),
    ("+U", (1, "a", "b", 6, 1)),
    ("+I", (9, "z", "z", 0, 40)),
]
#: Rows of k, v and s.
VERSIONS: list[tuple[str, int, int]] = [
    ("a", 10, 0),
    ("b", 20, 2),
    ("a", 30, 4),
    ("b", 40, 5),
    ("z", 0, 20),
]
MORE_VERSIONS: list[tuple[str, int, int]] = [("a", 50, 25), ("z", 0, 40)]

_AS_OF = "FOR SYSTEM_TIME AS OF o.ts"
_INNER = f"SELECT o.k, o.v, p.v FROM {{}} AS o JOIN p {_AS_OF} ON o.g = p.k"
_LEFT = f"SELECT o.k, o.v, p.v FROM {{}} AS o LEFT JOIN p {_AS_OF} ON o.g = p.k AND o.v < 10"
_TWICE = (
    f"SELECT o.k, a.v, b.v FROM {{}} AS o LEFT JOIN p {_AS_OF} AS a ON o.g = a.k"
    f" JOIN p {_AS_OF} AS b ON o.h = b.k"
)
_SUMS = f"SELECT p.v, SUM(o.v) FROM {{}} AS o LEFT JOIN p {_AS_OF} ON o.g = p.k GROUP BY p.v"
_ALL = (_INNER, _LEFT, _TWICE, _SUMS)

#: Queries over the table `newest`, which give Flink's answers.
QUERIES = tuple(query.format("newest") for query in _ALL)
#: Queries over the table `replaced`, where Flink's operator does not retract emitted rows.
DIFFERENT = tuple(query.format("replaced") for query in (_INNER, _LEFT))
