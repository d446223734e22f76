"""Findings about event times and keys in the rows of a sample."""

from __future__ import annotations

import random

import pytest

from streamtable.connector_api.findings import Severity
from streamtable.core.table import Table
from streamtable.plan.source.scan import scans
from streamtable.runtime.preflight.sample_findings import (
    TimedRow,
    event_time_findings,
    key_findings,
)
from streamtable.session import Session

_S = 1_000_000
_SCRIPT = """
CREATE TABLE t (k INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT k FROM t;
"""


@pytest.fixture(scope="module")
def table() -> Table:
    session = Session()
    session.load(_SCRIPT, "job.sql")
    return scans(session.plans[0].input)[0].table


def _split(split: int, *seconds: float | None, delay: float = 5) -> list[TimedRow]:
    """Return rows of a split with these event times, and watermarks that lag by `delay` seconds."""
    return [
        (split, i, None if s is None else int(s * _S), None if s is None else int((s - delay) * _S))
        for i, s in enumerate(seconds)
    ]


@pytest.mark.parametrize(
    ("rows", "warnings"),
    [
        (_split(0, 1, 2, 3), []),
        (_split(0, 10, 6, 11), []),
        (_split(0, 10, 5, 11), ["33.3% of 3 sampled rows are late: rows are up to 5 s out of"]),
        (_split(0, 10, 9.5, 4), ["33.3% of 3 sampled rows are late: rows are up to 6 s out of"]),
        (_split(0, 10) + _split(1, 1, 2), []),
        (_split(0, 1, None, None, 2), ["50.0% of 4 sampled event times are NULL"]),
        (_split(0, None), ["100.0% of 1 sampled event times are NULL"]),
        (
            _split(0, 1000) + _split(1, 100) + _split(2, 999),
            ["the newest event time of partition 1 is up to 15 m older than that of another"],
        ),
    ],
)
def test_event_times(table: Table, rows: list[TimedRow], warnings: list[str]) -> None:
    random.Random(3).shuffle(rows)
    found = list(event_time_findings(table, rows))
    bad = [f for f in found if f.severity is Severity.WARNING]
    assert len(bad) == len(warnings), found
    for finding, start in zip(bad, warnings, strict=True):
        assert finding.text.startswith(start), finding.text
        assert finding.fix
        assert finding.table == "t"
    if not warnings:
        assert [f.severity for f in found] == [Severity.OK]


def test_keys(table: Table) -> None:
    even = [(i % 50, "a") for i in range(1000)]
    (ok,) = key_findings(table, "GroupAggregate", ("k", "s"), even)
    assert ok.text == "1,000 sampled rows have 50 different (k, s) in GroupAggregate"
    hot, _ = key_findings(table, "TopN", ("k",), [(max(0, i - 300),) for i in range(1000)])
    assert hot.severity is Severity.WARNING
    assert "30.1% of 1,000 sampled rows have the same (k), (0,)" in hot.text
    assert not list(key_findings(table, "TopN", ("k",), [(1,)] * 99))  # too few to tell
    # A single key gives no warning: a table with one row looks the same.
    (single,) = key_findings(table, "TopN", ("k",), [(1,)] * 500)
    assert single.severity is Severity.OK
