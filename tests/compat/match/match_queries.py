"""MATCH_RECOGNIZE queries whose answers were recorded from Flink, and the rows that they read.

`ticks` has an event time with disorder and ties, and no late row; `arrivals` has the same rows by
processing time. Every partition `k` has its own random history, so one query is compared over many
histories.
"""

from __future__ import annotations

from random import Random

#: (k, id, v, w, s, seconds)
Tick = tuple[str, int, int | None, int, str | None, float]

COLUMNS = "k STRING, id INT, v INT, w INT, s STRING"
_HISTORIES = "abcdefgh"
_LENGTH = 18
#: Delay of the watermark: rows are behind earlier rows by less than this, in seconds.
DISORDER = 3
_SEED = 20_26


def _ticks() -> list[Tick]:
    random = Random(_SEED)
    rows: list[tuple[float, Tick]] = []
    number = 0
    for k in _HISTORIES:
        seconds = 10.0
        for _ in range(_LENGTH):
            number += 1
            seconds += random.choice((0, 0.5, 1, 1, 1, 2, 4))
            v = None if random.random() < 0.06 else random.randrange(6)
            s = None if random.random() < 0.1 else random.choice("pqr")
            tick = (k, number, v, random.randrange(4), s, seconds)
            rows.append((seconds + random.random() * (DISORDER - 0.5), tick))
    rows.sort(key=lambda row: row[0])
    return [tick for _, tick in rows]


TICKS = _ticks()

_QUANTIFIERS = ("", "", "", "+", "*", "?", "+?", "*?", "{2}", "{2,}", "{1,2}", "{,2}", "{0,2}")
_QUANTIFIERS += ("{2,3}", "{2,}?", "{1,2}?", "{2}?", "{1,3}?", "{0,1}", "{1,}", "{0,}", "{,2}?")
_LAST = ("", "", "", "", "+?", "*?", "{2}", "{2,}?", "{1,2}?", "?", "{2}?", "{0,2}?", "{3}")
_CONDITIONS = (
    "{x}.v > 1",
    "{x}.v <= 3",
    "{x}.v > LAST({x}.v, 1)",
    "{x}.v >= LAST(v, 1)",
    "LAST({x}.v, 1) IS NULL OR {x}.v < LAST({x}.v, 1)",
    "LAST({x}.v, 1) IS NULL OR {x}.v >= LAST({x}.v, 1)",
    "SUM({x}.v) < 7",
    "COUNT({x}.v) <= 2",
    "{x}.v > {y}.v",
    "{x}.v <= {y}.v",
    "{x}.v <> FIRST({y}.v)",
    "{x}.w >= AVG({y}.w)",
    "SUM(v) < 12",
    "MAX({x}.w) - MIN({x}.w) < 2",
    "{x}.s = 'p'",
    "{x}.s <> 'p'",
    "{x}.s IS NOT NULL AND {x}.w < 3",
    "{x}.v >= FIRST(v)",
    "FIRST({x}.v, 1) IS NULL OR FIRST({x}.v, 1) < 4",
    "w < 3",
    "COUNT(*) < 5",
    "LAST(v) + LAST({y}.v, 1) < 6",
    "{x}.id > FIRST({y}.id) + 1",
    "SUM({y}.v + {y}.w) > 3",
    "CASE WHEN {y}.v IS NULL THEN {x}.w > 0 ELSE {x}.v + 1 > {y}.v END",
    "LAST({x}.v * {x}.w) < 8",
    "FIRST({y}.v + 1, 1) IS NULL OR {x}.w <> 1",
)
_MEASURES = (
    "FIRST({x}.id)",
    "LAST({x}.id)",
    "{x}.id",
    "COUNT({x}.id)",
    "COUNT(*)",
    "SUM(v)",
    "SUM({x}.v)",
    "AVG({x}.w)",
    "MIN({x}.v)",
    "MAX(s)",
    "FIRST(id)",
    "LAST(id)",
    "id",
    "LAST(id, 1)",
    "FIRST({x}.id, 1)",
    "LAST({x}.v, 2)",
    "FINAL LAST({x}.v)",
    "{x}.v + {y}.v",
    "LAST({x}.v * {x}.w)",
    "COALESCE({y}.s, 'none') || '-' || CAST(COUNT({x}.v) AS STRING)",
    "SUM({x}.v * {x}.w) - {y}.w",
    "CAST(FIRST(ts) AS STRING)",
    "CAST({x}.ts AS STRING)",
    "FIRST_VALUE({x}.v)",
    "LISTAGG({x}.s)",
    "STDDEV_POP(w)",
)
_SKIPS = (
    None,
    "PAST LAST ROW",
    "PAST LAST ROW",
    "TO NEXT ROW",
    "TO NEXT ROW",
    "TO FIRST {x}",
    "TO LAST {x}",
    "TO LAST {x}",
    "TO {x}",
)
_WITHINS = (None, None, None, "'3' SECOND", "'6' SECOND", "'0 00:00:02.5' DAY TO SECOND")


def query(
    pattern: str,
    define: str,
    measures: str = "FIRST(id) AS a, LAST(id) AS b, COUNT(*) AS n",
    *,
    skip: str | None = "PAST LAST ROW",
    within: str | None = None,
    order: str = "ts",
    partition: str | None = "k",
    table: str = "ticks",
    rows: str = "ONE ROW PER MATCH ",
) -> str:
    """Return a query; `skip` and `within` are the texts after their keywords."""
    return (
        f"SELECT * FROM {table} MATCH_RECOGNIZE ("
        + (f"PARTITION BY {partition} " if partition else "")
        + (f"ORDER BY {order} " if order else "")
        + (f"MEASURES {measures} " if measures else "")
        + rows
        + (f"AFTER MATCH SKIP {skip} " if skip else "")
        + f"PATTERN ({pattern}) "
        + (f"WITHIN INTERVAL {within} " if within else "")
        + f"DEFINE {define})"
    )


def _drawn(random: Random) -> str:
    names = "ABCD"[: random.choice((1, 2, 2, 3, 3, 3, 4))]
    quantifiers = [random.choice(_QUANTIFIERS) for _ in names[:-1]] + [random.choice(_LAST)]
    if random.random() < 0.6:
        quantifiers[0] = random.choice(("", "", "+", "{2}", "{1,2}", "+?"))
    if all(q[:1] in ("*", "?") or q[:2] in ("{0", "{,") for q in quantifiers):
        quantifiers[0] = ""
    defines = []
    for name in names:
        if random.random() < 0.8 or (name == names[-1] and not defines):
            other = random.choice([n for n in names if n != name] or [name])
            defines.append(f"{name} AS {random.choice(_CONDITIONS).format(x=name, y=other)}")
    pieces = ["FIRST(id) AS m0", "LAST(id) AS m1"]
    for i in range(random.randrange(2, 5)):
        x, y = random.choice(names), random.choice(names)
        pieces.append(f"{random.choice(_MEASURES).format(x=x, y=y)} AS m{i + 2}")
    skip = random.choice(_SKIPS)
    needed = [
        n
        for n, q in zip(names, quantifiers, strict=True)
        if q[:1] not in ("*", "?") and q[:2] not in ("{0", "{,")
    ]
    if skip is not None and "{x}" in skip:
        # Every match has a row before the row of the target.
        skip = skip.format(x=random.choice(needed[1:])) if needed[1:] else "TO NEXT ROW"
    table = "arrivals" if random.random() < 0.12 else "ticks"
    order = "ts" if table == "ticks" else "pt"
    if table == "ticks" and random.random() < 0.2:
        order = random.choice(("ts, v", "ts ASC, w DESC, id DESC", "ts, v DESC, id"))
    measures = ", ".join(m.replace("ts", order[:2]) for m in pieces)
    if table == "arrivals":
        measures = ", ".join(m for m in pieces if "ts" not in m)
    return query(
        " ".join(n + q for n, q in zip(names, quantifiers, strict=True)),
        ", ".join(defines),
        measures,
        skip=skip,
        within=None if table == "arrivals" else random.choice(_WITHINS),
        order=order,
        table=table,
    )


def _random() -> list[str]:
    random = Random(_SEED + 1)
    return list(dict.fromkeys(_drawn(random) for _ in range(100)))


#: Queries with random patterns.
RANDOM = _random()

_UP = "B AS B.v > A.v"
#: Queries written by hand: each clause in each form, and queries that Flink refuses.
WRITTEN = (
    query("A B", _UP, skip=None),
    query("A B", _UP, skip="TO NEXT ROW"),
    query("A B", _UP, rows=""),
    query("A B", _UP, ""),
    query("A B", _UP, partition=None),
    query("A B", _UP, partition="k, s"),
    query("A B", _UP, partition="UPPER(k)"),
    query("A B", _UP, order=""),
    query("A B", _UP, order="v, ts"),
    query("A B", _UP, order="ts DESC"),
    query("A B", _UP, order="ts, v DESC"),
    query("A B", _UP, rows="ALL ROWS PER MATCH "),
    query("A B", _UP, rows="ALL ROWS PER MATCH SHOW EMPTY MATCHES "),
    query("A B", _UP, rows="ALL ROWS PER MATCH WITH UNMATCHED ROWS "),
    query("A | B", _UP),
    query("A (B | C) D", _UP),
    query("PERMUTE(A, B)", _UP),
    query("{- A -} B", _UP),
    query("^ A B", _UP),
    query("A B $", _UP),
    query("A B A", _UP),
    query("(A B)+ C", _UP),
    query("(A B) C", _UP),
    query("(A) B", _UP),
    query("A (B)+ C", _UP),
    query("A ((B C)) D", _UP),
    query("A B+", _UP),
    query("A B*", _UP),
    query("A B?", _UP),
    query("A B{1,2}", _UP),
    query("A B{2}", _UP),
    query("A*", "A AS A.v > 1"),
    query("A? B*?", _UP),
    query("A{0,} B{0,2}", _UP),
    query("A?? B", _UP),
    query("A{0,1}? B", _UP),
    query("A{0} B", _UP),
    query("A{0,0} B", _UP),
    query("A{3,2} B", _UP),
    query("A{,0} B", _UP),
    query("A{,} B", _UP),
    query("A B", "C AS C.v > 1"),
    query("A B", "B AS B.v > 1, B AS B.v > 2"),
    query("A B", "B AS B.v"),
    query("A B", "B AS PREV(B.v) < B.v"),
    query("A B", "B AS PREV(B.v, 0) < 3"),
    query("A B", "B AS NEXT(B.v) < B.v"),
    query("A B", "B AS NEXT(B.v, 0) < 3"),
    query("A B", "B AS PREV(LAST(A.v, 1), 1) < B.v"),
    query("A B", "B AS RUNNING LAST(A.v) < B.v"),
    query("A B", "B AS FINAL LAST(A.v) < B.v"),
    query("A B", "B AS LAST(A.v * B.w) < 8"),
    query("A B", "B AS SUM(A.v * B.w) < 8"),
    query("A B", "B AS SUM(DISTINCT A.v) < 8"),
    query("A B", "B AS COUNT(DISTINCT A.v) < 8"),
    query("A B", "B AS SUM(A.v) FILTER (WHERE A.w > 1) > 1"),
    query("A B", "B AS B.v > (SELECT MAX(v) FROM ticks)"),
    query("A B", "B AS B.v IN (SELECT v FROM ticks)"),
    query("A B", "B AS B.v > C.v"),
    query("A B", "B AS B.nothing > 1"),
    query("A B", "B AS ticks.v > 1"),
    query("A B", "B AS nothing > 1"),
    query("A B", "B AS LAST(B.v, A.w) > 1"),
    query("A B", "B AS LAST(B.v, -1) > 1"),
    query("A B", "B AS LAST(B.v, 1 + 0) > 1"),
    query("A B", "B AS LAST(5) > 1"),
    query("A B", "B AS LAST(FIRST(B.v)) > 1"),
    query("A B", "B AS FIRST(LAST(B.v, 1), 1) > 1"),
    query("A B", "B AS SUM(LAST(B.v)) > 1"),
    query("A B", "B AS LAST(SUM(B.v)) > 1"),
    query("A B", "B AS SUM(SUM(B.v)) > 1"),
    query("A B", "B AS TRUE"),
    query("A B", "B AS NULL"),
    query("A B", "B AS COUNT(*) > 1"),
    query("A B", "B AS COUNT(1) > 1"),
    query("A B", "B AS SUM(1) > 1"),
    query("A+ B", "B AS COUNT(A.*) > 1"),
    query("A B", "B AS RAND() < 2"),
    query("A B", _UP, "A.v, B.v AS v2"),
    query("A B", _UP, "A.v AS x, B.v AS x"),
    query("A B", _UP, "A.v AS k"),
    query("A B", _UP, "A.k AS kk, B.s AS ss"),
    query("A B", _UP, "A.v v1"),
    query("A B", _UP, "RUNNING LAST(A.v) AS x"),
    query("A B", _UP, "FINAL LAST(A.v) AS x, FINAL SUM(A.v) AS y"),
    query("A B", _UP, "FINAL A.v AS x"),
    query("A B", _UP, "FINAL (A.v + B.v) AS x"),
    query("A B", _UP, "RUNNING SUM(A.v) AS x"),
    query("A B", _UP, "CLASSIFIER() AS x"),
    query("A B", _UP, "MATCH_NUMBER() AS x"),
    query("A B", _UP, "MATCH_ROWTIME() AS x, LAST(id) AS y"),
    query("A B", _UP, "MATCH_ROWTIME(ts) AS x, LAST(id) AS y"),
    query("A B", _UP, "MATCH_ROWTIME(v) AS x, LAST(id) AS y"),
    query("A B", _UP, "MATCH_ROWTIME(A.ts) AS x, LAST(id) AS y"),
    query("A B", _UP, "CAST(MATCH_ROWTIME() AS STRING) AS x, LAST(id) AS y"),
    query("A B", _UP, "MATCH_PROCTIME() IS NULL AS x, LAST(id) AS y"),
    query("A B", _UP, "1 AS one, 'x' AS x, LAST(id) AS y"),
    query("A B", _UP, "SUM(A.v + B.v) AS x"),
    query("A B", _UP, "SUM(DISTINCT v) AS x"),
    query("A B", _UP, "SUM(v) FILTER (WHERE w > 1) AS x, LAST(id) AS y"),
    query("A B", _UP, "PREV(A.v) AS x"),
    query("A B", _UP, "PREV(A.v, 0) AS x, LAST(id) AS y"),
    query("A B", _UP, "LAST(A.v, 1 + 1) AS x"),
    query("A B", _UP, "C.v AS x"),
    query("A B", _UP, "LAST(id) AS y, v"),
    query("A B", _UP, "LAST(id)"),
    query("A B", _UP, "B.*"),
    query("A B", _UP, "CAST(ARRAY_AGG(v) AS STRING) AS x, LAST(id) AS y"),
    query("A B", _UP, "CAST(COLLECT(w) AS STRING) AS x, LAST(id) AS y"),
    query("A B", _UP, "(SELECT 1) AS x"),
    query("A B", _UP, "ROW_NUMBER() OVER (ORDER BY ts) AS x"),
    query("A+ B", "A AS A.w < 3, B AS B.v > A.v", "COUNT(A.*) AS x, LAST(id) AS y"),
    query("A+ B", "A AS A.w < 3, B AS B.v > A.v", "COUNT(A.v) + COUNT(*) AS x, LAST(id) AS y"),
    query("A+ B", "A AS A.w < 3, B AS B.v > A.v", "A.v + SUM(A.v) * B.v AS x, LAST(id) AS y"),
    query("A B", _UP, skip="TO FIRST C"),
    query("A B", _UP, skip="TO B"),
    query("A B", _UP, within="'1' MONTH"),
    query("A B", _UP, within="'1' YEAR"),
    query("A B", _UP, within="'0' SECOND"),
    query("A B", _UP, within="'2' SECOND"),
    query("A B", _UP, within="'1.5' SECOND"),
    query("A B", f"{_UP}").replace("DEFINE", "SUBSET S = (A, B) DEFINE"),
    query("A B", _UP).replace(" DEFINE B AS B.v > A.v", ""),
    query("A B", _UP).replace("PATTERN (A B) ", ""),
    query("A B", _UP).replace("A B", "`A` `b`").replace("B AS B.v", "`b` AS `b`.v"),
    query("a B", _UP),
    query("a b", "b AS b.v > a.v"),
    query("A B", _UP) + " AS m",
    query("A B", _UP) + " m WHERE m.n = 2",
    (
        "SELECT m.k, m.n FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES"
        " COUNT(*) AS n PATTERN (A B) DEFINE B AS B.v > A.v) AS m"
    ),
    (
        "SELECT * FROM ticks AS t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES"
        " COUNT(*) AS n PATTERN (A B) DEFINE B AS B.v > A.v) AS m"
    ),
    (
        "SELECT * FROM (SELECT k, ts, v + 1 AS v, id FROM ticks WHERE w > 0) MATCH_RECOGNIZE"
        " (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l"
        " PATTERN (A B) DEFINE B AS B.v > A.v)"
    ),
    (
        "SELECT * FROM (SELECT k, COUNT(*) AS v FROM ticks GROUP BY k) MATCH_RECOGNIZE"
        " (ORDER BY v MEASURES COUNT(*) AS n PATTERN (A B) DEFINE B AS B.v > A.v)"
    ),
    (
        "SELECT * FROM (SELECT k, COUNT(*) AS v, PROCTIME() AS pt FROM ticks GROUP BY k)"
        " MATCH_RECOGNIZE"
        " (ORDER BY pt MEASURES COUNT(*) AS n PATTERN (A B) DEFINE B AS B.v > A.v)"
    ),
    (
        "SELECT window_start, COUNT(*), SUM(y) FROM TABLE(TUMBLE(TABLE matched, DESCRIPTOR(t),"
        " INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    ),
    query("A B", "B AS B.v > 2", table="arrivals", order="pt"),
    query("A B+? C", "B AS B.v > 2, C AS C.v < 4", table="arrivals", order="pt"),
    query("A B", _UP, "MATCH_ROWTIME() AS x", table="arrivals", order="pt"),
    query("A B", _UP, "MATCH_PROCTIME() IS NULL AS x", table="arrivals", order="pt"),
)
#: Queries that fail on these rows.
FAILING = (
    query("A B", _UP, skip="TO LAST A"),
    query("A B", _UP, skip="TO FIRST A"),
    query("A B", _UP, skip="TO A"),
    query("A B* C", "B AS B.v < A.v, C AS C.v >= A.v", skip="TO FIRST B"),
    query("A B* C", "B AS B.v < A.v, C AS C.v >= A.v", skip="TO LAST B"),
)
#: Query of the view `matched`, which a query of `WRITTEN` reads.
MATCHED = query("A B", _UP, "LAST(id) AS y, MATCH_ROWTIME() AS t")
