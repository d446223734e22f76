"""OVER and rank queries whose answers were recorded from Flink, and the rows they read.

`timed` and `late` have an event time and a watermark with a delay of two seconds; only `late` has
late rows. `changes` has inserts, updates and deletes; `added` has inserts only. One task reads the
rows in this order. The last row of `timed` and `late` only moves the watermark.
"""

from __future__ import annotations

from datetime import datetime, timedelta

#: Key of the last row.
END = "end"

#: (id, k, v, s, seconds)
Timed = tuple[int, str, int | None, str | None, float]

TIMED: list[Timed] = [
    (1, "a", 3, "p", 1),
    (2, "b", 7, "q", 2),
    (3, "a", 5, "q", 4),
    (4, "a", 3, "p", 3),
    (5, "a", None, None, 4),
    (6, "b", 1, "r", 4),
    (7, "b", 1, "s", 4),
    (8, "a", 9, "z", 5.5),
    (9, "a", 2, "y", 5),
    (10, "b", 4, "x", 8),
    (11, "a", 6, "w", 12),
    (12, "a", 6, "v", 10.5),
    (13, "b", 8, "u", 13),
    (99, END, 0, "", 600),
]

LATE: list[Timed] = [
    (1, "a", 1, "p", 1),
    (2, "a", 2, "q", 4),
    (3, "b", 3, "r", 10),
    (4, "a", 4, "s", 5),
    (5, "a", 5, "t", 2),
    (6, "a", 6, "u", 11),
    (7, "a", 7, "v", 8.5),
    (8, "b", 8, "w", 20),
    (9, "a", 9, "x", 3),
    (10, "a", 10, "y", 12),
    (99, END, 0, "", 600),
]

#: OVER windows that look back in event time.
FRAMES = {
    "rows": "PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "range": "PARTITION BY k ORDER BY ts",
    "two": "PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "near": "PARTITION BY k ORDER BY ts"
    " RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW",
}
#: Arrays and multisets as texts.
ARRAYS = "CAST(ARRAY_AGG(v) OVER w AS STRING), CAST(COLLECT(v) OVER w AS STRING)"
#: Calls over such a window, named w.
CALLS = (
    "SUM(v) OVER w, COUNT(*) OVER w, COUNT(v) OVER w, AVG(v) OVER w, MIN(v) OVER w, MAX(s) OVER w",
    "FIRST_VALUE(v) OVER w, LAST_VALUE(s) OVER w, LISTAGG(s) OVER w, LISTAGG(s, '-') OVER w",
    "SUM(DISTINCT v) OVER w, COUNT(DISTINCT v) OVER w, STDDEV_POP(v) OVER w, VAR_SAMP(v) OVER w",
    ARRAYS,
    "SUM(v) FILTER (WHERE id > 3) OVER w",
)

#: Queries over event time.
OVER = (
    *(
        f"SELECT id, {call} FROM timed WINDOW w AS ({frame})"
        for frame in FRAMES.values()
        for call in CALLS
    ),
    *(f"SELECT id, SUM(v) OVER ({frame}) FROM late" for frame in FRAMES.values()),
    "SELECT id, COUNT(*) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING) FROM timed",
    (
        "SELECT id, SUM(v) OVER (w ROWS 1 PRECEDING) FROM timed"
        " WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ),
    (
        "SELECT id, SUM(v) OVER (w RANGE INTERVAL '1.5' SECOND PRECEDING) + 1"
        " FROM timed WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ),
    "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS 0 PRECEDING) FROM timed",
    "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) FROM timed",
    "SELECT id, RANK() OVER (PARTITION BY k ORDER BY ts) FROM timed",
    "SELECT id, DENSE_RANK() OVER (PARTITION BY k ORDER BY ts) FROM timed",
    (
        "SELECT id, RANK() OVER w, DENSE_RANK() OVER w, SUM(v) OVER w FROM timed"
        " WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ),
    (
        "SELECT id, ROW_NUMBER() OVER w, SUM(v) OVER (w ROWS UNBOUNDED PRECEDING) FROM timed"
        " WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ),
    (
        "SELECT id, LAG(v) OVER w, LAG(v, 2) OVER w, LAG(v, 1, -1) OVER w FROM timed"
        " WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ),
    (
        "SELECT id, LAG(s, 0) OVER w, LAG(v) OVER w, SUM(v) OVER w FROM timed"
        " WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ),
    "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts NULLS LAST) FROM timed",
    "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts), COUNT(*) OVER (ORDER BY ts) FROM timed",
    (
        "SELECT id, SUM(v) OVER w, COUNT(*) OVER (w ROWS 2 PRECEDING) FROM timed"
        " WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ),
    "SELECT id, NTILE(2) OVER (PARTITION BY k ORDER BY ts) FROM timed",
    "SELECT id, PERCENT_RANK() OVER (PARTITION BY k ORDER BY ts) FROM timed",
    "SELECT id, CUME_DIST() OVER (PARTITION BY k ORDER BY ts) FROM timed",
    "SELECT id, LEAD(v) OVER (PARTITION BY k ORDER BY ts) FROM timed",
    "SELECT id, LAG(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) FROM timed",
    "SELECT id, SUM(v) OVER (PARTITION BY k) FROM timed",
    "SELECT id, SUM(v) OVER () FROM timed",
    "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts DESC) FROM timed",
    "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts, id) FROM timed",
    (
        "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts"
        " ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM timed"
    ),
    (
        "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts"
        " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) FROM timed"
    ),
    (
        "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts"
        " ROWS BETWEEN CURRENT ROW AND CURRENT ROW) FROM timed"
    ),
    "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE 2 PRECEDING) FROM timed",
    (
        "SELECT id, SUM(SUM(v)) OVER (ORDER BY window_time) FROM"
        " TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
        " GROUP BY window_start, window_end, window_time, id"
    ),
)

#: (k, g, v, w) with ties in v and updates that change the order.
CHANGES: list[tuple[str, tuple[int, str, int | None, int]]] = [
    ("+I", (1, "a", 5, 1)),
    ("+I", (2, "a", 3, 2)),
    ("+I", (3, "a", 5, 3)),
    ("+I", (4, "a", 3, 4)),
    ("+I", (5, "b", None, 5)),
    ("-U", (3, "a", 5, 3)),
    ("+U", (3, "a", 3, 3)),
    ("-D", (2, "a", 3, 2)),
    ("+I", (6, "a", 1, 6)),
    ("-U", (4, "a", 3, 4)),
    ("+U", (4, "a", 3, 9)),
    ("+I", (7, "b", 2, 7)),
    ("-D", (6, "a", 1, 6)),
    ("-U", (1, "a", 5, 1)),
    ("+U", (1, "b", 2, 1)),
]
CHANGED = "k INT, g STRING, v INT, w INT"
ADDED = [change for change in CHANGES if change[0] == "+I"]


def _ranked(columns: str, function: str, order: str, condition: str, table: str) -> str:
    rows = f"SELECT *, {function} OVER (PARTITION BY g ORDER BY {order}) AS rn FROM {table}"
    return f"SELECT {columns} FROM ({rows}) WHERE {condition}"


#: Top-N queries over tables with changes and with inserts only.
RANKINGS = tuple(
    _ranked(columns, "ROW_NUMBER()", order, condition, table)
    for table in ("changes", "added")
    for columns in ("k, g, v, w, rn", "k, g, v, w")
    for order, condition in (
        ("v", "rn <= 2"),
        ("v DESC", "rn <= 2"),
        ("v", "rn = 1"),
        ("v DESC, w", "rn = 1"),
        ("v NULLS LAST", "rn BETWEEN 2 AND 3"),
        ("v", "rn = 2"),
    )
)
#: Top-N queries, and OVER by columns that are not times.
RANKS = (
    *RANKINGS,
    _ranked("k, g, v, w, rn", "RANK()", "v", "rn <= 2", "changes"),
    _ranked("k, g, v, w, rn", "DENSE_RANK()", "v", "rn <= 2", "added"),
    *(
        f"SELECT k, {call} OVER (PARTITION BY g ORDER BY {order}) FROM {table}"
        for table in ("changes", "added")
        for call, order in (
            ("SUM(v)", "v"),
            ("ROW_NUMBER()", "v"),
            ("RANK()", "v"),
            ("DENSE_RANK()", "v"),
            ("LAG(k)", "w"),
            ("LISTAGG(CAST(k AS STRING))", "v"),
        )
    ),
    "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY v ROWS UNBOUNDED PRECEDING) FROM changes",
    "SELECT k, SUM(v) OVER (ORDER BY w), COUNT(*) OVER (ORDER BY w) FROM changes",
    "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY w DESC) FROM changes",
    "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY v, w) FROM changes",
    "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY w ROWS 1 PRECEDING) FROM changes",
)

#: Rows in the order of arrival, with the processing time.
_COMING = "(SELECT id, k, v, s, PROCTIME() AS p FROM timed)"
#: Queries by processing time, which only stands for the order of arrival.
ARRIVALS = (
    *(
        f"SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order})"
        f" AS rn FROM {_COMING}) WHERE rn = 1"
        for columns in ("id, k, v, s, rn", "id, k, v")
        for order in ("p", "p DESC", "PROCTIME()")
    ),
    *(
        f"SELECT id, {calls} FROM {_COMING} WINDOW w AS (PARTITION BY k ORDER BY p {frame})"
        for calls in (
            "SUM(v) OVER w, COUNT(*) OVER w, MIN(v) OVER w, MAX(s) OVER w",
            "FIRST_VALUE(id) OVER w, LAST_VALUE(id) OVER w, COUNT(DISTINCT v) OVER w",
        )
        for frame in (
            "",
            "ROWS UNBOUNDED PRECEDING",
            "ROWS 1 PRECEDING",
            "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
        )
    ),
    f"SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) FROM {_COMING}",
    f"SELECT id, LAG(id) OVER (PARTITION BY k ORDER BY p) FROM {_COMING}",
    f"SELECT id, SUM(v) OVER (ORDER BY p ROWS 3 PRECEDING) FROM {_COMING}",
)
#: A temporal join by processing time, and OVER by processing time over rows with retractions.
NOT_BY_THE_CLOCK = (
    f"SELECT a.id, b.v FROM {_COMING} AS a JOIN late FOR SYSTEM_TIME AS OF a.p AS b ON a.id = b.id",
    "SELECT k, COUNT(*) OVER (ORDER BY p) FROM (SELECT *, PROCTIME() AS p FROM changes)",
)

_FIRST = "ROW_NUMBER() OVER (PARTITION BY g ORDER BY v, k)"
#: QUALIFY over tables with changes and with inserts only.
QUALIFIED = (
    *(
        f"SELECT k, g, v, w FROM {table} QUALIFY {condition}"
        for table in ("changes", "added")
        for condition in (
            f"{_FIRST} <= 2",
            "ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC, w) = 1",
            f"2 >= {_FIRST} AND w > 1",
            f"{_FIRST} BETWEEN 1 AND 2",
        )
    ),
    f"SELECT *, {_FIRST} AS rn FROM added QUALIFY rn <= 2",
    (
        "SELECT k, g FROM changes WHERE w > 2"
        " QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY w) = 1"
    ),
    f"SELECT k + 1 AS v FROM added QUALIFY {_FIRST} <= 2",
    f"SELECT DISTINCT g FROM changes QUALIFY {_FIRST} <= 2",
    (
        "SELECT k FROM added WINDOW w AS (PARTITION BY g ORDER BY v, k)"
        " QUALIFY ROW_NUMBER() OVER w = 1"
    ),
    f"SELECT k, g FROM added QUALIFY {_FIRST} = 1 LIMIT 5",
    (
        f"SELECT q.k FROM (SELECT * FROM added QUALIFY {_FIRST} = 1) AS q"
        " JOIN changes AS c ON q.k = c.k"
    ),
    f"SELECT k, v FROM added QUALIFY {_FIRST} <= 2 AND k IN (SELECT k FROM changes)",
    f"SELECT k FROM added QUALIFY {_FIRST} = (SELECT COUNT(DISTINCT g) FROM added)",
    (
        "SELECT g, SUM(v) AS s FROM added GROUP BY g HAVING COUNT(*) > 1"
        " QUALIFY ROW_NUMBER() OVER (ORDER BY SUM(v) DESC) = 1 AND COUNT(*) < 9"
    ),
    "SELECT k FROM added QUALIFY v > 1",
    f"SELECT k FROM added QUALIFY {_FIRST}",
    f"SELECT k, g AS x, v AS x FROM added QUALIFY {_FIRST} = 1 AND x = 'a'",
)
#: QUALIFY by processing time.
QUALIFIED_ARRIVALS = tuple(
    f"SELECT {items} FROM {_COMING} QUALIFY {condition}"
    for items, condition in (
        ("id, v", "SUM(v) OVER (PARTITION BY k ORDER BY p) > 5"),
        ("id", "SUM(v) OVER (PARTITION BY k ORDER BY p) > 5 OR id = 1"),
        ("id, s", "v < LAG(v) OVER (PARTITION BY k ORDER BY p)"),
        ("id, k, v, COUNT(*) OVER (PARTITION BY k ORDER BY p) AS n", "n > 1 AND v IS NOT NULL"),
        ("id, k", "ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) = 1"),
    )
)

#: Queries of RANKS in which ties do not matter: the order is unique, the frame includes all ties,
#: or the input has inserts only, where ties are in the order of arrival, as in Flink.
SORTED = (
    "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY v) FROM changes",
    "SELECT k, SUM(v) OVER (ORDER BY w), COUNT(*) OVER (ORDER BY w) FROM changes",
    "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY v) FROM added",
    "SELECT k, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v) FROM added",
    "SELECT k, LAG(k) OVER (PARTITION BY g ORDER BY w) FROM added",
    "SELECT k, LISTAGG(CAST(k AS STRING)) OVER (PARTITION BY g ORDER BY v) FROM added",
)


def moment(seconds: float) -> datetime:
    """Return the event time of a row."""
    return datetime(2026, 3, 1) + timedelta(seconds=seconds)
