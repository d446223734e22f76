"""Queries over windows whose answers were recorded from Flink, and the rows that they read.

Rows come in batches. No row is late because of rows before it in its own batch. The last row of
each table is so far ahead that all windows before it fire; answers omit the window of this row.
"""

from __future__ import annotations

from typing import Any

Row = tuple[Any, ...]
Batch = list[tuple[str, Row]]

#: Time zone of windows over instants. Its clocks change on 8 March and on 1 November.
ZONE = "America/New_York"
_DAY = "2026-03-01 00:00:"
#: Date of the last rows. Rows of answers with this date are not compared.
LAST = "2027-01-01"
_LAST_MILLIS = 1_798_779_600_000


def _rows(*rows: tuple[float, int | None, int | None]) -> Batch:
    return [("+I", (f"{_DAY}{second:06.3f}", k, v)) for second, k, v in rows]


_END: Batch = [("+I", (f"{LAST} 00:00:00.000", -1, -1))]
_FIRST: Batch = [
    *_rows((1, 1, 5), (3, 2, 7), (4, 1, 3), (2, None, 4), (4.5, 2, 7)),
    *_rows((11, 1, 4), (9.5, 2, 1), (12, None, 3), (13, 3, 4), (12.5, 1, 4)),
]
_PUNCTUAL = [_FIRST, _rows((25, 2, 9), (24, 1, None), (31, 3, 8), (33, 1, 2))]
_LATE = [
    _FIRST,
    # The watermark is at 11 s, then at 23 s.
    _rows((8, 1, 100), (25, 2, 9)),
    _rows((14, 1, 50), (24, None, 6), (31, 1, 2), (33, 3, 8)),
]
_CHANGES: list[Batch] = [
    _rows((1, 1, 5), (3, 2, 7), (4, 3, 3)),
    [
        ("-U", (f"{_DAY}01.000", 1, 5)),
        ("+U", (f"{_DAY}06.000", 1, 6)),
        ("-D", (f"{_DAY}03.000", 2, 7)),
        *_rows((5, 4, 7), (11, 2, 2)),
    ],
    _rows((15, 5, 1)),
    # The watermark is at 13 s: two rows are removed from a window that has fired.
    [
        ("-U", (f"{_DAY}06.000", 1, 6)),
        ("+U", (f"{_DAY}16.000", 1, 8)),
        ("-D", (f"{_DAY}04.000", 3, 3)),
        ("-D", (f"{_DAY}11.000", 2, 2)),
        *_rows((21, 6, 1)),
    ],
]
#: Times around the changes of the clocks, in milliseconds since 1970.
_MOVING = [1_772_928_000_000 + minutes * 60_000 for minutes in (0, 300, 400, 425, 470, 540, 1500)]
_BACK = [1_793_491_200_000 + minutes * 60_000 for minutes in (0, 300, 345, 405, 465, 1500)]

_COLUMNS = "ts TIMESTAMP(3), k INT, v INT"
_WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"

#: Table -> columns, computed columns and watermark, batches of rows.
TABLES: dict[str, tuple[str, str, list[Batch]]] = {
    "events": (_COLUMNS, _WATERMARK, [*_LATE, _END]),
    "punctual": (_COLUMNS, _WATERMARK, [*_PUNCTUAL, _END]),
    "changes": (_COLUMNS, _WATERMARK, [*_CHANGES, _END]),
    "instants": (
        "ms BIGINT, k INT",
        f"ts AS TO_TIMESTAMP_LTZ(ms, 3), {_WATERMARK}",
        [
            [("+I", (ms, i % 2)) for i, ms in enumerate(_MOVING)],
            [("+I", (ms, i % 2)) for i, ms in enumerate(_BACK)],
            [("+I", (_LAST_MILLIS, -1))],
        ],
    ),
}
#: Append-only tables.
APPENDED = ("events", "punctual", "instants")


def _of(table: str, call: str, arguments: str) -> str:
    return f"TABLE({call}({table}, DESCRIPTOR(ts), {arguments}))"


_TEN = "INTERVAL '10' SECOND"
_FUNCTIONS = (
    ("TUMBLE", _TEN),
    ("TUMBLE", f"{_TEN}, INTERVAL '3' SECOND"),
    ("TUMBLE", f"{_TEN}, INTERVAL '-4' SECOND"),
    ("HOP", f"INTERVAL '5' SECOND, {_TEN}"),
    ("HOP", f"INTERVAL '5' SECOND, {_TEN}, INTERVAL '1' SECOND"),
    ("CUMULATE", "INTERVAL '5' SECOND, INTERVAL '20' SECOND"),
    ("CUMULATE", "INTERVAL '5' SECOND, INTERVAL '20' SECOND, INTERVAL '2' SECOND"),
)
_BOUNDS = "window_start, window_end"
_IN_ORDER = "FIRST_VALUE(v), LAST_VALUE(v), LISTAGG(CAST(v AS STRING))"
_CALLS = "COUNT(*), SUM(v), COUNT(DISTINCT v), MIN(v), MAX(v), AVG(v)"
_MOVED_DAY = "INTERVAL '1' DAY, INTERVAL '3' HOUR"
_TUMBLED = _of("TABLE events", "TUMBLE", _TEN)
_ON_TIME = _of("TABLE punctual", "TUMBLE", _TEN)
_CHANGED = _of("TABLE changes", "TUMBLE", _TEN)
_SESSION = "INTERVAL '4' SECOND"
_SESSIONS = _of("TABLE events", "SESSION", _SESSION)
_OF_K = _of("TABLE events PARTITION BY k", "SESSION", _SESSION)
_SESSION_OF_K = _OF_K.replace("events", "punctual")
_COUNTED = f"SELECT {_BOUNDS}, k, COUNT(*) AS n FROM {_TUMBLED} GROUP BY {_BOUNDS}, k"
_GROUPINGS = (
    f"GROUPING SETS (({_BOUNDS}, k), ({_BOUNDS}))",
    f"{_BOUNDS}, ROLLUP (k, v)",
    f"{_BOUNDS}, CUBE (k, v)",
    f"GROUPING SETS (({_BOUNDS}, k), ({_BOUNDS}, v), ({_BOUNDS}, k, v))",
)


def _ranked(call: str, order: str, table: str, condition: str, more: str = "") -> str:
    return (
        f"SELECT {_BOUNDS}, k, v, ts FROM (SELECT *, {call}() OVER (PARTITION BY {_BOUNDS}{more}"
        f" ORDER BY {order}) AS place FROM {table}) WHERE {condition}"
    )


def _joined(kind: str, condition: str = "") -> str:
    left = f"(SELECT * FROM {_ON_TIME} WHERE v IS NULL OR v < 7)"
    right = f"(SELECT * FROM {_ON_TIME} WHERE v >= 4)"
    return (
        "SELECT L.window_start, L.window_end, R.window_start, R.window_end, L.k, L.v, R.k, R.v"
        f" FROM {left} L {kind} JOIN {right} R ON L.window_start = R.window_start"
        f" AND L.window_end = R.window_end AND L.k = R.k{condition}"
    )


def _partner(negated: str, test: str) -> str:
    return f"SELECT {_BOUNDS}, k, v FROM {_ON_TIME} L WHERE {negated} {test}"


_EXISTS = (
    f"EXISTS (SELECT 1 FROM {_ON_TIME} R WHERE L.window_start = R.window_start"
    " AND L.window_end = R.window_end AND L.k = R.k AND R.v > L.v)"
)
_PAIRED = (
    "SELECT L.window_start, L.window_end, L.window_time, L.k AS lk, R.k AS rk, R.v AS v"
    f" FROM {_ON_TIME} L JOIN {_ON_TIME} R"
    " ON L.window_start = R.window_start AND L.window_end = R.window_end"
)

_AGGREGATED = tuple(
    f"SELECT {_BOUNDS}, k, {_CALLS} FROM {_of('TABLE events', *function)} GROUP BY {_BOUNDS}, k"
    for function in _FUNCTIONS
)
#: Aggregates whose values of parts of a window can be merged.
_MERGED_CALLS = (
    "COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(DISTINCT v), AVG(v), STDDEV_POP(v),"
    " SUM(v) FILTER (WHERE v > 4)"
)
#: Queries over windows that share slices, and over sessions that keep aggregates.
_MERGED = (
    *(
        f"SELECT {_BOUNDS}, k, {_MERGED_CALLS} FROM {_of('TABLE events', *function)}"
        f" GROUP BY {_BOUNDS}, k"
        for function in _FUNCTIONS[3:]
    ),
    *(
        f"SELECT window_time, {_BOUNDS}, {_MERGED_CALLS} FROM {_of('TABLE events', *function)}"
        f" GROUP BY {_BOUNDS}, window_time"
        for function in (_FUNCTIONS[3], _FUNCTIONS[5])
    ),
    (
        f"SELECT {_BOUNDS}, CHAR_LENGTH(CAST(window_end AS STRING)) + k, COUNT(*)"
        f" FROM {_of('TABLE events', *_FUNCTIONS[3])}"
        f" GROUP BY {_BOUNDS}, CHAR_LENGTH(CAST(window_end AS STRING)) + k"
    ),
    f"SELECT {_BOUNDS}, k, {_MERGED_CALLS} FROM {_OF_K} GROUP BY {_BOUNDS}, k",
    (
        f"SELECT window_time, {_BOUNDS}, {_MERGED_CALLS} FROM {_SESSIONS}"
        f" GROUP BY {_BOUNDS}, window_time"
    ),
)
#: Queries over windows with an offset.
MOVED = (*_AGGREGATED[1:3], _AGGREGATED[4], _AGGREGATED[6])
MERGED_MOVED = (_MERGED[1], _MERGED[3])
DAYS_MOVED = (
    f"SELECT {_BOUNDS}, COUNT(*) FROM"
    f" {_of('TABLE instants', 'TUMBLE', _MOVED_DAY)} GROUP BY {_BOUNDS}"
)
#: Queries with aggregates that depend on row order.
IN_ORDER = tuple(
    f"SELECT {_BOUNDS}, {_IN_ORDER} FROM {table} GROUP BY {_BOUNDS}"
    for table in (_TUMBLED, _of("TABLE events", *_FUNCTIONS[3]), _CHANGED, _SESSIONS)
)
#: Sessions grouped by other columns than those of their PARTITION BY.
_REGROUPED = (
    f"SELECT {_BOUNDS}, v, COUNT(*) FROM {_OF_K} GROUP BY {_BOUNDS}, v",
    f"SELECT {_BOUNDS}, COUNT(*) FROM {_OF_K} GROUP BY {_BOUNDS}",
    f"SELECT {_BOUNDS}, k, v, COUNT(*) FROM {_OF_K} GROUP BY {_BOUNDS}, k, v",
    f"SELECT {_BOUNDS}, k, COUNT(*) FROM {_SESSIONS} GROUP BY {_BOUNDS}, k",
)
#: Windows over the rows of windows. The bounds of the inner windows need other names.
_TWICE = (
    "TABLE(TUMBLE((SELECT window_start AS ws, window_end AS we, window_time AS ended, k, v FROM"
    f" {_TUMBLED}), DESCRIPTOR(ended), INTERVAL '20' SECOND))"
)
AGGREGATED_TWICE = f"SELECT {_BOUNDS}, {_CALLS} FROM {_TWICE} GROUP BY {_BOUNDS}"
_NESTED = (
    AGGREGATED_TWICE,
    f"SELECT ws, we, SUM(v) FROM {_TWICE} GROUP BY ws, we",
    f"SELECT {_BOUNDS}, window_time, ws, k, v FROM {_TWICE}",
    (
        f"SELECT {_BOUNDS}, ws, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {_BOUNDS}"
        f" ORDER BY v DESC, k, ws) AS place FROM {_TWICE}) WHERE place <= 2"
    ),
    f"SELECT COUNT(*) FROM TABLE(TUMBLE((SELECT * FROM {_TUMBLED}), DESCRIPTOR(ts), {_TEN}))",
)

QUERIES: tuple[str, ...] = (
    # Aggregations, with late rows.
    *_AGGREGATED,
    f"SELECT {_BOUNDS}, {_CALLS} FROM {_TUMBLED} GROUP BY {_BOUNDS}",
    f"SELECT {_BOUNDS}, window_time, k FROM {_TUMBLED} GROUP BY window_time, {_BOUNDS}, k",
    (
        f"SELECT {_BOUNDS}, COUNT(*) FILTER (WHERE v > 4) FROM {_TUMBLED} WHERE k IS NOT NULL"
        f" GROUP BY {_BOUNDS} HAVING COUNT(*) > 1"
    ),
    *(f"SELECT {_BOUNDS}, k, {_CALLS} FROM {_TUMBLED} GROUP BY {g}" for g in _GROUPINGS[:1]),
    *(f"SELECT {_BOUNDS}, k, v, COUNT(*) FROM {_TUMBLED} GROUP BY {g}" for g in _GROUPINGS[1:]),
    f"SELECT {_BOUNDS}, k, GROUPING(k), COUNT(*) FROM {_TUMBLED} GROUP BY {_GROUPINGS[0]}",
    *IN_ORDER,
    *_MERGED,
    # No operator that waits for the watermark.
    f"SELECT {_BOUNDS}, window_time, k, v FROM {_TUMBLED}",
    # The watermark as a value. No row is behind a watermark of its own batch.
    "SELECT ts, k, v FROM events WHERE ts < CURRENT_WATERMARK(ts)",
    (
        "SELECT ts, k, v FROM events WHERE CURRENT_WATERMARK(ts) IS NULL"
        " OR ts >= CURRENT_WATERMARK(ts)"
    ),
    "SELECT TYPEOF(CURRENT_WATERMARK(ts)), k, v FROM events",
    "SELECT TYPEOF(CURRENT_WATERMARK(ts)), ms, k FROM instants",
    # Sessions.
    f"SELECT {_BOUNDS}, k, {_CALLS} FROM {_OF_K} GROUP BY {_BOUNDS}, k",
    f"SELECT {_BOUNDS}, {_CALLS} FROM {_SESSIONS} GROUP BY {_BOUNDS}",
    f"SELECT {_BOUNDS}, window_time, k, v FROM {_OF_K}",
    f"SELECT {_BOUNDS}, k, COUNT(*) FROM {_OF_K} WHERE v <> 3 GROUP BY {_BOUNDS}, k",
    *_REGROUPED,
    # Windows over windows.
    (
        f"SELECT {_BOUNDS}, SUM(n) FROM TABLE(TUMBLE((SELECT window_time AS ended, n FROM"
        f" (SELECT {_BOUNDS}, window_time, COUNT(*) AS n FROM {_TUMBLED}"
        f" GROUP BY {_BOUNDS}, window_time)), DESCRIPTOR(ended), INTERVAL '20' SECOND))"
        f" GROUP BY {_BOUNDS}"
    ),
    f"SELECT {_BOUNDS}, MAX(n) FROM ({_COUNTED}) GROUP BY {_BOUNDS}",
    *_NESTED,
    # Rankings.
    (
        f"SELECT {_BOUNDS}, k, n, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {_BOUNDS}"
        f" ORDER BY n DESC, k) AS place FROM ({_COUNTED})) WHERE place <= 2"
    ),
    _ranked("ROW_NUMBER", "v DESC, ts", _TUMBLED, "place <= 2"),
    _ranked("ROW_NUMBER", "v, ts DESC", _TUMBLED, "place <= 1", ", k"),
    _ranked("ROW_NUMBER", "v DESC, ts", _TUMBLED, "place BETWEEN 2 AND 3"),
    _ranked("ROW_NUMBER", "ts", _TUMBLED, "place = 1"),
    _ranked("ROW_NUMBER", "ts DESC", _TUMBLED, "place <= 1"),
    _ranked("ROW_NUMBER", "ts DESC", _TUMBLED, "place = 1", ", k"),
    _ranked("RANK", "v DESC", _TUMBLED, "place <= 2"),
    _ranked("DENSE_RANK", "v DESC", _TUMBLED, "place <= 2"),
    _ranked("ROW_NUMBER", "ts", _OF_K, "place = 1", ", k"),
    # Joins.
    *(_joined(kind) for kind in ("INNER", "LEFT", "RIGHT", "FULL")),
    *(_joined(kind, " AND L.v <> R.v") for kind in ("INNER", "LEFT", "RIGHT", "FULL")),
    _partner("", _EXISTS),
    _partner("NOT", _EXISTS),
    (
        f"SELECT L.window_start, L.window_end, L.k, L.v, R.v FROM {_SESSION_OF_K} L JOIN"
        f" {_SESSION_OF_K} R ON L.window_start = R.window_start AND L.window_end = R.window_end"
        " AND L.k = R.k AND L.v < R.v"
    ),
    _partner("", f"({_BOUNDS}, v) IN (SELECT {_BOUNDS}, v FROM {_ON_TIME} WHERE k > 1)"),
    (
        f"SELECT L.window_start, L.window_end, L.n, R.n FROM ({_COUNTED}) L JOIN ({_COUNTED}) R ON"
        " L.window_start = R.window_start AND L.window_end = R.window_end AND L.n <= R.n"
        " AND L.k < R.k"
    ),
    f"SELECT {_BOUNDS}, lk, COUNT(*), SUM(v) FROM ({_PAIRED}) GROUP BY {_BOUNDS}, lk",
    (
        f"SELECT {_BOUNDS}, COUNT(*), SUM(v) FROM TABLE(TUMBLE((SELECT window_time AS ended, lk, v"
        f" FROM ({_PAIRED})), DESCRIPTOR(ended), INTERVAL '20' SECOND)) GROUP BY {_BOUNDS}"
    ),
    (
        f"SELECT {_BOUNDS}, lk, rk, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {_BOUNDS}"
        f" ORDER BY v DESC, lk, rk) AS place FROM ({_PAIRED})) WHERE place <= 2"
    ),
    (
        "SELECT L.ts, L.k, L.v, R.ts, R.k, R.v FROM punctual L FULL JOIN punctual R ON L.k = R.k"
        " AND L.ts BETWEEN R.ts - INTERVAL '1' SECOND AND R.ts AND L.v < R.v"
    ),
    # Rows that are retracted.
    f"SELECT {_BOUNDS}, {_CALLS} FROM {_CHANGED} GROUP BY {_BOUNDS}",
    *(
        f"SELECT {_BOUNDS}, k, {_CALLS} FROM {_of('TABLE changes', *f)} GROUP BY {_BOUNDS}, k"
        for f in (_FUNCTIONS[0], _FUNCTIONS[3], _FUNCTIONS[5])
    ),
    f"SELECT {_BOUNDS}, k, COUNT(*) FROM {_CHANGED} GROUP BY {_GROUPINGS[0]}",
    (
        f"SELECT {_BOUNDS}, {_CALLS} FROM {_of('TABLE changes', 'SESSION', _SESSION)}"
        f" GROUP BY {_BOUNDS}"
    ),
    f"SELECT {_BOUNDS}, v, COUNT(*) FROM {_CHANGED} WHERE v > 1 GROUP BY {_BOUNDS}, v",
    (
        f"SELECT {_BOUNDS}, n, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {_BOUNDS}"
        f" ORDER BY n DESC) AS place FROM (SELECT {_BOUNDS}, v, COUNT(*) AS n FROM {_CHANGED}"
        f" GROUP BY {_BOUNDS}, v)) WHERE place <= 1"
    ),
    _ranked("ROW_NUMBER", "v DESC", _CHANGED, "place <= 2"),
    _ranked("ROW_NUMBER", "ts DESC", _CHANGED, "place <= 1"),
    _joined("INNER").replace("punctual", "changes"),
    _partner("", _EXISTS).replace("punctual", "changes"),
    # Windows in a time zone whose clocks change.
    *(
        f"SELECT {_BOUNDS}, COUNT(*) FROM {_of('TABLE instants', *f)} GROUP BY {_BOUNDS}"
        for f in (
            ("TUMBLE", "INTERVAL '1' HOUR"),
            ("TUMBLE", "INTERVAL '1' DAY"),
            ("TUMBLE", _MOVED_DAY),
            ("HOP", "INTERVAL '1' HOUR, INTERVAL '2' HOUR"),
            ("CUMULATE", "INTERVAL '6' HOUR, INTERVAL '1' DAY"),
            ("SESSION", "INTERVAL '90' MINUTE"),
        )
    ),
)
