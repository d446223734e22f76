"""Lists and parentheses in GROUP BY have the same meaning as in Flink."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.session import Session

TABLES = (Path(__file__).parents[2] / "golden" / "tables.sql").read_text()
#: GROUP BY -> the same grouping in its plain form.
SAME = {
    "GROUP BY (region, id)": "GROUP BY region, id",
    "GROUP BY (region), id": "GROUP BY region, id",
    "GROUP BY (region, id), score": "GROUP BY region, id, score",
    "GROUP BY ((region)), (id)": "GROUP BY region, id",
    "GROUP BY (region, id), ROLLUP (score)": "GROUP BY region, id, ROLLUP (score)",
}


def _plan(query: str) -> str:
    session = Session()
    session.load(f"{TABLES} EXPLAIN {query}", "job.sql")
    return session.printed[-1]


@pytest.mark.parametrize(("listed", "plain"), SAME.items(), ids=list(SAME))
def test_lists(listed: str, plain: str) -> None:
    query = "SELECT region, COUNT(*) FROM users"
    assert _plan(f"{query} {listed}") == _plan(f"{query} {plain}")


def test_the_empty_list_is_one_group() -> None:
    query = "SELECT COUNT(*) FROM users"
    assert _plan(f"{query} GROUP BY () HAVING COUNT(*) > 1") == _plan(
        f"{query} HAVING COUNT(*) > 1"
    )
