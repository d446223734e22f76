"""The grammar of random queries: reproducible, plannable, and able to shrink."""

from __future__ import annotations

from streamtable.testing.differential import universe
from streamtable.testing.relations import Dialect, Group, Join, Semi, Top, simpler, size


def test_same_seed_same_queries() -> None:
    one, other = universe(3, queries=10), universe(3, queries=10)
    assert one == other
    assert universe(4, queries=10).queries != one.queries


def test_every_operator_occurs() -> None:
    queries = [query for seed in range(4) for query in universe(seed, queries=40).queries]
    text = "\n".join(query.sql(Dialect.FLINK) for query in queries)
    for part in (
        *("GROUP BY", "HAVING", "FILTER", "COUNT(DISTINCT", "AVG(", "MIN(", "SELECT DISTINCT"),
        *("INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", " IN (SELECT", "NOT EXISTS"),
        *("ROW_NUMBER()", "LIMIT", "OFFSET", "UNION ALL", "INTERSECT", "EXCEPT"),
    ):
        assert part in text, part


def test_shrinking_gives_smaller_queries() -> None:
    queries = universe(5, queries=30).queries
    assert {Group, Join, Semi, Top} <= {type(query) for query in queries}
    for query in queries:
        for less in simpler(query):
            assert (size(less), len(less.sql(Dialect.FLINK))) < (
                size(query) + 1,
                len(query.sql(Dialect.FLINK)),
            )
