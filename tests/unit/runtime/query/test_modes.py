"""Queries that real-time mode does not support are reported before any query starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import ExecutionMode
from streamtable.plan.sink.reused_scan import read_scans
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.endpoints import sink_facts
from streamtable.runtime.preflight.rollback import rollback_obstacles
from streamtable.runtime.query.modes import (
    crash_warning,
    mode_of,
    mode_warning,
    plan_for_modes,
)
from streamtable.runtime.query.slots import needed_slots
from streamtable.session import Session, fixed_settings

TABLES = (Path(__file__).parents[3] / "golden" / "tables.sql").read_text()


def _session(sql: str) -> Session:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(sql, "job.sql")
    return session


@pytest.mark.parametrize(
    ("sql", "at", "reason"),
    [
        (
            "INSERT INTO events SELECT id, note FROM events UNION ALL VALUES (1, 'a')",
            "job.sql:1:13",
            "Spark does not read VALUES in real-time mode",
        ),
        (
            (
                "INSERT INTO users_copy SELECT user_id, CAST(LAST_VALUE(n) AS INT) FROM (SELECT"
                " user_id, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime),"
                " INTERVAL '1' HOUR)) GROUP BY user_id, window_start, window_end) GROUP BY user_id"
            ),
            "job.sql:1:13",
            "windows of one key are taken in order, which Spark does in micro-batches only",
        ),
        (
            (
                "INSERT INTO events SELECT id, note FROM events UNION ALL SELECT id, note"
                " FROM events /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */"
            ),
            "tables.sql:52:1",
            "this 'scan.bounded.mode' of events in real-time mode",
        ),
    ],
)
def test_refused_with_the_reason(sql: str, at: str, reason: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _mode(sql, "real-time")
    assert refused.value.condition is Condition.NOT_YET
    assert str(refused.value.at) == at
    assert reason in str(refused.value)
    assert _mode(sql, "auto") is ExecutionMode.MICRO_BATCH


@pytest.mark.parametrize(
    ("sql", "stale_keys_hint"),
    [
        ("events SELECT user_id, CAST(CURRENT_TIMESTAMP AS STRING) FROM pageviews", None),
        ("users_copy SELECT id, 1 FROM events UNION ALL SELECT id, 2 FROM events", None),
        # A group never returns to an earlier result, in any order of its rows.
        ("per_region SELECT r, COUNT(*), SUM(id) FROM views GROUP BY r", None),
        ("per_region SELECT r, MIN(id), MAX(id) FROM views GROUP BY r", None),
        # A sum may return to its earlier value in a batch, which then does not write the sum.
        ("per_region SELECT r, SUM(id), 1 FROM views GROUP BY r", "its GroupAggregate"),
        # A transient count: one batch with the same records does not write it.
        (
            "per_region SELECT r, COUNT(*), 1 FROM views GROUP BY r HAVING COUNT(*) < 9",
            "its GroupAggregate",
        ),
        (
            (
                "per_region SELECT CAST(n AS STRING), COUNT(*), 1"
                " FROM (SELECT r, COUNT(*) AS n FROM views GROUP BY r) AS v GROUP BY n"
            ),
            "its GroupAggregate",
        ),
        ("users_copy SELECT id, score FROM users WHERE score > 1", "the changes of users"),
        (
            "per_region SELECT region, COUNT(*), 1 FROM users GROUP BY region",
            "the changes of users",
        ),
        (
            "users_copy SELECT a.id, b.score FROM users a JOIN users b ON a.id = b.id",
            "the changes of users",
        ),
        (
            "users_copy SELECT a.id, a.score FROM users a JOIN per_region b ON a.region = b.region",
            "the changes of users",
        ),
        (
            (
                "per_region SELECT a.region, a.n, b.n FROM per_region a JOIN (SELECT region,"
                " COUNT(*) AS n FROM users GROUP BY region) b ON a.region = b.region"
            ),
            "the changes of per_region",
        ),
    ],
)
def test_transient_rows_of_a_crash_prevent_auto_mode(sql: str, stale_keys_hint: str | None) -> None:
    views = "CREATE VIEW views AS SELECT user_region AS r, user_id AS id FROM pageviews;"
    sql = f"{views} INSERT INTO {sql}"
    exact = stale_keys_hint is None
    assert _mode(sql, "real-time") is ExecutionMode.REAL_TIME
    assert _mode(sql, "auto") is (ExecutionMode.AUTO if exact else ExecutionMode.MICRO_BATCH)
    assert _mode(sql, "auto", rolls_back=True) is ExecutionMode.AUTO
    assert _mode(sql, "micro-batch") is ExecutionMode.MICRO_BATCH
    told = {setting: _told(sql, setting) for setting in ("real-time", "auto", "micro-batch")}
    assert told["micro-batch"] is None
    if stale_keys_hint is None:
        assert set(told.values()) == {None}
    else:
        assert f"a crash may leave a transient row of {stale_keys_hint} in" in str(
            told["real-time"]
        )
        assert "because it is shared" in str(told["real-time"])
        assert "o: stays in micro-batches" in str(told["auto"])
        assert "and it is shared" in str(told["auto"])


@pytest.mark.parametrize(
    ("spark", "sql", "supported"),
    [
        ("4.2.1", "events SELECT id, note FROM events", True),
        ("4.2.1", "per_region SELECT note, COUNT(*), 1 FROM events GROUP BY note", False),
        ("4.3.0", "per_region SELECT note, COUNT(*), 1 FROM events GROUP BY note", True),
    ],
)
def test_real_time_mode_without_state_in_spark_4_2(spark: str, sql: str, supported: bool) -> None:
    sql = f"INSERT INTO {sql}"
    (plan,) = _session(sql).plans
    told = {
        mode: mode_warning("o", _in(mode, plan), spark, bounded=False)
        for mode in ("auto", "real-time", "micro-batch")
    }
    assert told["real-time"] is told["micro-batch"] is None
    assert _mode(sql, "micro-batch", spark) is ExecutionMode.MICRO_BATCH
    if supported:
        assert told["auto"] is None
        assert _mode(sql, "real-time", spark) is ExecutionMode.REAL_TIME
        assert _mode(sql, "auto", spark) is ExecutionMode.AUTO
        return
    reason = "real-time mode of Spark 4.2 runs only queries without state"
    assert told["auto"] == f"o: stays in micro-batches, because {reason}"
    assert _mode(sql, "auto", spark) is ExecutionMode.MICRO_BATCH
    with pytest.raises(StreamtableError, match=reason) as refused:
        _mode(sql, "real-time", spark)
    assert refused.value.condition is Condition.NOT_YET


def test_a_reused_scan_of_stateful_inputs_needs_micro_batches() -> None:
    sql = (
        "INSERT INTO per_region SELECT a.note, COUNT(*), MAX(b.n) FROM events a JOIN"
        " (SELECT note, COUNT(*) AS n FROM events GROUP BY note) b ON a.note = b.note"
        " GROUP BY a.note"
    )
    (plan,) = _session(sql).plans
    assert plan_for_modes(plan, "4.3.0", bounded=False) == plan
    once = plan_for_modes(plan, "4.3.0", bounded=True)
    assert len(read_scans(plan)) == 2
    assert len(read_scans(once)) == 1
    # Spark 4.2 runs the query in micro-batches in any case.
    assert plan_for_modes(plan, "4.2.1", bounded=False) == once
    # `once` is also the plan of a job that continues the checkpoint of a bounded run.
    assert mode_warning("o", plan, "4.3.0", bounded=False) is None
    assert mode_warning("o", once, "4.3.0", bounded=False) == (
        "o: stays in micro-batches, because one scan of events has served several places so far"
    )
    with pytest.raises(StreamtableError, match="one scan of events has served several places"):
        mode_of(_in("real-time", once), "4.3.0", bounded=False, rolls_back=True)


@pytest.mark.parametrize(
    ("spark", "options", "reason"),
    [
        ("4.2.1", "", "real-time mode of Spark 4.2 runs only queries without state"),
        (
            "4.3.0",
            (
                "/*+ OPTIONS('sink.delivery-guarantee' = 'exactly-once',"
                " 'sink.transactional-id-prefix' = 'p') */"
            ),
            "exactly-once",
        ),
    ],
)
def test_a_reused_scan_is_not_the_reason_if_another_reason_exists(
    spark: str, options: str, reason: str
) -> None:
    sql = (
        f"INSERT INTO per_region {options} SELECT a.note, COUNT(*), MAX(b.n) FROM events a JOIN"
        " (SELECT note, COUNT(*) AS n FROM events GROUP BY note) b ON a.note = b.note"
        " GROUP BY a.note"
    )
    (plan,) = _session(sql).plans
    once = plan_for_modes(_in("real-time", plan), spark, bounded=False)
    assert len(read_scans(once)) == 1
    with pytest.raises(StreamtableError, match=reason) as refused:
        mode_of(once, spark, bounded=False, rolls_back=True)
    assert "has served several places" not in str(refused.value)


@pytest.mark.parametrize(
    ("real_time", "in_batches", "slots"),
    [
        # Two tasks read the topic. Each of the two stages with state has two more tasks.
        (["INSERT INTO events SELECT id, note FROM events"], [], 2),
        (["INSERT INTO per_region SELECT region, COUNT(*), 1 FROM users GROUP BY region"], [], 6),
        # A query in micro-batches runs one stage at a time.
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


@pytest.mark.parametrize(
    ("setting", "sql", "reason"),
    [
        ("true", "INSERT INTO users_copy SELECT id, score FROM users", None),
        (
            "false",
            "INSERT INTO users_copy SELECT id, score FROM users",
            "'execution.real-time.restore-sinks' is off",
        ),
        ("true", "INSERT INTO events SELECT id, note FROM events", "events keeps every record"),
        (
            "true",
            (
                "INSERT INTO users_copy SELECT id, score FROM users;"
                " INSERT INTO users_copy SELECT id, 1 FROM events"
            ),
            "another INSERT writes to topic 'users_copy'",
        ),
        (
            "true",
            (
                "INSERT INTO users_copy /*+ OPTIONS('sink.delivery-guarantee' = 'none') */"
                " SELECT id, score FROM users"
            ),
            "'sink.delivery-guarantee' is 'none'",
        ),
    ],
)
def test_obstacles_of_a_sink_rollback(setting: str, sql: str, reason: str | None) -> None:
    plans = query_names(
        _session(f"SET 'execution.real-time.restore-sinks' = '{setting}'; {sql}").plans
    )
    facts = sink_facts(plans, str, Path)
    assert set(rollback_obstacles(plans, facts).values()) == {reason}


def _told(sql: str, setting: str) -> str | None:
    (plan,) = _session(sql).plans
    return crash_warning("o", _in(setting, plan), "it is shared", "4.3.0", bounded=False)


def _mode(
    sql: str, setting: str, spark: str = "4.3.0", *, rolls_back: bool = False
) -> ExecutionMode:
    (plan,) = _session(sql).plans
    return mode_of(_in(setting, plan), spark, bounded=False, rolls_back=rolls_back)


def _in(mode: str, plan: Sink) -> Sink:
    return replace(plan, settings=fixed_settings({"execution.mode": mode}).current())
