"""Words that the grammar needs for itself, and units of time."""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


#: Words that cannot be a name unless in backticks. Flink reserves more; a script that runs there
#: has those in backticks too, so the shorter list takes every script of Flink's.
RESERVED = _words(
    "ALL AND ANY AS BEGIN BETWEEN BY CASE CAST CREATE CROSS DELETE DISTINCT DROP ELSE END ESCAPE",
    "EXCEPT EXISTS FALSE FETCH FOR FROM FULL GROUP HAVING IN INNER INSERT INTERSECT INTERVAL INTO",
    "IS JOIN LATERAL LEFT LIKE LIMIT MATCH_RECOGNIZE NATURAL NOT NULL OFFSET ON OR ORDER OUTER",
    "OVER PARTITION PIVOT QUALIFY RIGHT SELECT SIMILAR SOME TABLE TABLESAMPLE THEN TRUE TRY_CAST",
    "UNION UNKNOWN UNNEST UNPIVOT UPDATE USING VALUES WHEN WHERE WINDOW WITH WITHIN",
)

#: Reserved words that are functions too, where a parenthesis follows.
RESERVED_FUNCTIONS = frozenset({"LEFT", "RIGHT"})

#: Functions called without parentheses.
BARE_FUNCTIONS = _words("CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP")

#: Units that EXTRACT, TIMESTAMPADD, TIMESTAMPDIFF, FLOOR and CEIL take.
UNITS = _words(
    "MILLENNIUM CENTURY DECADE YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND",
    "MICROSECOND NANOSECOND EPOCH DOW DOY ISODOW ISOYEAR SQL_TSI_YEAR SQL_TSI_QUARTER",
    "SQL_TSI_MONTH SQL_TSI_WEEK SQL_TSI_DAY SQL_TSI_HOUR SQL_TSI_MINUTE SQL_TSI_SECOND",
)
