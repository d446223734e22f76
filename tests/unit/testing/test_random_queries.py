"""Random queries are reproducible, can be planned, and can be shrunk."""

from __future__ import annotations

from streamtable.testing.differential import universe
from streamtable.testing.relations import Dialect, Group, Join, Semi, Top, parts, simpler, size
from streamtable.testing.replayed import PARTITION
from streamtable.testing.timed_queries import Timed


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
        *("ROW_NUMBER()", "LIMIT", "OFFSET", "UNION ALL", "INTERSECT", "EXCEPT", "FOR SYSTEM_TIME"),
    ):
        assert part in text, part


def test_shrinking_gives_smaller_queries() -> None:
    queries = universe(5, queries=30).queries
    assert {Group, Join, Semi, Top} <= {type(query) for query in queries}
    for query in queries:
        for less in simpler(query):
            assert (size(less), len(less.sql(Dialect.FLINK))) < (
                size(query),
                len(query.sql(Dialect.FLINK)),
            )


def test_queries_of_event_time_can_be_planned() -> None:
    """All shapes of event-time queries occur, also below other queries, and none is refused."""
    given = universe(6, queries=120, batches=5, timed=True)
    timed = [part for query in given.queries for part in parts(query) if isinstance(part, Timed)]
    texts = "\n".join(query.sql(Dialect.FLINK) for query in timed)
    for call in (
        "TUMBLE(",
        "HOP(",
        "CUMULATE(",
        "SESSION(",
        "ROW_NUMBER()",
        " OVER (",
        "BETWEEN r.",
    ):
        assert call in texts, call
    assert any(query not in given.queries for query in timed)
    assert not given.refused


def test_rows_of_event_time_are_not_late() -> None:
    """No row is behind the watermark of its partition, and no two rows have the same time."""
    for table in (universe(7, queries=1, timed=True).tables[name] for name in "wx"):
        latest: dict[int, int] = {}
        rows = [row for batch in table.records() for row in batch]
        for row in rows:
            seen = latest.get(row[PARTITION], 0)
            assert row["t"] > seen - 2_000
            latest[row[PARTITION]] = max(seen, row["t"])
        assert len({row["t"] for row in rows}) == len(rows)
