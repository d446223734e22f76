"""Functions of Spark and other databases that Flink SQL lacks, and their replacements."""

from __future__ import annotations

from collections.abc import Mapping

_DAYS = "write d + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, 1, d)"

#: Name -> replacement in Flink SQL.
ELSEWHERE: Mapping[str, str] = {
    "COLLECT_LIST": "ARRAY_AGG(x) collects the values of a group",
    "COLLECT_SET": "ARRAY_AGG(DISTINCT x) collects the distinct values of a group",
    "COUNT_DISTINCT": "write COUNT(DISTINCT x)",
    "DATEADD": _DAYS,
    "DATEDIFF": "write TIMESTAMPDIFF(DAY, a, b), which is b - a",
    "DATE_ADD": _DAYS,
    "DATE_SUB": "write d - INTERVAL '1' DAY",
    "DATE_TRUNC": "write FLOOR(ts TO HOUR), or another unit",
    "EXPLODE": "write FROM t CROSS JOIN UNNEST(t.items) AS i (item)",
    "FROM_JSON": "JSON_VALUE and JSON_QUERY extract parts of a string",
    "GETDATE": "write CURRENT_TIMESTAMP",
    "GROUP_CONCAT": "write LISTAGG(x, ',')",
    "ISNULL": "write x IS NULL, or COALESCE(x, y)",
    "NVL": "write COALESCE(x, y)",
    "SIZE": "write CARDINALITY(x)",
    "STRING_AGG": "write LISTAGG(x, ',')",
    "TO_JSON": "JSON_STRING(x) and JSON_OBJECT(...) return a string",
    "TRUNC": "write TRUNCATE(x, n) of a number, FLOOR(ts TO MONTH) of a time",
}
