"""Every construct of Flink's expressions, and its tree."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlglot import exp

from streamtable.sql.parse import parse_expression

CASES = {
    # names and access
    "a": "a",
    "t.a": "t.a",
    "a.b.c.d": "a.b.c.d",
    "a.b.c.d.e": "(Dot a.b.c.d e)",
    "`a b`.`c``d`": "`a b`.`c`d`",
    "arr[1]": "(Bracket arr [1])",
    "m['k'].f": "(Dot (Bracket m ['k']) f)",
    "f(x).y": "(Dot F[x] y)",
    "Größe": "Größe",
    # literals
    "1": "1",
    "1.50": "1.50",
    ".5e-3": ".5e-3",
    "'it''s; -- no comment'": '"it\'s; -- no comment"',
    "'a' -- more\n 'b'\n'c'": "'abc'",
    "'a' /* x\n*/ 'b'": "'ab'",
    "U&'#00e9##' UESCAPE '#'": "'é#'",
    "U&'!00e9'\n'!00e8' /* x */ uescape\n'!'": "'éè'",
    r"U&'\00e9\\'": r"'é\\'",
    r"E'a\nb\t\\c''\'\"\q'": repr("a\nb\t\\c''\\\"\\q"),
    r"e'\0\12\0013\377\400\x4g\xfff\x'": repr("\0\n\x013\xff\\400\x04g\xfff" + "x"),
    r"E'\u00e9\uD83D\uDE00\U0001F600'": repr("é😀😀"),
    "E'a\\\nb'": repr("a\\\nb"),
    "x'1f'": "1F",
    "TRUE": "TRUE",
    "null": "NULL",
    "DATE '2020-02-29'": "DATE(None) 2020-02-29",
    "TIME '10:20:30.5'": "TIME(1) 10:20:30.5",
    "TIMESTAMP '2020-01-01 00:00:00.123'": "TIMESTAMP(3) 2020-01-01 00:00:00.123",
    "INTERVAL '2' SECOND": "2000000 DAY",
    "INTERVAL '10' MINUTES": "600000000 DAY",
    "INTERVAL -'1:30' MINUTE TO SECOND": "-90000000 DAY",
    "INTERVAL '3 04:05:06.7' DAY TO SECOND": "273906700000 DAY",
    "INTERVAL '100' DAY(3)": "8640000000000 DAY",
    "INTERVAL '1-2' YEAR TO MONTH": "14 YEAR",
    "INTERVAL '-2' QUARTER": "-6 YEAR",
    # operators and their precedence
    "a + b * 2": "(Add a (Mul b 2))",
    "a - b - c": "(Sub (Sub a b) c)",
    "a || b + c": "(Add (DPipe a b) c)",
    "(a + b) % c / d": "(Div (Mod (Paren (Add a b)) c) d)",
    "-a.b + +c": "(Add (Neg a.b) c)",
    "a OR b AND NOT c = d": "(Or a (And b (Not (EQ c d))))",
    "NOT a IS NULL": "(Not (Is a NULL))",
    "a = b IS TRUE": "(Is (EQ a b) TRUE)",
    "a <> b": "(NEQ a b)",
    "a != b": "(NEQ a b)",
    "a <= b + 1": "(LTE a (Add b 1))",
    "(a, b)": "(Tuple [a, b])",
    # predicates
    "a IS NOT NULL": "(Not (Is a NULL))",
    "a IS UNKNOWN": "(Is a UNKNOWN)",
    "a IS JSON": "IS_JSON[a, VALUE]",
    "a IS NOT JSON OBJECT": "(Not IS_JSON[a, OBJECT])",
    "a IS DISTINCT FROM b": "(NullSafeNEQ a b)",
    "a IS NOT DISTINCT FROM b": "(NullSafeEQ a b)",
    "a BETWEEN 1 AND 2 AND b": "(And (Between a 1 2) b)",
    "a BETWEEN ASYMMETRIC 1 AND 2": "(Between a 1 2)",
    "a NOT BETWEEN SYMMETRIC 1 AND 2": "(Not (Between a 1 2 True))",
    "a LIKE 'x%'": "(Like a 'x%')",
    "a NOT LIKE 'x!_' ESCAPE '!'": "(Not (Escape (Like a 'x!_') '!'))",
    "a SIMILAR TO 'x|y'": "(SimilarTo a 'x|y')",
    "a IN (1, 2)": "(In a [1, 2])",
    "a NOT IN (1)": "(Not (In a [1]))",
    "a IN (SELECT 1)": "(In a (Subquery (Select [1])))",
    "EXISTS (SELECT 1)": "(Exists (Select [1]))",
    "a > ALL (SELECT 1)": "(GT a (All (Subquery (Select [1]))))",
    "a = SOME (SELECT 1)": "(EQ a (Any (Subquery (Select [1]))))",
    "a = SOME (1, 2)": "(In a [1, 2])",
    "a <> ALL (1, 2)": "(Not (In a [1, 2]))",
    "a < ANY ((1), 2) AND b": "(And (Paren (Or (LT a (Paren 1)) (LT a 2))) b)",
    "NOT a >= ALL (1, 2)": "(Not (Paren (And (GTE a 1) (GTE a 2))))",
    "(SELECT 1) + 1": "(Add (Subquery (Select [1])) 1)",
    "CASE WHEN a THEN 1 ELSE 2 END": "(Case [(If a 1)] 2)",
    "CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' END": "(Case [(If 1 'x'), (If 2 'y')] a)",
    "CASE a WHEN 1, 2 THEN 'x' END": "(Case [(If 1 'x'), (If 2 'x')] a)",
    "CAST(a AS DECIMAL(10, 2))": "(Cast a DECIMAL(10, 2))",
    "TRY_CAST(a AS ROW<x INT NOT NULL>)": "(TryCast a ROW<`x` INT NOT NULL>)",
    # calls, by their Flink name with their arguments as written
    "PROCTIME()": "PROCTIME[]",
    "CURRENT_TIMESTAMP": "CURRENT_TIMESTAMP[]",
    "localtimestamp": "LOCALTIMESTAMP[]",
    "date_format(ts, 'yyyy')": "DATE_FORMAT[ts, 'yyyy']",
    "IF(a, b, c)": "IF[a, b, c]",
    "CONCAT(a, b)": "CONCAT[a, b]",
    "COALESCE(a, 0)": "COALESCE[a, 0]",
    "SUBSTRING(a, 2)": "SUBSTRING[a, 2]",
    "SUBSTRING(a FROM 2 FOR 3)": "SUBSTRING[a, 2, 3]",
    "LEFT(a, 1)": "LEFT[a, 1]",
    "YEAR(d)": "YEAR[d]",
    "COUNT(*)": "COUNT[*]",
    "COUNT(DISTINCT a, b)": "COUNT[a, b, distinct=True]",
    "SUM(ALL a)": "SUM[a]",
    "SUM(a) FILTER (WHERE b > 1)": "SUM[a, filter=(GT b 1)]",
    "LISTAGG(a, ',') WITHIN GROUP (ORDER BY b)": "LISTAGG[a, ',', order=(Order [(Ordered b)])]",
    "EXTRACT(YEAR FROM x)": "EXTRACT[YEAR, x]",
    "TIMESTAMPADD(SQL_TSI_DAY, 1, x)": "TIMESTAMPADD[DAY, 1, x]",
    "TIMESTAMPDIFF(HOUR, a, b)": "TIMESTAMPDIFF[HOUR, a, b]",
    "FLOOR(x TO DAY)": "FLOOR[x, DAY]",
    "CEIL(x)": "CEIL[x]",
    "POSITION('a' IN b)": "POSITION['a', b]",
    "TRIM(x)": "TRIM[x]",
    "TRIM(LEADING FROM x)": "TRIM[LEADING, ' ', x]",
    "TRIM('a' FROM x)": "TRIM[BOTH, 'a', x]",
    "OVERLAY(a PLACING b FROM 1 FOR 2)": "OVERLAY[a, b, 1, 2]",
    "ROW(1, 'a')": "ROW[1, 'a']",
    "ARRAY[1, 2]": "ARRAY[1, 2]",
    "MAP['a', 1]": "MAP['a', 1]",
    "f(b => 2)": "F[(Kwarg b 2)]",
    "DESCRIPTOR(ts)": "DESCRIPTOR[ts]",
    # calls with clauses of their own
    "JSON_VALUE(x, '$.a' RETURNING INT NULL ON EMPTY ERROR ON ERROR)": (
        "JSON_VALUE[x, '$.a', clauses=[RETURNING:INT, ON EMPTY:NULL, ON ERROR:ERROR]]"
    ),
    "JSON_VALUE(x, '$.a' DEFAULT 1 ON EMPTY)": "JSON_VALUE[x, '$.a', clauses=[ON EMPTY:1]]",
    "JSON_QUERY(x, '$' WITH ARRAY WRAPPER EMPTY ARRAY ON ERROR)": (
        "JSON_QUERY[x, '$', clauses=[WRAPPER:UNCONDITIONAL, ON ERROR:EMPTY ARRAY]]"
    ),
    "JSON_EXISTS(x, '$' UNKNOWN ON ERROR)": "JSON_EXISTS[x, '$', clauses=[ON ERROR:UNKNOWN]]",
    "JSON_OBJECT(KEY 'a' VALUE 1, 'b' VALUE 2 ABSENT ON NULL)": (
        "JSON_OBJECT['a', 1, 'b', 2, clauses=[ON NULL:ABSENT]]"
    ),
    "JSON_OBJECT('a' : 1, KEY b : c)": "JSON_OBJECT['a', 1, b, c]",
    "JSON_ARRAY(NULL ON NULL)": "JSON_ARRAY[clauses=[ON NULL:NULL]]",
    # windows
    "RANK() OVER (PARTITION BY a ORDER BY b DESC NULLS LAST)": (
        "(Window RANK[] [a] (Order [(Ordered b True)]))"
    ),
    "LAG(a) IGNORE NULLS OVER w": "(Window LAG[a, nulls=IGNORE] w)",
    "SUM(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)": (
        "(Window SUM[a] (Order [(Ordered b)]) (WindowSpec ROWS 2 PRECEDING CURRENT ROW))"
    ),
    "SUM(a) OVER (ORDER BY b RANGE UNBOUNDED PRECEDING)": (
        "(Window SUM[a] (Order [(Ordered b)]) (WindowSpec RANGE UNBOUNDED PRECEDING CURRENT ROW))"
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=list(CASES))
def test_tree(text: str, expected: str, shape: Callable[[exp.Expr], str]) -> None:
    assert shape(parse_expression(text)) == expected
