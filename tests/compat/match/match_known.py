"""Known differences of MATCH_RECOGNIZE from Flink, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping

from tests.compat.match.match_queries import query

_UP = "B AS B.v > A.v"

#: Queries that streamtable refuses and Flink accepts -> why.
REFUSED: Mapping[str, str] = {
    query("^ A B", _UP): "Flink ignores the anchor `^`, which is refused here",
    query("A B $", _UP): "Flink ignores the anchor `$`, which is refused here",
    query("A B", "C AS C.v > 1"): (
        "Flink ignores a condition of a variable that the pattern lacks, which is refused here"
    ),
    query("A B", "B AS ticks.v > 1"): (
        "Flink takes the name of the table in DEFINE for a variable without rows, and the column is"
        " NULL; it is refused here"
    ),
    query("A B", "B AS SUM(LAST(B.v)) > 1"): (
        "Flink ignores LAST inside an aggregate, which is refused here"
    ),
    query("A B", _UP, "CAST(COLLECT(w) AS STRING) AS x, LAST(id) AS y"): (
        "a multiset cannot be cast to a string here"
    ),
    query("A B", _UP).replace("DEFINE", "SUBSET S = (A, B) DEFINE"): (
        "Flink ignores SUBSET, which is refused here"
    ),
    query("A B", _UP, "MATCH_ROWTIME() AS x", table="arrivals", order="pt"): (
        "MATCH_ROWTIME of an order by processing time is the clock in Flink, and refused here"
    ),
}
#: Queries that streamtable accepts and Flink refuses.
TAKEN = (
    query("A B", "B AS NULL"),
    query("A B", _UP, "1 AS one, 'x' AS x, LAST(id) AS y"),
)
#: Other differences.
NOTES = ("Flink 2.2 fails on the quantifier `{,m}`, which its docs have; it means `{0,m}` here",)
