"""The end of a job stops every query and keeps its cause."""

from __future__ import annotations

from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.run_queries import stop_all


class _Query:
    """Stands for a query of Spark's that ends, or does not."""

    def __init__(self, *, ends: bool) -> None:
        self.ends = ends
        self.asked = 0

    def stop(self) -> None:
        self.asked += 1
        if not self.ends:
            raise StreamtableError(Condition.QUERY_NOT_STOPPED, query="a", reason="30 s are over")


def test_a_query_that_does_not_stop_hides_nothing() -> None:
    queries: list[Any] = [_Query(ends=True), _Query(ends=False), _Query(ends=True)]
    notices: list[str] = []
    stop_all(queries, notices.append)
    assert [query.asked for query in queries] == [1, 1, 1]
    assert notices == ["QUERY_NOT_STOPPED: query a did not stop: 30 s are over"]
