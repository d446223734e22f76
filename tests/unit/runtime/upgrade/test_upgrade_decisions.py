"""Decisions of an upgrade about changed queries that follow from the plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.options import Given
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.upgrade.decisions import (
    Action,
    changed,
    keeps_state,
    rebuild_obstacle,
    unchanged,
)
from streamtable.runtime.upgrade.ranges import ReadRange
from streamtable.session import Session

TABLES = (Path(__file__).parents[3] / "golden" / "tables.sql").read_text()
COUNTS = "INSERT INTO per_region SELECT region, COUNT(*), MAX(score) FROM users GROUP BY region"
COPY = "INSERT INTO users_copy SELECT id, score FROM users"
EVENTS = "INSERT INTO events SELECT id, note FROM events"
PROCESSING_TIME = (
    "INSERT INTO per_region SELECT region, n, m FROM (SELECT 'x' AS region, COUNT(*) AS n, 1 AS m"
    " FROM TABLE(TUMBLE((SELECT id, PROCTIME() AS p FROM events), DESCRIPTOR(p),"
    " INTERVAL '1' MINUTE)) GROUP BY window_start, window_end)"
)


def _plans(*inserts: str, **settings: str) -> list[Sink]:
    session = Session()
    for key, value in settings.items():
        session.settings.set(key.replace("_", "."), Given(value))
    session.load(TABLES + "".join(f"\n{insert};" for insert in inserts), "job.sql")
    return list(session.plans)


#: A query before and after, and whether the new query can use the state of the old query.
STATES = {
    "a projection above": (COUNTS, COUNTS.replace("COUNT(*)", "COUNT(*) + 1"), True),
    "a HAVING, which counts apart": (COUNTS, f"{COUNTS} HAVING COUNT(*) > 1", False),
    "another aggregate": (COUNTS, COUNTS.replace("MAX", "MIN"), False),
    "an aggregate more": (COUNTS, f"{COUNTS} HAVING COUNT(DISTINCT score) > 1", False),
    "a filter below": (COUNTS, COUNTS.replace("GROUP", "WHERE score > 1 GROUP"), False),
    "no state, a filter": (COPY, f"{COPY} WHERE id > 1", True),
    "no state, another column": (COPY, COPY.replace("score", "score + 1"), True),
    "another table": (COPY, "INSERT INTO users_copy SELECT id, 1 FROM events", False),
}


@pytest.mark.parametrize("case", STATES)
def test_changed_queries_that_can_use_the_state(case: str) -> None:
    before, after, kept = STATES[case]
    old, now = (RecordedQuery.of(_plans(insert)[0]) for insert in (before, after))
    assert keeps_state(RecordedQuery.from_json(old.to_json()), now) is kept
    assert keeps_state(RecordedQuery.from_json({**old.to_json(), "shape": None}), now) is False


@pytest.mark.parametrize(
    ("option", "kept"),
    [
        ("'csv.null-literal' = 'n'", False),
        ("'csv.ignore-parse-errors' = 'true'", True),
    ],
)
def test_state_after_a_change_of_format_options(option: str, kept: bool) -> None:
    def record(options: str) -> RecordedQuery:
        session = Session()
        session.load(
            f"""{TABLES} CREATE TABLE i (region STRING, n BIGINT) WITH ('connector' = 'kafka',
            'topic' = 'i', 'properties.bootstrap.servers' = 'kafka:9092', 'format' = 'csv'
            {options}); INSERT INTO per_region SELECT region, COUNT(*), MAX(n) FROM i
            GROUP BY region;""",
            "job.sql",
        )
        return RecordedQuery.of(session.plans[0])

    old = RecordedQuery.from_json(record("").to_json())
    assert keeps_state(old, record(f", {option}")) is kept


#: INSERTs, and the reason why they cannot be rebuilt; None if they can.
OBSTACLES = {
    "events": ([EVENTS], "events keeps every record, and records of topic 'events' cannot"),
    "processing time": ([PROCESSING_TIME], "depend on the arrival of records"),
    "counts": ([COUNTS], None),
}


@pytest.mark.parametrize("case", OBSTACLES)
def test_queries_that_cannot_be_rebuilt(case: str) -> None:
    inserts, reason = OBSTACLES[case]
    plans = query_names(_plans(*inserts))
    (plan,) = plans.values()
    found = rebuild_obstacle(plan)
    assert found is None if reason is None else reason in (found or "")


def test_state_that_expires_cannot_be_rebuilt() -> None:
    plans = query_names(_plans(COUNTS, table_exec_state_ttl="1 d"))
    found = rebuild_obstacle(plans["per_region"])
    assert found == "the state of GroupAggregate expires by the clock"


def test_the_action_for_each_query() -> None:
    old = query_names(_plans(COUNTS, COPY, EVENTS))
    records = {name: RecordedQuery.of(plan) for name, plan in old.items()}
    manifest = Manifest("id", records)
    now = query_names(_plans(COUNTS.replace("MAX", "MIN"), COPY))
    queries = assign(now, manifest)
    assert {d.query: d.action for d in unchanged(queries)} == {
        "users_copy": Action.KEPT,
        "events": Action.REMOVED,
    }
    whole, lost = ReadRange({}, {}, 5), ReadRange({}, {}, 5, "it is gone")

    def decided(of_range: ReadRange, *, from_now: bool) -> tuple[Action, str]:
        (found,) = changed(
            queries, {"per_region": of_range}, {"per_region": None}, from_now=from_now
        )
        return found.action, found.reason

    assert decided(whole, from_now=False)[0] is Action.REBUILT
    assert decided(whole, from_now=True)[0] is Action.REBUILT
    action, reason = decided(lost, from_now=False)
    assert action is Action.IMPOSSIBLE
    assert "it is gone" in reason
    assert decided(lost, from_now=True)[0] is Action.ANEW
