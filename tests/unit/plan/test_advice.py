"""EXPLAIN PLAN_ADVICE: the advice about a plan, and plans without advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.session import Session

GOLDEN = Path(__file__).parents[2] / "golden"
TABLES = (GOLDEN / "tables.sql").read_text()
PLANS = GOLDEN / "plans"


def _advice(insert: str) -> list[str]:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(f"EXPLAIN PLAN_ADVICE {insert}", "job.sql")
    _, _, told = session.printed[-1].rpartition("\n\n")
    assert not session.plans
    return told.splitlines()


CASES = {
    "INSERT INTO users_copy SELECT id, score FROM users": ["No available advice..."],
    "INSERT INTO users_copy SELECT user_id, 1 FROM pageviews": [
        (
            "advice[1]: [ADVICE] users_copy: the query is append-only, so each row replaces the"
            " previous row of its key; use connector 'kafka' to keep all rows."
        )
    ],
    "INSERT INTO per_region SELECT region, COUNT(*), SUM(score) FROM users GROUP BY region": [
        (
            "advice[1]: [ADVICE] an operator needs update-before rows of users, so a"
            " ChangelogNormalize keeps one row per (id)."
        )
    ],
    "INSERT INTO per_region SELECT user_region, COUNT(*), 1 FROM pageviews GROUP BY user_region": [
        (
            "advice[1]: [ADVICE] the state of the groups by (user_region) only grows, because"
            " 'table.exec.state.ttl' is 0 and it never expires."
        )
    ],
    "INSERT INTO events SELECT user_id, user_region FROM (SELECT *, ROW_NUMBER() OVER"
    " (PARTITION BY page_id ORDER BY PROCTIME()) AS n FROM pageviews) WHERE n = 1": [
        (
            "advice[1]: [ADVICE] a Deduplicate keeps an entry for every (page_id)."
            " 'table.exec.state.ttl' is 0, so the state never expires."
        )
    ],
    "INSERT INTO events SELECT a.user_id, b.user_region FROM pageviews a JOIN pageviews b"
    " ON a.user_id = b.page_id": [
        (
            "advice[1]: [ADVICE] a join keeps every row of pageviews. The input is"
            " append-only and 'table.exec.state.ttl' is 0, so the state never expires."
        )
    ],
}


#: Append-only query with one row per window and `user_region`, for an upsert sink.
WINDOWED = (
    "SELECT user_region, {bound}, COUNT(*) FROM TABLE({function}) GROUP BY user_region,"
    " window_start, window_end"
)
_OF = "TABLE pageviews, DESCRIPTOR(viewtime)"
TUMBLE = f"TUMBLE({_OF}, INTERVAL '1' HOUR)"
CUMULATE = f"CUMULATE({_OF}, INTERVAL '1' HOUR, INTERVAL '1' DAY)"
FIRST = "SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS n FROM {table}"
HOURS = (
    f"(SELECT user_region, window_start, window_end, COUNT(*) AS c FROM TABLE({TUMBLE})"
    " GROUP BY user_region, window_start, window_end)"
)
UNIQUE = {
    "window lost": WINDOWED.format(bound="TIMESTAMP '2024-01-01 00:00:00'", function=TUMBLE),
    "its start": WINDOWED.format(bound="window_start", function=TUMBLE),
    "its end": WINDOWED.format(bound="window_end", function=TUMBLE),
    "start of several": WINDOWED.format(bound="window_start", function=CUMULATE),
    "end of several": WINDOWED.format(bound="window_end", function=CUMULATE),
    "session": WINDOWED.format(
        bound="window_start",
        function="SESSION(TABLE pageviews PARTITION BY user_region, DESCRIPTOR(viewtime),"
        " INTERVAL '1' HOUR)",
    ),
    "session of another": WINDOWED.format(
        bound="window_start",
        function="SESSION(TABLE pageviews PARTITION BY user_id, DESCRIPTOR(viewtime),"
        " INTERVAL '1' HOUR)",
    ),
    "best of a window": "SELECT user_region, window_start, c FROM ("
    + FIRST.format(by="window_start, window_end, user_region", order="c DESC", table=HOURS)
    + ") WHERE n = 1",
    "first row": "SELECT page_id, 1 FROM ("
    + FIRST.format(by="page_id", order="PROCTIME()", table="pageviews")
    + ") WHERE n = 1",
    "literals": "VALUES (1, 1), (2, 2)",
}
PER_WINDOW = """
CREATE TABLE per_window (region STRING, since TIMESTAMP(3), n BIGINT,
  PRIMARY KEY (region, since) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'w', 'properties.bootstrap.servers' = 'b:1',
  'key.format' = 'json', 'value.format' = 'json');
"""


@pytest.mark.parametrize(
    ("query", "sink", "replaced"),
    [
        ("window lost", "per_window", True),
        ("its start", "per_window", False),
        ("its end", "per_window", False),
        ("start of several", "per_window", True),
        ("end of several", "per_window", False),
        ("session", "per_window", False),
        ("session of another", "per_window", True),
        ("best of a window", "per_window", False),
        ("first row", "users_copy", False),
        ("literals", "users_copy", False),
    ],
)
def test_advice_about_rows_that_replace_each_other(query: str, sink: str, replaced: bool) -> None:
    """Rows replace each other unless the sink's key contains a unique key of the query."""
    session = Session()
    session.load(TABLES + PER_WINDOW, "tables.sql")
    session.load(f"EXPLAIN PLAN_ADVICE INSERT INTO {sink} {UNIQUE[query]}", "job.sql")
    told = "so each row replaces the previous row of its key" in session.printed[-1]
    assert told is replaced


@pytest.mark.parametrize(("insert", "expected"), CASES.items())
def test_advice(insert: str, expected: list[str]) -> None:
    assert _advice(insert) == expected


def test_advice_about_rows_that_move_between_join_tasks() -> None:
    insert = (PLANS / "joins" / "join_moving_between_keys.sql").read_text()
    told = _advice(insert[insert.index("INSERT") :])
    assert any("(id) may move from one task of a join to another" in line for line in told)


def test_expiring_state_gets_no_advice() -> None:
    insert = (
        "INSERT INTO per_region SELECT /*+ STATE_TTL('p' = '1 d') */ user_region, COUNT(*), 1"
        " FROM pageviews AS p GROUP BY user_region"
    )
    assert _advice(insert) == ["No available advice..."]


def test_each_plan_of_a_statement_set_has_its_own_advice() -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    inserts = "; ".join(list(CASES)[:2])
    session.load(f"EXPLAIN PLAN_ADVICE STATEMENT SET BEGIN {inserts}; END", "job.sql")
    assert [text.count("advice") for text in session.printed] == [1, 1]


@pytest.mark.parametrize(
    ("detail", "words"),
    [("ESTIMATED_COST", "no estimated cost: "), ("JSON_EXECUTION_PLAN", "no execution plan: ")],
)
def test_unsupported_explain_details_are_reported(detail: str, words: str) -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(f"EXPLAIN CHANGELOG_MODE, {detail} INSERT INTO events SELECT 1, 'x'", "j.sql")
    (text,) = session.printed
    plan, line = text.split("\n\n")
    assert plan.startswith("Sink events")
    assert line.startswith(words)
