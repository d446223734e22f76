"""State of a group aggregation with which a query with other aggregates continues."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.options import Given
from streamtable.jvm.specs.restored import EMPTY, ROWS
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.upgrade.decisions import Action, changed
from streamtable.runtime.upgrade.extension import Extension, extension
from streamtable.runtime.upgrade.ranges import ReadRange
from streamtable.session import Session

TABLES = (Path(__file__).parents[3] / "golden" / "tables.sql").read_text()
#: Two numbers per group, of append-only tables and of a table with updates and deletes.
OF_EVENTS = "INSERT INTO per_region SELECT note, {}, {} FROM events WHERE id > 5 GROUP BY note"
OF_VIEWS = "INSERT INTO per_region SELECT user_region, {}, {} FROM pageviews GROUP BY user_region"
OF_CHANGES = "INSERT INTO per_region SELECT region, {}, {} FROM users GROUP BY region"


OF_PAIRS = (
    "INSERT INTO per_region SELECT u.region, {}, {} FROM users AS u"
    " JOIN users AS o ON u.id = o.score GROUP BY u.region"
)


def _plan(insert: str, more: str = "", **settings: str) -> Sink:
    session = Session()
    for key, value in settings.items():
        session.settings.set(key.replace("_", "."), Given(value))
    session.load(f"{TABLES}\n{more}{insert};", "job.sql")
    (plan,) = session.plans
    return plan


def _extension(before: str, after: str, **settings: str) -> Extension | None:
    old, plan = RecordedQuery.of(_plan(before, **settings)), _plan(after, **settings)
    return extension(RecordedQuery.from_json(old.to_json()), RecordedQuery.of(plan), plan)


def _of(query: str, *numbers: str) -> str:
    return query.format(*(f"CAST({number} AS BIGINT)" for number in numbers))


#: Queries before and after, and the source of the state of each aggregate of the new query.
SOURCES = {
    "one is removed": (
        _of(OF_EVENTS, "SUM(id)", "MAX(id + 1)"),
        _of(OF_EVENTS, "MAX(id + 1)", "0"),
        [1],
    ),
    "others are read first": (
        _of(OF_EVENTS, "SUM(id)", "MAX(id + 1)"),
        _of(OF_EVENTS, "MAX(id + 1)", "SUM(id)"),
        [1, 0],
    ),
    "a projection above": (
        _of(OF_EVENTS, "SUM(id)", "COUNT(*)"),
        _of(OF_EVENTS, "SUM(id) + 1", "COUNT(*)"),
        [0, 1],
    ),
    "a HAVING with a known aggregate": (
        _of(OF_EVENTS, "SUM(id)", "COUNT(id)"),
        _of(OF_EVENTS, "SUM(id)", "0") + " HAVING COUNT(id) > 1",
        [0, 1],
    ),
    "the number of rows": (
        _of(OF_EVENTS, "SUM(id)", "0"),
        _of(OF_EVENTS, "SUM(id)", "COUNT(*)"),
        [0, ROWS],
    ),
    "an average from a sum": (
        _of(OF_EVENTS, "SUM(id)", "0"),
        _of(OF_EVENTS, "AVG(id)", "0"),
        [0],
    ),
    "deviations from a variance": (
        _of(OF_EVENTS, "VAR_POP(id)", "0"),
        _of(OF_EVENTS, "STDDEV_SAMP(id)", "0"),
        [0],
    ),
    "one is added": (
        _of(OF_EVENTS, "SUM(id)", "0"),
        _of(OF_EVENTS, "MIN(id)", "SUM(id)"),
        [EMPTY, 0],
    ),
    "another argument of the same name": (
        _of(OF_EVENTS, "SUM(id + 1)", "0"),
        _of(OF_EVENTS, "SUM(id + 2)", "0"),
        [EMPTY],
    ),
    "only different values": (
        _of(OF_EVENTS, "SUM(id)", "0"),
        _of(OF_EVENTS, "SUM(DISTINCT id)", "0"),
        [EMPTY],
    ),
    "only filtered values": (
        _of(OF_EVENTS, "COUNT(id)", "COUNT(id) FILTER (WHERE id > 7)"),
        _of(OF_EVENTS, "COUNT(id) FILTER (WHERE id > 7)", "COUNT(id) FILTER (WHERE id > 8)"),
        [1, EMPTY],
    ),
    "one that depends on the order": (
        _of(OF_EVENTS, "SUM(id)", "FIRST_VALUE(id)"),
        _of(OF_EVENTS, "SUM(id)", "0"),
        [0],
    ),
    "a table with a watermark": (
        _of(OF_VIEWS, "SUM(page_id)", "MAX(user_id)"),
        _of(OF_VIEWS, "MAX(user_id)", "0"),
        [1],
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_sources_of_the_state_of_each_aggregate(case: str) -> None:
    before, after, sources = SOURCES[case]
    found = _extension(before, after)
    assert found is not None
    assert found.sources == sources
    assert found.is_complete is (EMPTY not in sources)
    assert len(found.added) == sources.count(EMPTY)
    assert found.retracting is False


def test_unused_columns_of_an_upsert_source_are_dropped() -> None:
    before = _of(OF_CHANGES, "MAX(score)", "COUNT(id)")
    for after, upserts in ((before, [0, 1, 2]), (_of(OF_CHANGES, "COUNT(id)", "0"), [0, 1])):
        found = _extension(before, after)
        assert found is not None
        assert found.upserts == upserts
        assert found.retracting is True


SUM = _of(OF_EVENTS, "SUM(id)", "0")
#: Queries before and after. Their groups or input differ, or they have state besides groups.
OTHERS = {
    "another filter": (SUM, SUM.replace("id > 5", "id > 6")),
    "a filter more": (SUM, SUM.replace("id > 5", "id > 5 AND id < 9")),
    "another key": (SUM, SUM.replace("BY note", "BY note, id")),
    "another expression as key": (
        SUM.replace("note", "UPPER(note)"),
        SUM.replace("note", "LOWER(note)"),
    ),
    "another table": (SUM, _of(OF_VIEWS, "SUM(page_id)", "0")),
    "a join below": (_of(OF_PAIRS, "SUM(u.score)", "0"), _of(OF_PAIRS, "SUM(u.score)", "1")),
    "a column that is not stored": (
        _of(OF_CHANGES, "COUNT(*)", "0"),
        _of(OF_CHANGES, "COUNT(*)", "SUM(score)"),
    ),
    "no groups": (
        "INSERT INTO users_copy SELECT id, score FROM users",
        "INSERT INTO users_copy SELECT id, score + 1 FROM users",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_changed_groups_or_inputs_cannot_use_the_state(case: str) -> None:
    assert _extension(*OTHERS[case]) is None


def test_the_table_may_have_more_columns() -> None:
    """The new query may aggregate, from now on, a column that the old query has not read."""
    tables = "CREATE TABLE t (a STRING{}) WITH ('connector' = 'kafka', 'topic' = 't',"
    tables += " 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json');\n"
    into = "INSERT INTO per_region SELECT a, COUNT(*), {} FROM t GROUP BY a"
    old = RecordedQuery.of(_plan(into.format("0"), tables.format("")))
    for columns, more, sources in (
        (", b BIGINT", "MAX(b)", [0, EMPTY]),
        (", b BIGINT", "1", [0]),
        (" NOT NULL", "1", None),
    ):
        plan = _plan(into.format(more), tables.format(columns))
        found = extension(old, RecordedQuery.of(plan), plan)
        assert (found and found.sources) == sources


def test_state_that_expires_is_not_moved() -> None:
    assert _extension(SUM, SUM.replace("0", "1"), table_exec_state_ttl="1 d") is None


def test_records_of_earlier_versions() -> None:
    plan = _plan(SUM)
    old, now = RecordedQuery.of(_plan(SUM.replace("0", "1"))).to_json(), RecordedQuery.of(plan)
    assert extension(RecordedQuery.from_json(old), now, plan) is not None
    for change in (
        {"shape": None},
        {"state": [["GroupAggregate", 0]]},
    ):
        assert extension(RecordedQuery.from_json({**old, **change}), now, plan) is None


@pytest.mark.parametrize(
    ("retracting", "lost", "from_now", "added", "expected"),
    [
        (False, None, False, [], Action.EXTENDED),
        (True, "it is gone", False, [], Action.EXTENDED),
        (False, None, True, ["MAX(id) AS m"], Action.REBUILT),
        (False, "it is gone", False, ["MAX(id) AS m"], Action.IMPOSSIBLE),
        (False, "it is gone", True, ["MAX(id) AS m"], Action.EXTENDED_NOW),
        (True, "it is gone", True, ["MAX(id) AS m"], Action.ANEW),
    ],
)
def test_the_action_for_extended_state(
    retracting: bool, lost: str | None, from_now: bool, added: list[str], expected: Action
) -> None:
    now = query_names([_plan(_of(OF_EVENTS, "SUM(id)", "MAX(id)"))])
    queries = assign(now, Manifest("id", {"per_region": RecordedQuery.of(_plan(SUM))}))
    found = {"per_region": Extension([], [], added, None, retracting, None, (), ())}
    ranges = {"per_region": ReadRange({}, {}, 5, lost)}
    (decision,) = changed(queries, ranges, found, from_now=from_now)
    assert decision.action is expected
    if expected is Action.EXTENDED_NOW:
        assert decision.reason.endswith("; MAX(id) AS m starts empty")
    if expected is Action.ANEW:
        words = "rows that MAX(id) AS m has not added may be retracted from it"
        assert decision.reason.endswith(words)
