"""EXPLAIN PLAN_ADVICE: what is said of a plan, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.session import Session

GOLDEN = Path(__file__).parents[2] / "golden"
TABLES = (GOLDEN / "tables.sql").read_text()
PLANS = GOLDEN / "plans"


def _advice(insert: str) -> list[str]:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(f"EXPLAIN PLAN_ADVICE {insert}", "job.sql")
    _, _, told = session.printed[-1].partition("\n\n")
    assert not session.plans
    return told.splitlines()


CASES = {
    "INSERT INTO users_copy SELECT id, score FROM users": ["No available advice..."],
    "INSERT INTO users_copy SELECT user_id, 1 FROM pageviews": [
        (
            "advice[1]: [ADVICE] users_copy: the query only inserts, so each row replaces the"
            " earlier one of its key; use connector 'kafka' to keep them all."
        )
    ],
    "INSERT INTO per_region SELECT region, COUNT(*), SUM(score) FROM users GROUP BY region": [
        (
            "advice[1]: [ADVICE] an operator needs the rows of users as they were before an"
            " update, so a ChangelogNormalize keeps one row per (id)."
        )
    ],
    "INSERT INTO per_region SELECT user_region, COUNT(*), 1 FROM pageviews GROUP BY user_region": [
        (
            "advice[1]: [ADVICE] the state of the groups by (user_region) only grows, and"
            " 'table.exec.state.ttl' is 0, so that it never expires."
        )
    ],
    "INSERT INTO events SELECT user_id, user_region FROM (SELECT *, ROW_NUMBER() OVER"
    " (PARTITION BY page_id ORDER BY PROCTIME()) AS n FROM pageviews) WHERE n = 1": [
        (
            "advice[1]: [ADVICE] a Deduplicate remembers every (page_id) that has come, and"
            " 'table.exec.state.ttl' is 0, so that it never expires."
        )
    ],
    "INSERT INTO events SELECT a.user_id, b.user_region FROM pageviews a JOIN pageviews b"
    " ON a.user_id = b.page_id": [
        (
            "advice[1]: [ADVICE] a join keeps every row of pageviews, which only grow, and"
            " 'table.exec.state.ttl' is 0, so that it never expires."
        )
    ],
}


@pytest.mark.parametrize(("insert", "expected"), CASES.items())
def test_advice(insert: str, expected: list[str]) -> None:
    assert _advice(insert) == expected


def test_rows_that_move_between_tasks() -> None:
    insert = (PLANS / "join_moving_between_keys.sql").read_text()
    told = _advice(insert[insert.index("INSERT") :])
    assert any("(id) may move from one task of a join to another" in line for line in told)


def test_state_that_expires_does_not_grow() -> None:
    insert = (
        "INSERT INTO per_region SELECT /*+ STATE_TTL('p' = '1 d') */ user_region, COUNT(*), 1"
        " FROM pageviews AS p GROUP BY user_region"
    )
    assert _advice(insert) == ["No available advice..."]


def test_each_plan_of_a_set_has_its_own() -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    inserts = "; ".join(list(CASES)[:2])
    session.load(f"EXPLAIN PLAN_ADVICE STATEMENT SET BEGIN {inserts}; END", "job.sql")
    assert [text.count("advice") for text in session.printed] == [1, 1]


@pytest.mark.parametrize("detail", ["ESTIMATED_COST", "JSON_EXECUTION_PLAN"])
def test_what_is_not_there(detail: str) -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    with pytest.raises(StreamtableError, match=f"EXPLAIN {detail} is not there yet. Hint: "):
        session.load(f"EXPLAIN CHANGELOG_MODE, {detail} INSERT INTO events SELECT 1, 'x'", "j.sql")
