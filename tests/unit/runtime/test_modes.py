"""What real-time mode does not take is told before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings import ExecutionMode
from streamtable.runtime.modes import mode_of, needed_slots
from streamtable.session import Session, fixed_settings

TABLES = (Path(__file__).parents[2] / "golden" / "tables.sql").read_text()


def _session(sql: str) -> Session:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(sql, "job.sql")
    return session


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (
            (
                "INSERT INTO users_copy SELECT a.id, a.score"
                " FROM users a JOIN per_region b ON a.region = b.region"
            ),
            (
                "Spark takes no operator with state before two inputs meet, and users must be"
                " normalized for want of its primary key in the join's"
            ),
        ),
        (
            (
                "INSERT INTO per_region SELECT a.region, a.n, b.n FROM per_region a JOIN"
                " (SELECT region, COUNT(*) AS n FROM users GROUP BY region) b"
                " ON a.region = b.region"
            ),
            "Spark takes no operator with state before two inputs meet",
        ),
        (
            "INSERT INTO events SELECT id, note FROM events UNION ALL VALUES (1, 'a')",
            "Spark does not read the rows of a VALUES there",
        ),
    ],
)
def test_refused_with_the_reason(sql: str, reason: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _mode(sql, "real-time")
    assert refused.value.condition is Condition.NOT_YET
    assert str(refused.value.at) == "job.sql:1:13"
    assert reason in str(refused.value)
    assert _mode(sql, "auto") is ExecutionMode.MICRO_BATCH


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO users_copy SELECT id, score FROM users WHERE score > 1",
        "INSERT INTO events SELECT user_id, CAST(CURRENT_TIMESTAMP AS STRING) FROM pageviews",
        "INSERT INTO per_region SELECT region, COUNT(*), MAX(score) FROM users GROUP BY region",
        "INSERT INTO users_copy SELECT a.id, b.score FROM users a JOIN users b ON a.id = b.id",
        "INSERT INTO users_copy SELECT id, 1 FROM events UNION ALL SELECT id, 2 FROM events",
    ],
)
def test_taken(sql: str) -> None:
    assert _mode(sql, "real-time") is ExecutionMode.REAL_TIME
    assert _mode(sql, "auto") is ExecutionMode.AUTO
    assert _mode(sql, "micro-batch") is ExecutionMode.MICRO_BATCH


@pytest.mark.parametrize(
    ("real_time", "in_batches", "slots"),
    [
        # Two partitions of the topic; where there is state, two of each stage's beside them.
        (["INSERT INTO events SELECT id, note FROM events"], [], 2),
        (["INSERT INTO per_region SELECT region, COUNT(*), 1 FROM users GROUP BY region"], [], 6),
        # A query in micro-batches holds one stage at a time.
        (
            ["INSERT INTO events SELECT id, note FROM events"],
            ["INSERT INTO per_region SELECT region, COUNT(*), 1 FROM users GROUP BY region"],
            4,
        ),
    ],
)
def test_slots(real_time: list[str], in_batches: list[str], slots: int) -> None:
    plans = [
        [plan for sql in side for plan in _session(sql).plans] for side in (real_time, in_batches)
    ]
    assert needed_slots(*plans, lambda _: 2, parallelism=2) == slots


def _mode(sql: str, setting: str) -> ExecutionMode:
    (plan,) = _session(sql).plans
    settings = fixed_settings({"execution.mode": setting}).current()
    return mode_of(plan, settings, bounded=False)
