"""Syntax errors of queries and statements in one line: place, expected text and found text."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.sql.parse import parse_query, parse_script

SYNTAX = {
    "SELET 1": (
        "1:1: expected a statement such as CREATE TABLE, INSERT INTO or SELECT, found 'SELET'."
        " Hint: did you mean 'SELECT'?"
    ),
    "'x'": "1:1: expected a statement such as CREATE TABLE, INSERT INTO or SELECT, found a string",
    "SELECT": "1:7: expected an expression, found the end of the statement",
    "SELECT a,": "1:10: expected an expression, found the end of the statement",
    "SELECT a FROM": "1:14: expected a table, found the end of the statement",
    "SELECT a FROM t WHERE": "1:22: expected an expression, found the end of the statement",
    "SELECT a b c": "1:12: expected the end of the statement, found 'c'",
    "SELECT a FROM t u v": "1:19: expected the end of the statement, found 'v'",
    "SELECT a AS FROM t": (
        "1:13: expected an alias, found 'FROM'. Hint: a keyword needs backticks to be a name"
    ),
    "SELECT count(* FROM t": (
        "1:16: expected ',' or ')', found 'FROM'. Hint: the '(' at 1:13 has no ')'"
    ),
    "SELECT (1": (
        "1:10: expected ',' or ')', found the end of the statement. Hint: the '(' at 1:8 has no ')'"
    ),
    "CREATE TABLE t (a INT WITH ('connector' = 'print')": (
        "1:23: expected ',' or ')', found 'WITH'. Hint: the '(' at 1:16 has no ')'"
    ),
    "SELECT ARRAY[1": "1:15: expected ',' or ']', found the end of the statement",
    "SELECT a[1": "1:11: expected ']', found the end of the statement",
    "SELECT a.": "1:10: expected the name of a field, found the end of the statement",
    "SELECT t.* + 1": "1:12: expected the end of the statement, found '+'",
    "SELECT f(t.*)": (
        "1:12: expected the name of a field, found '*'. Hint: * is allowed only in a SELECT list"
    ),
    "SELECT a = ": "1:12: expected an expression, found the end of the statement",
    "SELECT a @ b": "1:10: expected the end of the statement, found '@'",
    "SELECT CASE a END": "1:15: expected WHEN, found 'END'",
    "SELECT CASE WHEN a 1 END": "1:20: expected THEN, found '1'",
    "SELECT CASE WHEN a THEN 1": "1:26: expected END, found the end of the statement",
    "SELECT CAST(a INT)": "1:15: expected AS, found 'INT'",
    "SELECT a IS 1": (
        "1:13: expected NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM, found '1'"
    ),
    "SELECT a BETWEEN 1": "1:19: expected AND, found the end of the statement",
    "SELECT a IN 1": "1:13: expected '(', found '1'",
    "SELECT INTERVAL 5 MINUTE": (
        "1:17: expected the interval in quotes, as INTERVAL '5' MINUTE, found '5'"
    ),
    "SELECT INTERVAL '5' FORTNIGHT": (
        "1:21: expected a unit such as SECOND, MINUTE, HOUR, DAY, MONTH or YEAR, found 'FORTNIGHT'"
    ),
    "SELECT INTERVAL '1' DAY TO MONTH": "1:28: expected a unit that DAY can run to, found 'MONTH'",
    "SELECT INTERVAL '100' SECOND": (
        "1:17: expected at most 2 digits (more with SECOND(3)), found '100'"
    ),
    "SELECT INTERVAL '1:70' MINUTE TO SECOND": "1:17: expected a SECOND below 60, found '1:70'",
    "SELECT INTERVAL '1' MINUTE TO SECOND": (
        "1:17: expected an interval such as MINUTE:SECOND, found '1'"
    ),
    "SELECT DATE '2023-02-29'": "1:13: expected DATE 'yyyy-MM-dd', found '2023-02-29'",
    "SELECT TIMESTAMP '2023-01-01'": (
        "1:18: expected TIMESTAMP 'yyyy-MM-dd HH:mm:ss', found '2023-01-01'"
    ),
    "SELECT EXTRACT(x FROM y)": (
        "1:16: expected a unit such as SECOND, MINUTE, HOUR, DAY, MONTH or YEAR, found 'x'"
    ),
    "SELECT JSON_VALUE(x)": "1:20: expected ',', found ')'",
    "SELECT JSON_VALUE(x, '$' EMPTY ARRAY ON EMPTY)": (
        "1:26: expected ')' or what to give ON EMPTY or ON ERROR, found 'EMPTY'"
    ),
    "SELECT SUM(a) OVER": (
        "1:19: expected '(' or the name of a window, found the end of the statement"
    ),
    "SELECT SUM(a) OVER (ROWS 1)": "1:27: expected PRECEDING or FOLLOWING, found ')'",
    "SELECT 1 FROM t JOIN u": "1:23: expected ON or USING, found the end of the statement",
    "SELECT 1 FROM t JOIN LATERAL TABLE(f(x)) AS l": (
        "1:46: expected ON TRUE, ON or USING, found the end of the statement"
    ),
    "SELECT 1 FROM t LEFT u": "1:22: expected JOIN, found 'u'",
    "SELECT 1 FROM TABLE(t)": (
        "1:21: expected a function such as TUMBLE(TABLE t, DESCRIPTOR(c), INTERVAL '1' MINUTE),"
        " found 't'"
    ),
    "SELECT 1 LIMIT 'x'": "1:16: expected a whole number, found a string",
    "SELECT 1 LIMIT 1 LIMIT 2": "1:18: expected the end of the statement, found 'LIMIT'",
    "SELECT 1 FETCH 1 ROWS ONLY": "1:16: expected FIRST or NEXT, found '1'",
    "SELECT 1 UNION": (
        "1:15: expected SELECT, VALUES or a query in parentheses, found the end of the statement"
    ),
    "SELECT * FROM t /*+ OPTIONS(1) */": "1:29: expected 'key' = 'value' or a name, found '1'",
    "WITH a AS SELECT 1 SELECT 2": "1:11: expected '(', found 'SELECT'",
    "CREATE INDEX i": "1:8: expected TABLE, VIEW, FUNCTION, DATABASE or CATALOG, found 'INDEX'",
    "CREATE VIEW v SELECT 1": "1:15: expected AS, found 'SELECT'",
    "DROP t": "1:6: expected TABLE, VIEW, FUNCTION, DATABASE or CATALOG, found 't'",
    "ALTER t SET ('a'='b')": "1:7: expected TABLE or VIEW, found 't'",
    "ALTER TABLE t CHANGE a b INT": "1:15: expected SET, RESET, RENAME, ADD, MODIFY or DROP,"
    " found 'CHANGE'",
    "ALTER TABLE t ADD": "1:18: expected a column, WATERMARK or PRIMARY KEY,"
    " found the end of the statement",
    "ALTER TABLE t RESET (a)": "1:22: expected a key in quotes, found 'a'",
    "ALTER TABLE t RENAME a b": "1:24: expected TO, found 'b'",
    "ALTER VIEW v SET ('a'='b')": "1:14: expected RENAME TO or AS, found 'SET'",
    "SHOW TABELS": "1:6: expected one of CATALOGS, DATABASES, TABLES, VIEWS, FUNCTIONS,"
    " USER FUNCTIONS, CURRENT CATALOG, CURRENT DATABASE, MODULES, MODELS, MATERIALIZED TABLES,"
    " JARS, COLUMNS, CREATE, found 'TABELS'."
    " Hint: did you mean 'TABLES'?",
    "SHOW COLUMNS t": "1:14: expected FROM or IN, found 't'",
    "SHOW CREATE t": "1:13: expected TABLE, VIEW or CATALOG, found 't'",
    "SHOW TABLES LIKE x": "1:18: expected a pattern in quotes, found 'x'",
    "SHOW TABLES ILIKE 'x'": "1:13: expected the end of the statement, found 'ILIKE'",
    "USE a.b.c": "1:5: expected the name of a database, found one of three parts",
    "CREATE FUNCTION f AS 'm:f' LANGUAGE C": "1:37: expected PYTHON, JAVA or SCALA, found 'C'",
    "CREATE TEMPORARY SYSTEM FUNCTION d.f AS 'm:f' LANGUAGE PYTHON": (
        "1:38: expected a name without database, as a system function has none, found 'AS'"
    ),
    "INSERT t SELECT 1": "1:8: expected INTO, found 't'",
    "INSERT INTO t": "1:14: expected SELECT, VALUES or WITH, found the end of the statement",
    "INSERT INTO t (a.b) SELECT 1": "1:17: expected ',' or ')', found '.'",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1;": (
        "1:52: expected INSERT INTO, found the end of the statement"
    ),
    "EXECUTE STATEMENT SET BEGIN SELECT 1; END": "1:29: expected INSERT INTO, found 'SELECT'",
    "SET 'a'": "1:8: expected '=', found the end of the statement",
    "SET 'a' =": "1:10: expected the value of the setting, found the end of the statement",
    "SET a = ;": "1:9: expected the value of the setting, found the end of the statement",
    "SET a = s3a://b/x\nINSERT INTO t SELECT 1;": (
        "2:1: expected the end of the statement, found 'INSERT'."
        " Hint: put the value in quotes, or end the SET with ';'"
    ),
    "SET a = 10 s INSERT INTO t SELECT 1;": (
        "1:14: expected the end of the statement, found 'INSERT'."
        " Hint: put the value in quotes, or end the SET with ';'"
    ),
    "SET a =\nINSERT INTO t SELECT 1;": (
        "2:8: expected the end of the statement, found 'INTO'."
        " Hint: put the value in quotes, or end the SET with ';'"
    ),
    "SET a b = 1": "1:7: expected '=', found 'b'",
    "RESET a\nINSERT INTO t SELECT 1;": (
        "2:1: expected the end of the statement, found 'INSERT'."
        " Hint: add ';' before it if it starts the next statement"
    ),
    "SET = 1": "1:5: expected the key of a setting, found '='",
    "EXPLAIN DROP TABLE t": "1:9: expected INSERT INTO, a query or STATEMENT SET, found 'DROP'",
}


@pytest.mark.parametrize(("text", "expected"), SYNTAX.items(), ids=list(SYNTAX))
def test_syntax(text: str, expected: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        parse_script(text, "job.sql")
    place, wanted = expected.split(" ", 1)
    assert str(caught.value) == f"job.sql:{place} SYNTAX: {wanted}"


NOT_YET = {
    "SELECT * FROM t AS a TABLESAMPLE BERNOULLI (1)": "1:22: TABLESAMPLE",
    "SELECT * FROM t PIVOT (x)": "1:17: PIVOT",
    "WITH RECURSIVE a AS (SELECT 1) SELECT 2": "1:6: WITH RECURSIVE",
    "SELECT 1 FROM t GROUP BY DISTINCT a": "1:26: GROUP BY DISTINCT",
    "SELECT c.d.f(1)": "1:8: a function with the name of its database",
    "SELECT * FROM f(x) OVER (ORDER BY y)": "1:15: OVER after a table function",
    "INSERT INTO t /*+ OTHER('a'='b') */ SELECT 1": "1:19: hint OTHER on the target of an INSERT",
    "EXECUTE STATEMENT SET BEGIN INSERT OVERWRITE t SELECT 1; END": "1:29: INSERT OVERWRITE",
}


@pytest.mark.parametrize(("text", "expected"), NOT_YET.items(), ids=list(NOT_YET))
def test_not_yet(text: str, expected: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        parse_script(text, "job.sql")
    place, what = expected.split(" ", 1)
    assert str(caught.value) == f"job.sql:{place} NOT_YET: {what} is not supported yet"


@pytest.mark.parametrize("opening", ["(", "f(", "(SELECT ", "CASE WHEN ", "NOT ", "- ", "ARRAY["])
def test_nesting_above_60_levels_is_refused(opening: str) -> None:
    with pytest.raises(StreamtableError, match="expected nesting of at most 60 levels"):
        parse_query("SELECT " + opening * 5000)


def test_long_chains_of_operators_are_parsed() -> None:
    sums, choices = " + ".join(["a"] * 140), " OR ".join(["b"] * 2000)

    assert parse_query(f"SELECT {sums} FROM t WHERE {choices}").args["where"]


def test_too_long_chains_of_operators_are_refused() -> None:
    sums = " + ".join(["a"] * 2000)
    with pytest.raises(StreamtableError, match="TOO_DEEP"):
        parse_query(f"SELECT {sums} FROM t")


def test_parse_query_refuses_two_statements() -> None:
    with pytest.raises(StreamtableError, match="expected one statement, found 2"):
        parse_query("SELECT 1; SELECT 2")
