"""SET between statements: each query has the settings in force at its statement."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import MAX_BATCH_RECORDS
from streamtable.core.settings.job import JOB_NAME
from streamtable.core.settings.table import (
    IDLE_TIMEOUT,
    NOT_NULL_ENFORCER,
    STATE_TTL,
    TYPE_LENGTH_ENFORCER,
)
from streamtable.session import Session, fixed_settings

_TABLES = """CREATE TABLE s (a INT) WITH ('connector' = 'datagen');
CREATE TABLE o (a INT) WITH ('connector' = 'print');
"""
_INSERT = "INSERT INTO o SELECT a FROM s;\n"
_SET = "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a FROM s; END;\n"
_SET_PATH = "SET 'state.checkpoints.dir' = '{}';"
_SELECT = "SELECT a FROM s;\n"


def _session(text: str, **fixed: str) -> Session:
    session = Session(settings=fixed_settings(fixed))
    session.load(_TABLES + text, "job.sql")
    return session


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (NOT_NULL_ENFORCER, "DROP"),
        (TYPE_LENGTH_ENFORCER, "TRIM_PAD"),
        (IDLE_TIMEOUT, "5 s"),
        (STATE_TTL, "1 h"),
        (MAX_BATCH_RECORDS, "10"),
    ],
)
def test_each_query_has_the_settings_at_its_statement(option: object, value: str) -> None:
    key = option.key  # type: ignore[attr-defined]
    change = f"SET '{key}' = '{value}';"
    session = _session(f"{_INSERT}{change}{_SET}{_SELECT}RESET '{key}';{_INSERT}")
    roots = [*session.plans, *session.selects]
    given = [root.settings.given.get(key) for root in roots]
    assert [found and found.text for found in given] == [None, value, None, value]
    assert list(session.notices()) == []
    fixed = _session(f"{change}{_INSERT}", **{key: value})
    assert fixed.plans[0].settings.given[key].at is None


def test_two_names_of_a_time_zone_are_equal() -> None:
    zone = "SET 'table.local-time-zone' = '{}';"
    text = f"{zone.format('+00:00')}{_INSERT}{zone.format('UTC')}{_INSERT}"
    assert len(_session(text).plans) == 2


def test_process_settings_may_change_between_shell_jobs() -> None:
    """In the shell each INSERT is its own job, so settings of the process may change."""
    session = Session()
    text = f"{_SET_PATH.format('/a')}{_INSERT}{_SET_PATH.format('/b')}{_INSERT}"
    session.load(_TABLES + text, "job.sql", apart=True)
    assert len(session.plans) == 2
    assert list(session.notices()) == []


@pytest.mark.parametrize(
    ("text", "place", "change"),
    [
        (
            f"{_INSERT}SET 'table.local-time-zone' = 'Asia/Tokyo';\n{_INSERT}",
            "job.sql:4:31",
            "'table.local-time-zone' changes from default to Asia/Tokyo",
        ),
        (
            f"{_INSERT}SET 'table.local-time-zone' = 'Asia/Tokyo';\n{_SELECT}",
            "job.sql:4:31",
            "'table.local-time-zone' changes from default to Asia/Tokyo",
        ),
        (
            f"SET 'execution.runtime-mode' = 'batch';\n{_SELECT}RESET;\n{_INSERT}",
            "job.sql:6:1",
            "'execution.runtime-mode' changes from batch to streaming",
        ),
        (
            f"{_SET_PATH.format('a')}{_INSERT}{_SET_PATH.format('b')}{_INSERT}",
            "job.sql:4:31",
            "'execution.checkpointing.dir' changes from a to b",
        ),
        (
            f"SET 'spark.app.id' = 'a';{_INSERT}RESET 'spark.app.id';\n{_INSERT}",
            "job.sql:5:1",
            "'spark.app.id' changes from a to (none)",
        ),
    ],
)
def test_settings_of_the_process_cannot_change_between_statements(
    text: str, place: str, change: str
) -> None:
    with pytest.raises(StreamtableError) as refused:
        _session(text)
    assert refused.value.condition is Condition.OPTION_CONFLICT
    assert str(refused.value.at) == place
    assert change in str(refused.value)


def test_a_select_needs_no_checkpoint_of_the_job() -> None:
    _session(f"SET 'execution.checkpointing.dir' = 'a';{_INSERT}RESET;{_SELECT}")


def test_the_last_insert_names_the_job() -> None:
    name = "SET 'pipeline.name' = '{}';"
    session = _session(f"{name.format('a')}{_INSERT}{name.format('b')}{_INSERT}{name.format('c')}")
    assert session.job_settings[JOB_NAME] == "b"
    first, second = session.notices()
    assert first == (
        "job.sql:4:23: one job runs all INSERTs of a script, and 'pipeline.name' of its last INSERT"
        " holds for all of them"
    )
    assert second == "job.sql:5:5: SET 'pipeline.name' has no effect on the statements before it"
    assert _session(f"{_INSERT}RESET;").job_settings[JOB_NAME] is None
