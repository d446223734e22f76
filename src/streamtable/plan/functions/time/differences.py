"""Known differences from Flink's results; the function reference shows them."""

from __future__ import annotations

from collections.abc import Mapping

DIFFERENCES: Mapping[str, str] = {
    "BITMAP_TO_BYTES": "Equal sets have equal bytes; in Flink, adjacent elements may be"
    " a run or a list where both have the same length.",
    "CEIL": "A DATE that is a whole day stays; Flink gives the next day.",
    "CURRENT_DATABASE": "In a view or computed column: what was in use when that was made; in"
    " Flink when the query is planned.",
    "EXP": "The last digit may differ.",
    "JSON": "May stand alone; in Flink only inside JSON_OBJECT and JSON_ARRAY.",
    "JSON_OBJECT": "An untyped NULL is a JSON null; Flink fails.",
    "JSON_VALUE": "A column may be the DEFAULT; Flink fails.",
    "LPAD": "NULL for a negative length or an empty pad; Flink fails where all is NOT NULL.",
    "MAP_FROM_ARRAYS": "A NULL key fails.",
    "PRINTF": "Values that Flink prints as addresses in memory are refused.",
    "REGEXP_REPLACE": "NULL for a broken pattern; Flink fails where all is NOT NULL.",
    "RPAD": "NULL for a negative length or an empty pad; Flink fails where all is NOT NULL.",
    "TO_TIMESTAMP_LTZ": "NULL for an hour of 25; Flink fails.",
    "UNHEX": "Keeps the first of an odd number of digits.",
    "UPPER": "A constant may grow (`ß`); Flink cuts it to its length.",
}
