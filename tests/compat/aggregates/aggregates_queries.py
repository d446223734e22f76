"""Aggregate queries whose changelogs were recorded from Flink, and the rows they read.

`changes` has inserts, updates and deletes of a table with the columns k, g, v, s, d, x; `added` has
only its first inserts. One task reads the rows in order, so an answer is one sequence of changes.
"""

from __future__ import annotations

from typing import Any

COLUMNS = "k INT, g STRING, v INT, s STRING, d DECIMAL(10, 2), x DOUBLE"

Row = tuple[int, str, int | None, str | None, str | None, float | None]

_FIRST: list[Row] = [
    (1, "a", 3, "p", "1.50", 1.0),
    (2, "a", None, None, None, None),
    (3, "a", 5, "q", "2.25", 2.5),
    (4, "a", 3, "p", "1.00", 4.0),
    (5, "b", None, None, None, None),
]
_THIRD: Row = (3, "a", 6, "z", "2.25", 2.5)
_SIXTH: Row = (6, "a", None, None, None, None)

#: Row kinds with rows.
CHANGES: list[tuple[str, Row]] = [
    *(("+I", row) for row in _FIRST),
    ("-D", _FIRST[0]),
    ("-U", _FIRST[2]),
    ("+U", _THIRD),
    ("+I", _SIXTH),
    ("-D", _FIRST[3]),
    ("-D", _THIRD),
    ("-D", _FIRST[1]),
    ("-D", _SIXTH),
    ("-D", _FIRST[4]),
]
ADDED: list[tuple[str, Row]] = [("+I", row) for row in _FIRST]

_CALLS = (
    "COUNT(*), SUM(v), MAX(s)",
    "FIRST_VALUE(v), LAST_VALUE(v), FIRST_VALUE(s), LAST_VALUE(s)",
    "FIRST_VALUE(DISTINCT v)",
    "LISTAGG(s), LISTAGG(s, '-'), LISTAGG(DISTINCT s)",
    "LISTAGG(s) FILTER (WHERE k > 2)",
    "CAST(ARRAY_AGG(v) AS STRING), CAST(ARRAY_AGG(v) IGNORE NULLS AS STRING)",
    "CAST(ARRAY_AGG(DISTINCT v) AS STRING), CAST(ARRAY_AGG(v) FILTER (WHERE k > 2) AS STRING)",
    "JSON_ARRAYAGG(v), JSON_ARRAYAGG(s NULL ON NULL)",
    "JSON_ARRAYAGG(x), JSON_ARRAYAGG(d), JSON_ARRAYAGG(k > 2)",
    "JSON_OBJECTAGG(KEY CAST(k AS STRING) VALUE v)",
    "JSON_OBJECTAGG(KEY CAST(10 - k AS STRING) VALUE s ABSENT ON NULL)",
    "VAR_POP(v), VAR_SAMP(v), STDDEV_POP(v), STDDEV_SAMP(v), STDDEV(v), VARIANCE(v)",
    "VAR_POP(d), VAR_SAMP(d), STDDEV_POP(d), STDDEV_SAMP(d)",
    "VAR_POP(x), VAR_SAMP(x), STDDEV_POP(x), STDDEV_SAMP(x)",
    "VAR_POP(CAST(k * 100000 AS INT)), VAR_POP(CAST(x AS DECIMAL(20, 8)))",
    "AVG(DISTINCT v), STDDEV_POP(DISTINCT v), VAR_SAMP(v) FILTER (WHERE k > 1)",
    "PERCENTILE(v, 0.5), PERCENTILE(d, 0.25), PERCENTILE(x, 1), PERCENTILE(v, 0.3, k)",
    "PERCENTILE(DISTINCT v, 0.5), CAST(PERCENTILE(x, ARRAY[0.1, 0.9, 0.5]) AS STRING)",
    "PERCENTILE(v, 0.5) FILTER (WHERE k > 1), PERCENTILE(v, 0.5, k - 3)",
    "COUNT(*), SUM(DISTINCT v), COUNT(DISTINCT v) FILTER (WHERE k > 2), COUNT(DISTINCT s)",
    "GROUPING(g), GROUPING_ID(g) + COUNT(*), GROUP_ID()",
)

QUERIES = (
    "SELECT COUNT(*), SUM(v), MAX(s) FROM changes",
    "SELECT LISTAGG(s) FROM changes",
    "SELECT COUNT(*), JSON_ARRAYAGG(v) FROM changes WHERE k > 100",
    *(f"SELECT g, {call} FROM changes GROUP BY g" for call in _CALLS),
    *(f"SELECT g, {call} FROM added GROUP BY g" for call in _CALLS[:8]),
)


def plain(value: Any) -> Any:
    """Return a value as the record has it."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
