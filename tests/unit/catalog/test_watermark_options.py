"""`scan.watermark.*`: options of the tables of every connector."""

from __future__ import annotations

from datetime import timedelta

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import Table
from streamtable.plan.source.scan import scans
from streamtable.session import Session

_TIMED = ", WATERMARK FOR ts AS ts"


def _session(options: str, watermark: str = _TIMED) -> Session:
    session = Session()
    sql = f"CREATE TABLE t (ts TIMESTAMP(3){watermark}) WITH ('connector' = 'datagen'{options});"
    session.load(f"{sql} SELECT ts FROM t;", "job.sql")
    return session


@pytest.mark.parametrize(
    ("options", "timeout"),
    [
        ("", None),
        (", 'scan.watermark.idle-timeout' = '10 s'", timedelta(seconds=10)),
        (", 'scan.watermark.idle-timeout' = '0 s'", timedelta(0)),
    ],
)
def test_the_idle_timeout_of_a_table(options: str, timeout: timedelta | None) -> None:
    session = _session(options)
    found = session.catalog.find(("t",), None)
    assert isinstance(found, Table)
    assert found.idle_timeout == timeout
    assert not list(session.notices())


@pytest.mark.parametrize(
    ("options", "watermark", "reason"),
    [
        ("emit.strategy' = 'on-event'", _TIMED, "advances at the end of each batch"),
        ("alignment.group' = 'g'", _TIMED, "'execution.max-lead' limits the skew"),
        ("alignment.max-drift' = '1 s'", _TIMED, "'execution.max-lead' limits the skew"),
        ("alignment.update-interval' = '1 s'", _TIMED, "'execution.max-lead' limits the skew"),
        ("idle-timeout' = '1 s'", "", "without WATERMARK"),
    ],
)
def test_options_without_effect_have_a_notice(options: str, watermark: str, reason: str) -> None:
    session = _session(f", 'scan.watermark.{options}", watermark)
    (notice,) = session.notices()
    assert "option 'scan.watermark." in notice
    assert reason in notice


@pytest.mark.parametrize(
    ("option", "condition"),
    [
        ("'scan.watermark.emit.strategy' = 'sometimes'", Condition.INVALID_OPTION),
        ("'scan.watermark.idle-timeout' = 'soon'", Condition.INVALID_OPTION),
        ("'scan.watermark.idle' = '1 s'", Condition.UNKNOWN_OPTION),
    ],
)
def test_invalid_options_are_refused(option: str, condition: Condition) -> None:
    with pytest.raises(StreamtableError) as refused:
        _session(f", {option}")
    assert refused.value.condition is condition


def test_a_hint_sets_the_timeout_of_one_scan() -> None:
    session = Session()
    session.load(
        f"CREATE TABLE t (k INT, ts TIMESTAMP(3){_TIMED}) WITH ('connector' = 'datagen');"
        "CREATE TABLE s (n BIGINT) WITH ('connector' = 'print');"
        "INSERT INTO s SELECT k FROM t /*+ OPTIONS('scan.watermark.idle-timeout' = '3 s') */;",
        "job.sql",
    )
    (scan,) = scans(session.plans[0].input)
    assert scan.table.idle_timeout == timedelta(seconds=3)
