"""Known differences of our answers from Flink's; the tests check that the list is exact."""

from __future__ import annotations

#: Expressions with another result or another type -> why.
DIFFERENT: dict[str, str] = {
    "-(-2147483648)": "Calcite reads 2147483648 before it looks at the sign; the value is the same",
    "zd/zd = zd/zd": "Calcite takes x = x for TRUE, NaN or not",
    "zd/zd <> zd/zd": "Calcite takes x <> x for FALSE, NaN or not",
    "(nul, 1) <> (nul, 1)": "Calcite takes x <> x for FALSE, NULL or not",
    "CAST(num AS DATE)": "NULL or a failure; Flink takes 17 for a year",
    "num < dt": "NULL; Flink takes 17 for a year",
    "CAST('2024-02-29 12:34:56.123456789' AS TIMESTAMP(9))": "the digits beyond the sixth are cut",
    "TIMESTAMP '2024-01-01 00:00:00.123456789'": "the digits beyond the sixth are cut",
    "a[ti]": "Flink's generated code wants an INT index; any integer will do here",
    "CAST(m AS STRING)": "entries print in the map's order, not in Java's hash order",
    "CAST(CAST(0.1 AS FLOAT) AS DECIMAL(30,20))": "Calcite folds constants, not rounding to FLOAT",
    "CAST(CAST(1.1 AS FLOAT) AS DOUBLE)": "Calcite folds constants, not rounding to FLOAT",
    "EXP(1)": "Spark's exponential is StrictMath's; the last digit may differ",
    "UPPER('straße')": "Flink cuts a constant to the length of its type",
    "LPAD('hi', 4, '')": "NULL; Flink's type is NOT NULL, so it fails",
    "LPAD('hi', -1, 'x')": "NULL; Flink's type is NOT NULL, so it fails",
    "RPAD('hi', -1, '?')": "NULL; Flink's type is NOT NULL, so it fails",
    "RPAD('hi', 4, '')": "NULL; Flink's type is NOT NULL, so it fails",
    "REGEXP_REPLACE('foobar', '(', 'x')": "NULL; Flink's type is NOT NULL, so it fails",
    "JSON_VALUE('{\"a\": 1}', 'lax $.b' DEFAULT s ON EMPTY)": "a column may be the DEFAULT",
    "JSON_OBJECT('a' VALUE NULL NULL ON NULL)": "an untyped NULL is a JSON null; Flink fails",
    "JSON('{\"a\": 1}')": "Flink's code cannot write it outside of JSON_OBJECT and JSON_ARRAY",
    "UNHEX('616')": "Flink loses the first of an odd number of digits",
    "TYPEOF(PROCTIME())": "Flink stumbles over the time attribute",
    "CEIL(dt TO DAY)": "Flink gives the next day for a DATE that is a whole day already",
    "MAP_FROM_ARRAYS(ta, a)": "Spark's maps cannot hold a NULL key; the query stops",
    "TO_TIMESTAMP_LTZ('2024-02-29 25:00:00')": "NULL, as in TO_TIMESTAMP; Flink fails",
    "s || U&'\\000A' LIKE 'Hello_'": "an underscore matches a line break; it does not in Flink",
    "OVERLAY(s PLACING SUBSTRING(s, 1, 0) FROM 2)": (
        "an empty replacement that is no constant changes nothing; Flink drops the rest"
    ),
    "OVERLAY(s || '😀b' PLACING 'x' FROM 7)": "counts code points; Flink counts UTF-16 units",
    "LPAD('😀', 3, 'x')": "counts code points; Flink counts UTF-16 units",
    "RPAD('😀', 3, 'x')": "counts code points; Flink counts UTF-16 units",
    "FROM_UNIXTIME(bi * 2000)": "the query stops beyond the year 294247; Flink's does not",
    "FROM_UNIXTIME(bi * 100)": "a year after 9999 has a sign, and the text is cut to 19 characters",
    "FROM_UNIXTIME(bi * -12)": "dates before 1582 are Gregorian; in Flink, they are Julian",
    "TIMESTAMPADD(DAY, i * 5000000, ts)": (
        "the query stops beyond the year 294247; Flink's does not"
    ),
    "TIMESTAMPADD(HOUR, bi, ts)": "the query stops beyond the year 294247; Flink's does not",
    "CAST('42' || U&'\\0009' AS INT)": "42; Flink does not trim tabs and line breaks",
    "TRY_CAST('42' || U&'\\000D' AS INT)": "42; Flink does not trim tabs and line breaks",
    "TRY_CAST('0.05' AS DECIMAL(2, 2))": "0.05; Flink counts the zero before the point as a digit",
    "TRY_CAST('5%' AS DECIMAL(10, 2))": (
        "NULL; Flink ignores an invalid last character, up to precision 18"
    ),
    "TRY_CAST(zd/zd AS DECIMAL(5, 2))": "NULL; Flink fails",
    "CAST(TIMESTAMPADD(YEAR, -100, ts) AS DATE)": (
        "the day of the moment; before 1970, Flink gives the next day unless the time is midnight"
    ),
    "YEAR(TIMESTAMP '1969-12-31 12:34:56')": "1969; before 1970, Flink takes the next day's year",
    "HOUR(TIMESTAMPADD(YEAR, -100, ts))": "12; before 1970, Flink gives negative parts of the day",
    "CAST('24-1-2' AS DATE)": "years have four digits; Flink takes 24 for the year 24",
    "TRY_CAST('24-1-2' AS DATE)": "years have four digits; Flink takes 24 for the year 24",
}
#: Expressions that Flink refuses and streamtable accepts.
LENIENT: frozenset[str] = frozenset(
    {
        "NULL",
        "JSON_OBJECT(CONCAT('a', 'b') VALUE 1)",
        "IF(b, a, a)",
        "IF(b, r, r)",
        "IF(b, INTERVAL '1' DAY, INTERVAL '1' DAY)",
    }
)
#: Expressions that Flink accepts and streamtable refuses as not supported yet.
NOT_YET: frozenset[str] = frozenset(
    {
        "ROUND(dc, i)",
        "ROUND(dc, z)",
        "ROUND(dc, nul)",
        "ROUND(2.345, z)",
        "TRUNCATE(dc, z)",
        "FLOOR(tm TO DAY)",
        "FLOOR(tm TO YEAR)",
        "CEIL(tm TO DAY)",
        "RAND(1)",
        "RAND(i)",
        "RAND_INTEGER(1, 10)",
        "RAND_INTEGER(i, 10)",
        "PARSE_JSON('{\"a\": 1}')",
        "TRY_PARSE_JSON('{\"a\": 1}')",
        "OBJECT_OF('x', 'a', 1)",
    }
)
#: Expressions that Flink accepts and streamtable refuses for their types. Some results of Flink are
#: texts of Java objects in memory.
REFUSED: frozenset[str] = frozenset(
    {
        "MAP['a', NULL]",
        "HASH_CODE(i)",
        "PRINTF('%s', a)",
        "PRINTF('%s', bt)",
        "PRINTF('%s', tm)",
        "PRINTF('%s', INTERVAL '1' DAY)",
        "COALESCE(dt, ts)",
        "COALESCE(tm, ts)",
        "IFNULL(dt, ts)",
        # Flink accepts them, but its BOOLEAN never equals a text, even if b is TRUE.
        "b = 'true'",
        "b = 'TRUE'",
        "b <> 'true'",
    }
)
#: Arrays made from a map; Flink orders them by Java's hash order.
ORDERLESS: frozenset[str] = frozenset({"MAP_KEYS(m)", "MAP_VALUES(m)", "MAP_ENTRIES(m)"})
