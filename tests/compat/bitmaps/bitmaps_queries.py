"""BITMAP expressions and queries with answers of Flink 2.3, and the rows that the queries read.

One task reads the rows in this order. `changes` has inserts, updates and deletes, also a delete of
a row that did not exist before; `added` has inserts only. `timed` has an event time, and its last
row only moves the watermark.
"""

from __future__ import annotations

Row = tuple[int, str, int | None, int | None]

COLUMNS = "k INT, g STRING, x INT, y INT"
_FIRST: list[Row] = [
    (1, "a", 3, 5),
    (2, "a", None, None),
    (3, "a", 5, 5),
    (4, "a", 3, -1),
    (5, "b", None, None),
    (6, "b", 3, 70_000),
]
_THIRD: Row = (3, "a", -1, 3)
CHANGES: list[tuple[str, Row]] = [
    *(("+I", row) for row in _FIRST),
    ("-D", _FIRST[0]),
    ("-U", _FIRST[2]),
    ("+U", _THIRD),
    # A row that did not exist before.
    ("-D", (7, "b", 8, 3)),
    ("+I", (7, "b", 8, 3)),
    ("+I", (8, "b", 8, 9)),
    ("-D", _FIRST[3]),
    ("-D", _THIRD),
    ("-D", _FIRST[1]),
    ("-D", _FIRST[5]),
    ("+I", _FIRST[0]),
]
ADDED: list[tuple[str, Row]] = [("+I", row) for row in _FIRST]

TIMED_COLUMNS = "ts TIMESTAMP(3), k INT, x INT, y INT"
WATERMARK = "ts - INTERVAL '2' SECOND"
#: Key of the last row.
END = -1
TIMED: list[tuple[str, int, int | None, int | None]] = [
    ("2026-03-01 00:00:01.000", 1, 3, 5),
    ("2026-03-01 00:00:03.000", 2, 7, 5),
    ("2026-03-01 00:00:04.000", 1, 5, 5),
    ("2026-03-01 00:00:02.500", 1, None, None),
    ("2026-03-01 00:00:11.000", 1, 3, -1),
    ("2026-03-01 00:00:12.000", 2, 7, 8),
    ("2026-03-01 00:00:16.000", 1, 9, 3),
    ("2026-03-01 00:00:31.000", 2, 1, 2),
    ("2027-01-01 00:00:00.000", END, 1, 1),
]

#: The BITMAP of a row; NULL if x is NULL. Flink has no CASE with a NULL of type BITMAP.
_B = "BITMAP_BUILD(CASE WHEN x IS NOT NULL THEN ARRAY[x, y] END)"
_OPERATIONS = ("AND", "OR", "XOR")


def _calls(form: str, over: str = "") -> str:
    """Return calls of all aggregates: their sets as texts and bytes, and their sizes."""
    built = f"BITMAP_BUILD_AGG({form.format('x')}){over}"
    of_sets = (
        f"BITMAP_TO_STRING(BITMAP_{o}_AGG({form.format('b')}){over}),"
        f" BITMAP_{o}_CARDINALITY_AGG({form.format('b')}){over}"
        for o in _OPERATIONS
    )
    return (
        f"BITMAP_TO_STRING({built}), BITMAP_TO_BYTES({built}),"
        f" BITMAP_BUILD_CARDINALITY_AGG({form.format('x')}){over}, {', '.join(of_sets)}"
    )


_FILTERED = ", ".join(
    f"BITMAP_TO_STRING({call} FILTER (WHERE k > 2))"
    for call in ("BITMAP_BUILD_AGG(x)", "BITMAP_AND_AGG(b)", "BITMAP_OR_AGG(b)")
)
_EACH = f"(SELECT k, g, x, {_B} AS b FROM {{0}})"
_PER_GROUP = "(SELECT g, BITMAP_BUILD_AGG(x) AS b FROM {0} GROUP BY g)"
_ALL = ", ".join(f"BITMAP_TO_STRING(BITMAP_{o}_AGG(b))" for o in _OPERATIONS)
_TEN = "INTERVAL '10' SECOND"
_WINDOWS = (
    f"TUMBLE(TABLE timed, DESCRIPTOR(ts), {_TEN})",
    f"HOP(TABLE timed, DESCRIPTOR(ts), INTERVAL '5' SECOND, {_TEN})",
    f"CUMULATE(TABLE timed, DESCRIPTOR(ts), INTERVAL '5' SECOND, {_TEN})",
    "SESSION(TABLE timed PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)",
)
_FRAMES = (
    "PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "PARTITION BY k ORDER BY ts",
    "PARTITION BY k ORDER BY p ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "PARTITION BY k ORDER BY p ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
)


def _over(frame: str) -> str:
    arrival = ", PROCTIME() AS p" if "ORDER BY p" in frame else ""
    table = f"(SELECT ts, k, x, {_B} AS b{arrival} FROM timed)"
    return f"SELECT k, x, {_calls('{0}', ' OVER w')} FROM {table} WINDOW w AS ({frame})"


#: Queries whose changes are compared in order. Aggregates with DISTINCT read only `added`: those of
#: Flink forget deletes of rows that did not exist before.
CHANGELOGS = (
    *(
        f"SELECT g, {calls} FROM {_EACH.format(table)} GROUP BY g"
        for table, calls in (
            ("changes", _calls("{0}")),
            ("changes", _FILTERED),
            ("added", _calls("{0}")),
            ("added", _calls("DISTINCT {0}")),
        )
    ),
    (
        f"SELECT COUNT(*), BITMAP_TO_STRING(BITMAP_BUILD_AGG(x)), {_ALL}"
        f" FROM {_EACH.format('changes')}"
    ),
    (
        "SELECT g, BITMAP_TO_STRING(BITMAP_BUILD_AGG(CAST(x AS SMALLINT))),"
        " BITMAP_TO_STRING(BITMAP_BUILD_AGG(NULL)) FROM added GROUP BY g"
    ),
    f"SELECT BITMAP_TO_STRING(b), COUNT(*) FROM {_EACH.format('changes')} GROUP BY b",
    f"SELECT COUNT(DISTINCT b), BITMAP_TO_STRING(LAST_VALUE(b)) FROM {_EACH.format('added')}",
    "SELECT BITMAP_TO_STRING(b) FROM (SELECT DISTINCT BITMAP_BUILD(ARRAY[x]) AS b FROM changes)",
)
#: Queries whose final rows are compared.
TABLES = (
    *(
        f"SELECT CAST(window_start AS STRING), k, {_calls('{0}')} FROM (SELECT window_start,"
        f" window_end, k, x, {_B} AS b FROM TABLE({window})) GROUP BY window_start, window_end, k"
        for window in _WINDOWS
    ),
    *(_over(frame) for frame in _FRAMES),
    f"SELECT {_ALL} FROM {_PER_GROUP.format('changes')}",
    (
        f"SELECT l.k, r.k FROM {_EACH.format('added')} AS l JOIN {_EACH.format('added')} AS r"
        " ON l.b = r.b"
    ),
)
QUERIES = (*CHANGELOGS, *TABLES)

_ONE = "BITMAP_BUILD(ARRAY[1, 2, 3])"
_TWO = "BITMAP_BUILD(ARRAY[2, 3, 4, -4])"
_NULL = "CAST(NULL AS BITMAP)"
_MANY = "BITMAP_BUILD(CAST(SPLIT(REPEAT('1,', 3) || '2', ',') AS ARRAY<INT>))"
#: Bytes of {0..5, 65536, -1} as lists, where Flink writes a run, and of {1..999} as a run.
_FOREIGN = (
    (
        "X'3a300000030000000000050001000000ffff0000200000002c0000002e00000000000100020003000400050000"
        "00ffff'"
    ),
    "X'3b300000010000e60301000100e603'",
)
#: Bytes of a list and of a run that end too early.
_CUT = (
    "X'3b3001000000060001000500020000000700000001000500000005000000'",
    "X'3b30000001000100010001000100'",
)

EXPRESSIONS = (
    *(
        _ONE,
        "BITMAP_BUILD(ARRAY[1, CAST(NULL AS INT), 3])",
        "BITMAP_BUILD(CAST(NULL AS ARRAY<INT>))",
    ),
    *("BITMAP_BUILD(ARRAY[CAST(1 AS TINYINT)])", "BITMAP_BUILD(NULL)", "BITMAP_BUILD(1)", _MANY),
    *("BITMAP_BUILD(ARRAY[CAST(1 AS BIGINT)])", "BITMAP_BUILD(ARRAY['1'])", "BITMAP_BUILD()"),
    *(f"BITMAP_{o}({_ONE}, {_TWO})" for o in (*_OPERATIONS, "ANDNOT")),
    *(f"BITMAP_{o}({_TWO}, {_NULL})" for o in (*_OPERATIONS, "ANDNOT")),
    *(f"BITMAP_{o}({_NULL}, {_TWO})" for o in (*_OPERATIONS, "ANDNOT")),
    *(f"BITMAP_TO_BYTES(BITMAP_{o}({_ONE}, {_TWO}))" for o in (*_OPERATIONS, "ANDNOT")),
    *(f"BITMAP_AND({_ONE})", f"BITMAP_AND({_ONE}, {_ONE}, {_ONE})", f"BITMAP_AND({_ONE}, 1)"),
    *(f"BITMAP_{f}({_TWO})" for f in ("CARDINALITY", "TO_ARRAY", "TO_STRING", "TO_BYTES")),
    *(f"BITMAP_{f}({_NULL})" for f in ("CARDINALITY", "TO_ARRAY", "TO_STRING", "TO_BYTES")),
    *(f"BITMAP_{f}(1)" for f in ("CARDINALITY", "TO_ARRAY", "TO_STRING", "TO_BYTES")),
    "BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[-1, 1, -2147483648, 2147483647]))",
    "BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[1, 2]))",
    "BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[1, 2, 3]))",
    "BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[1, 2, 3, 5, 6, 7, 9, 10]))",
    "BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[70000, 1, 2, 3, 4, 5, 131072, -1]))",
    f"BITMAP_TO_STRING(BITMAP_FROM_BYTES({_FOREIGN[0]}))",
    *(f"BITMAP_TO_BYTES(BITMAP_FROM_BYTES({given}))" for given in _FOREIGN),
    f"BITMAP_CARDINALITY(BITMAP_FROM_BYTES({_FOREIGN[1]}))",
    *(f"BITMAP_TO_BYTES(BITMAP_FROM_BYTES({given}))" for given in _CUT),
    *("BITMAP_FROM_BYTES(X'3a30000000000000')", "BITMAP_FROM_BYTES(X'3a3000000000000001020304')"),
    *("BITMAP_FROM_BYTES(X'')", "BITMAP_FROM_BYTES(X'3a300000')", "BITMAP_FROM_BYTES(X'0102')"),
    *("BITMAP_FROM_BYTES(NULL)", "BITMAP_FROM_BYTES('abc')"),
    f"BITMAP_TO_ARRAY(BITMAP_FROM_BYTES(BITMAP_TO_BYTES({_TWO})))",
    *(f"CAST({_ONE} AS STRING)", f"CAST({_ONE} AS VARCHAR(3))", f"CAST({_ONE} AS CHAR(10))"),
    *(f"TRY_CAST({_ONE} AS STRING)", f"CAST({_NULL} AS STRING)"),
    f"CAST(ARRAY[{_ONE}] AS STRING)",
    *(f"CAST(ROW({_ONE}, 1) AS STRING)", f"CAST(MAP['a', {_ONE}] AS STRING)"),
    *(f"CAST({_ONE} AS BYTES)", f"CAST({_ONE} AS ARRAY<INT>)", f"CAST({_ONE} AS INT)"),
    *("CAST(X'3a30000000000000' AS BITMAP)", "CAST('{1}' AS BITMAP)", "CAST(1 AS BITMAP)"),
    *("CAST(ARRAY[1] AS BITMAP)", f"CAST({_ONE} AS BOOLEAN)"),
    *(f"{_ONE} = {_ONE}", f"{_ONE} <> {_TWO}", f"{_ONE} IS NOT DISTINCT FROM {_NULL}"),
    *(
        f"{_ONE} < {_TWO}",
        f"{_ONE} = X'00'",
        f"{_ONE} = '{{1,2,3}}'",
        f"{_ONE} BETWEEN {_ONE} AND {_TWO}",
    ),
    *(f"{_ONE} IN ({_TWO}, {_ONE})", f"{_ONE} IS NULL", f"GREATEST({_ONE}, {_TWO})"),
    *(f"COALESCE({_NULL}, {_ONE})", f"IFNULL({_NULL}, {_ONE})", f"NULLIF({_ONE}, {_ONE})"),
    f"CASE WHEN 1 = 1 THEN {_ONE} ELSE {_TWO} END",
    *(f"TYPEOF({_ONE})", f"TYPEOF({_NULL})", f"'a' || {_ONE}", f"JSON_STRING({_ONE})"),
    *(f"JSON_OBJECT('a' VALUE {_ONE})", f"MD5({_ONE})", f"HEX({_ONE})", f"CHAR_LENGTH({_ONE})"),
    *(f"ARRAY[{_ONE}]", f"ARRAY_CONTAINS(ARRAY[{_ONE}], {_ONE})", f"ARRAY_SORT(ARRAY[{_ONE}])"),
)
#: Queries that Flink refuses.
REFUSED = (
    f"SELECT b FROM {_EACH.format('added')} ORDER BY b LIMIT 2",
    f"SELECT MAX(b) FROM {_EACH.format('added')}",
    (
        f"SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY g ORDER BY b) AS n FROM"
        f" {_EACH.format('added')}) WHERE n = 1"
    ),
    f"SELECT COUNT(*) OVER (ORDER BY b) FROM {_EACH.format('added')}",
    "SELECT BITMAP_BUILD_AGG(CAST(x AS BIGINT)) FROM added",
    "SELECT BITMAP_BUILD_AGG(g) FROM added",
    "SELECT BITMAP_BUILD_AGG() FROM added",
    "SELECT BITMAP_BUILD_AGG(x, y) FROM added",
    "SELECT BITMAP_AND_AGG(x) FROM added",
    "SELECT BITMAP_OR_CARDINALITY_AGG(g) FROM added",
    "SELECT BITMAP_XOR_AGG(BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[x]))) FROM added",
    "SELECT SUM(BITMAP_BUILD(ARRAY[x])) FROM added",
)
