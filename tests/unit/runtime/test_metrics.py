"""Rates, names and Prometheus's text, without a job."""

from __future__ import annotations

import io
import urllib.error
import urllib.request

import pytest

from streamtable.cli.status import StatusLine, status
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.metrics import JobMetrics, QueryState, TableCounts
from streamtable.runtime.prometheus import exposition, serve


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def _source(records: int, **more: object) -> TableCounts:
    counts = {"recordsIn": records, "bytesIn": 10 * records, "parseErrors": 2, "nullKeys": 1}
    return TableCounts(counts=counts, reads=True, **more)  # type: ignore[arg-type]


def test_rates_are_averages_over_the_last_minute() -> None:
    clock = Clock()
    metrics = JobMetrics(clock)
    metrics.take({"t": _source(0)}, {})
    assert metrics.values()["tables"]["t"]["numRecordsInPerSecond"] == 0
    for second in range(1, 121):
        clock.now += 1
        metrics.take({"t": _source(10 * second if second <= 60 else 600)}, {})
        if second == 30:
            assert metrics.values()["tables"]["t"]["numRecordsInPerSecond"] == 10
    found = metrics.values()["tables"]["t"]
    assert found["numRecordsInPerSecond"] == 0
    assert found["numRecordsIn"] == 600
    assert found["numBytesIn"] == 6_000
    assert found["numErrors"] == 3


def test_lags_and_idle_time() -> None:
    clock = Clock()
    metrics = JobMetrics(clock)
    metrics.take({"t": _source(1, newest=(990_000, 995_000), pending=7)}, {})
    found = metrics.values()["tables"]["t"]
    assert found["currentFetchEventTimeLag"] == found["currentEmitEventTimeLag"] == 5_000
    assert found["sourceIdleTime"] == 5_000
    assert found["pendingRecords"] == 7


def test_text_for_prometheus() -> None:
    metrics = JobMetrics(Clock())
    sink = TableCounts(counts={"recordsOut": 4, "bytesOut": 9}, sending=(1, 12), writes=True)
    state = QueryState(3, 999.5, "1970-01-01T00:00:02.000Z", (("agg", 5, 640), ("join", 1, 60)))
    metrics.take({'o"': sink}, {"o": state})
    lines = exposition(metrics).splitlines()
    for line in (
        "# TYPE streamtable_numRecordsOut counter",
        'streamtable_numRecordsOut{table="o\\""} 4',
        "# TYPE streamtable_numRecordsOutPerSecond gauge",
        'streamtable_currentSendTime{table="o\\""} 12',
        'streamtable_watermark{query="o"} 2000',
        'streamtable_stateRows{query="o"} 6',
        'streamtable_operatorStateBytes{query="o",operator="1-join"} 60',
        'streamtable_lastCheckpoint{query="o"} 999.5',
    ):
        assert line in lines
    assert len([line for line in lines if line.startswith("# TYPE")]) == len(
        {line.split()[2] for line in lines if line.startswith("# TYPE")}
    )


def test_served_over_http() -> None:
    metrics = JobMetrics()
    with serve(metrics, "127.0.0.1", 0) as port:
        metrics.take({"t": _source(5)}, {})
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert b'streamtable_numRecordsIn{table="t"} 5\n' in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=60)
        with pytest.raises(StreamtableError) as taken, serve(metrics, "127.0.0.1", port):
            pass
        assert taken.value.condition is Condition.PORT_TAKEN


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_status_line() -> None:
    clock = Clock()
    metrics = JobMetrics(clock)
    metrics.take({"t": _source(0, pending=1_200)}, {"o": QueryState(1, 0.0)})
    assert status(metrics.values()).startswith(
        "in 0/s | out 0/s | pending 1,200 | state 0 rows, 0.0 MB | checkpoint "
    )
    for out, step in ((Terminal(), 1.0), (io.StringIO(), 60.0)):
        line = StatusLine(metrics.values, out, clock)
        line.tick()
        assert out.getvalue() == ""
        clock.now += step
        line.tick()
        line.notice("hello")
        text = out.getvalue()
        assert text.startswith("\r\x1b[Kin 0/s" if out.isatty() else "in 0/s")
        assert text.endswith("\r\x1b[Khello\n" if out.isatty() else "\nhello\n")
