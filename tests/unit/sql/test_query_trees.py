"""Clauses and relations of queries, and their trees."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlglot import exp

from streamtable.core.options import Given
from streamtable.sql.nodes import HintNode
from streamtable.sql.parse import parse_query

T = "(From (Table t))"
CASES = {
    "SELECT a x, b AS `y` FROM t": f"(Select [(Alias a x), (Alias b `y`)] {T})",
    "SELECT DISTINCT t.*, * FROM t": f"(Select (Distinct) [t.*, *] {T})",
    "SELECT ALL 1": "(Select [1])",
    "SELECT 1 FROM c.d.t q (x, y)": "(Select [1] (From (Table t d c (TableAlias q [x, y]))))",
    "SELECT 1 FROM t WHERE a HAVING b": f"(Select [1] {T} (Where a) (Having b))",
    "SELECT 1 FROM t GROUP BY a, b + 1": f"(Select [1] {T} (Group [a, (Add b 1)]))",
    "SELECT 1 FROM t GROUP BY ()": f"(Select [1] {T} (Group [(Tuple)]))",
    "SELECT 1 FROM t GROUP BY GROUPING SETS ((a, b), (a), b, ()), ROLLUP (a), CUBE (b)": (
        f"(Select [1] {T} (Group [(GroupingSets [(Tuple [a, b]), (Tuple [a]), (Tuple [b]), "
        "(Tuple)]), (Rollup [a]), (Cube [b])]))"
    ),
    "SELECT 1 FROM t WINDOW w AS (ORDER BY a)": (
        f"(Select [1] {T} [(Window w (Order [(Ordered a)]))])"
    ),
    "SELECT 1 ORDER BY a, b DESC NULLS FIRST LIMIT 3 OFFSET 2 ROWS": (
        "(Select [1] (Order [(Ordered a), (Ordered b True True)]) (Limit 3) (Offset 2))"
    ),
    "SELECT 1 FETCH FIRST ROW ONLY": "(Select [1] (Limit 1))",
    "SELECT 1 LIMIT ALL": "(Select [1])",
    # set operations
    "SELECT 1 UNION ALL SELECT 2 UNION SELECT 3": (
        "(Union (Union (Select [1]) (Select [2])) (Select [3]) True)"
    ),
    "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3": (
        "(Union (Select [1]) (Intersect (Select [2]) (Select [3]) True) True)"
    ),
    "(SELECT 1) EXCEPT ALL (SELECT 2 LIMIT 1) ORDER BY 1": (
        "(Except (Select [1]) (Subquery (Select [2] (Limit 1))) (Order [(Ordered 1)]))"
    ),
    "WITH a (x) AS (SELECT 1) SELECT 2": (
        "(Select [2] (With [(CTE (Select [1]) (TableAlias a [x]))]))"
    ),
    "((SELECT 1))": "(Select [1])",
    "(SELECT 1 LIMIT 2) LIMIT 3": (
        "(Select [*] (From (Subquery (Select [1] (Limit 2)))) (Limit 3))"
    ),
    "VALUES (1, 'a'), ROW(2, 'b')": (
        "(Select [*] (From (Values [(Tuple [1, 'a']), (Tuple [2, 'b'])])))"
    ),
    "VALUES 1, 2": "(Select [*] (From (Values [(Tuple [1]), (Tuple [2])])))",
    # relations
    "SELECT 1 FROM (VALUES (1)) AS v (x)": (
        "(Select [1] (From (Values [(Tuple [1])] (TableAlias v [x]))))"
    ),
    "SELECT 1 FROM (a JOIN b USING (x)) CROSS JOIN (((c CROSS JOIN d)))": (
        "(Select [1] (From (Table a)) [(Join (Table b) [x]), "
        "(Join (JoinGroup (Table c) [(Join (Table d) CROSS)]) CROSS)])"
    ),
    "SELECT 1 FROM (((SELECT 2) q CROSS JOIN a))": (
        "(Select [1] (From (Subquery (Select [2]) (TableAlias q))) [(Join (Table a) CROSS)])"
    ),
    "SELECT 1 FROM ((SELECT 2) UNION (SELECT 3))": (
        "(Select [1] (From (Subquery (Union (Select [2]) (Select [3]) True))))"
    ),
    "SELECT 1 FROM (SELECT 2) q": "(Select [1] (From (Subquery (Select [2]) (TableAlias q))))",
    "SELECT 1 FROM t, u": f"(Select [1] {T} [(Join (Table u) CROSS)])",
    "SELECT 1 FROM t JOIN u ON a = b": f"(Select [1] {T} [(Join (Table u) (EQ a b))])",
    "SELECT 1 FROM t LEFT OUTER JOIN u USING (a)": f"(Select [1] {T} [(Join (Table u) LEFT [a])])",
    "SELECT 1 FROM t FULL JOIN u ON TRUE": f"(Select [1] {T} [(Join (Table u) FULL TRUE)])",
    "SELECT 1 FROM t NATURAL JOIN u": f"(Select [1] {T} [(Join (Table u) NATURAL)])",
    "SELECT 1 FROM t JOIN r FOR SYSTEM_TIME AS OF t.ts AS x ON TRUE": (
        f"(Select [1] {T} [(Join (Table r (Version TIMESTAMP AS OF t.ts) (TableAlias x)) TRUE)])"
    ),
    "SELECT 1 FROM t CROSS JOIN UNNEST(a) WITH ORDINALITY AS u (x, i)": (
        f"(Select [1] {T} [(Join (Unnest [a] True (TableAlias u [x, i])) CROSS)])"
    ),
    "SELECT 1 FROM t, LATERAL TABLE(f(a)) AS x (y)": (
        f"(Select [1] {T} [(Join (TableFunction F[a] True (TableAlias x [y])) CROSS)])"
    ),
    "SELECT 1 FROM t, LATERAL (SELECT a) AS x": (
        f"(Select [1] {T} [(Join (Lateral (Subquery (Select [a])) (TableAlias x)) CROSS)])"
    ),
    "SELECT 1 FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))": (
        "(Select [1] (From (TableFunction TUMBLE[(TableArgument (Table t)), DESCRIPTOR[ts], "
        "60000000 DAY])))"
    ),
    "SELECT 1 FROM SESSION(TABLE t PARTITION BY a, DESCRIPTOR(ts), INTERVAL '1' DAY)": (
        "(Select [1] (From (TableFunction SESSION[(TableArgument (Table t) [a]), DESCRIPTOR[ts], "
        "86400000000 DAY])))"
    ),
    "SELECT 1 FROM f(a => TABLE t PARTITION BY k ORDER BY x DESC, b => 1)": (
        "(Select [1] (From (TableFunction F[(Kwarg a (TableArgument (Table t) [k] (Order "
        "[(Ordered x True)]))), (Kwarg b 1)])))"
    ),
    "SELECT 1 FROM f(TABLE t PARTITION BY (k) ORDER BY (x, y), 1)": (
        "(Select [1] (From (TableFunction F[(TableArgument (Table t) [k] (Order "
        "[(Ordered x), (Ordered y)])), 1])))"
    ),
    "SELECT 1 FROM TABLE(HOP(DATA => TABLE t, SLIDE => INTERVAL '1' DAY))": (
        "(Select [1] (From (TableFunction HOP[(Kwarg DATA (TableArgument (Table t))), "
        "(Kwarg SLIDE 86400000000 DAY)])))"
    ),
    "SELECT 1 FROM a.b /*+ OPTIONS('k'='v') */ x": (
        "(Select [1] (From (Table b a [(HintNode OPTIONS [(HintOption k 'v')])] (TableAlias x))))"
    ),
    "SELECT /*+ STATE_TTL('a'='1d'), BROADCAST(b) */ 1": (
        "(Select (Hint [(HintNode STATE_TTL [(HintOption a '1d')]), (HintNode BROADCAST [b])]) [1])"
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=list(CASES))
def test_tree(text: str, expected: str, shape: Callable[[exp.Expr], str]) -> None:
    assert shape(parse_query(text)) == expected


def test_hint_options_have_the_place_of_their_key() -> None:
    hint = parse_query("SELECT * FROM t /*+ OPTIONS('k'='v') */", "job.sql").find(HintNode)

    assert hint is not None
    (key, given) = next(iter(hint.options.items()))
    assert (key, given.text, str(given.at)) == ("k", "v", "job.sql:1:29")
    assert isinstance(given, Given)
