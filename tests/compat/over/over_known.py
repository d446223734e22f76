"""Differences of OVER and rankings from Flink's recorded answers."""

from __future__ import annotations

from collections.abc import Mapping

#: Queries that Flink refuses and streamtable runs.
TAKEN = (
    (
        "SELECT k, g, v, w, rn FROM (SELECT *, RANK() OVER (PARTITION BY g ORDER BY v) AS rn"
        " FROM changes) WHERE rn <= 2"
    ),
    (
        "SELECT k, g, v, w, rn FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY g ORDER BY v) AS rn"
        " FROM added) WHERE rn <= 2"
    ),
    "SELECT k, LAG(k) OVER (PARTITION BY g ORDER BY w) FROM changes",
    (
        "SELECT g, SUM(v) AS s FROM added GROUP BY g HAVING COUNT(*) > 1"
        " QUALIFY ROW_NUMBER() OVER (ORDER BY SUM(v) DESC) = 1 AND COUNT(*) < 9"
    ),
)

#: Feature -> difference.
DIFFERENT: Mapping[str, str] = {
    "RANK and DENSE_RANK OVER": "the rank that SQL's standard gives; Flink gives tied rows the"
    " number of rows so far, with both functions",
    "ties of a ranking, or of OVER with ROWS, among rows that may be retracted": "by all columns"
    " from the left; Flink uses the order in which the rows arrived",
    "RANGE n PRECEDING by processing time": "each row is emitted at once, with the rows of its"
    " millisecond in the same batch; Flink waits for the end of the millisecond",
    "QUALIFY with a column that SELECT has at another place": "the value of the column; Flink reads"
    " the SELECT item that is at the column's place in FROM, or fails",
    "late rows of OVER with ROWS or RANGE n PRECEDING": "rows behind the watermark are late with"
    " every frame; Flink takes some of them into these two, out of order",
}
