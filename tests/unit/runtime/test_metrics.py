"""Rates, names, status lines and Prometheus's text, without a job."""

from __future__ import annotations

import io
import urllib.request
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from streamtable.cli.status import StatusLine, status, summary
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.reporting import METRIC_LABELS, OWN_LABELS
from streamtable.jvm.streaming.counters import COUNTED_IN, COUNTED_OUT
from streamtable.runtime.job_monitor import _watermark
from streamtable.runtime.metrics.metric_names import BY_NAME, METRICS
from streamtable.runtime.metrics.metrics import (
    JobMetrics,
    OperatorState,
    ProofState,
    QueryState,
    TableCounts,
)
from streamtable.runtime.metrics.prometheus import JobCollector, serve


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
    metrics = JobMetrics(clock, clock)
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


def test_rates_do_not_depend_on_the_clock() -> None:
    clock, timer = Clock(), Clock()
    metrics = JobMetrics(clock, timer)
    for second in range(200):
        timer.now += 1
        clock.now -= 60
        metrics.take({"t": _source(10 * second)}, {})
    assert metrics.values()["tables"]["t"]["numRecordsInPerSecond"] == 10
    assert len(metrics._samples) < 70


def test_lags_and_idle_time() -> None:
    clock = Clock()
    metrics = JobMetrics(clock, clock)
    metrics.take({"t": _source(1, last_read=(995_000, 990_000), pending=7)}, {})
    found = metrics.values()["tables"]["t"]
    assert found["currentFetchEventTimeLag"] == found["currentEmitEventTimeLag"] == 5_000
    assert found["sourceIdleTime"] == 5_000
    assert found["pendingRecords"] == 7


def _served(metrics: JobMetrics, labels: Mapping[str, str] = MappingProxyType({})) -> str:
    with (
        serve(JobCollector(metrics, 'a "b"', labels), "127.0.0.1", 0) as port,
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer,
    ):
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        return str(answer.read().decode())


def test_served_for_prometheus() -> None:
    metrics = JobMetrics(Clock(), Clock())
    info = 'streamtable_job_info{job_name="a \\"b\\""} 1.0'
    assert _served(metrics).splitlines()[2:] == [info]
    sink = TableCounts(counts={"recordsOut": 4, "bytesOut": 9}, sending=(1, 12), writes=True)
    state = QueryState(
        3,
        999.5,
        "1970-01-01T00:00:02.000Z",
        {"a.b-1": 2_000, "a.b-0": 5_000},
        (OperatorState("agg", 5, 640, 12), OperatorState("join", 1, 60)),
    )
    late = TableCounts(counts={"lateRows": 3, "deadLetters": 2}, reads=True)
    metrics.take({'o"': sink, "t": late}, {"o": state})
    metrics.take_proofs({"o": ProofState(998.0, 3, 0, 1)})
    lines = _served(metrics).splitlines()
    for line in (
        "# TYPE streamtable_numRecordsOut_total counter",
        'streamtable_numRecordsOut_total{table="o\\""} 4.0',
        "# TYPE streamtable_numRecordsOutPerSecond gauge",
        'streamtable_currentSendTime{table="o\\""} 12.0',
        'streamtable_lateRows_total{table="t"} 3.0',
        'streamtable_deadLetters_total{table="t"} 2.0',
        'streamtable_numErrors_total{table="t"} 2.0',
        'streamtable_watermark{query="o"} 2000.0',
        'streamtable_partitionWatermark{partition="1",query="o",topic="a.b"} 2000.0',
        'streamtable_partitionWatermark{partition="0",query="o",topic="a.b"} 5000.0',
        'streamtable_stateRows{query="o"} 6.0',
        'streamtable_operatorStateBytes{operator="1-join",query="o"} 60.0',
        'streamtable_operatorStateRows{operator="0-agg",query="o"} 5.0',
        'streamtable_operatorStateTime{operator="0-agg",query="o"} 12.0',
        'streamtable_lastCheckpoint{query="o"} 999.5',
        'streamtable_proofAge{query="o"} 2000.0',
        'streamtable_proofDifferences{query="o"} 3.0',
        'streamtable_proofFailures_total{query="o"} 1.0',
    ):
        assert line in lines, lines


def test_labels_of_the_job() -> None:
    metrics = JobMetrics(Clock(), Clock())
    metrics.take({}, {"o": QueryState(3, 999.5)})
    labels = SETTINGS.read({METRIC_LABELS.key: Given("team:data, env:a:b")}, "t")[METRIC_LABELS]
    lines = _served(metrics, labels)
    for line in (
        'streamtable_job_info{env="a:b",job_name="a \\"b\\"",team="data"} 1.0',
        'streamtable_lastCheckpoint{env="a:b",query="o",team="data"} 999.5',
    ):
        assert line in lines


@pytest.mark.parametrize("text", ["team", "1st:x", "te-am:x", "table:x"])
def test_invalid_prometheus_labels_are_refused(text: str) -> None:
    with pytest.raises(StreamtableError, match=r"INVALID_OPTION: .*team:data"):
        SETTINGS.read({METRIC_LABELS.key: Given(text)}, "t")


def test_labels_of_metrics_are_reserved() -> None:
    assert {label for metric in METRICS for label in metric.labels} <= OWN_LABELS


def test_state_rows_without_a_count() -> None:
    metrics = JobMetrics(Clock(), Clock())
    operators = (OperatorState("agg", None, 640), OperatorState("join", None, 60))
    metrics.take({}, {"o": QueryState(3, 999.5, operators=operators)})
    assert metrics.values()["queries"]["o"]["stateRows"] is None
    assert " | state 0.0 MB | " in status(metrics.values())
    lines = _served(metrics)
    assert 'streamtable_operatorStateBytes{operator="1-join",query="o"} 60.0' in lines
    assert "StateRows" not in lines
    assert "stateRows" not in lines


def test_a_watermark_at_the_end_of_time_is_not_served() -> None:
    metrics = JobMetrics(Clock(), Clock())
    metrics.take({}, {"o": QueryState(3, 999.5, "+292278994-08-17T07:12:55.807Z")})
    assert "streamtable_watermark" not in _served(metrics)


def test_every_metric_is_declared() -> None:
    """An undeclared metric of `values` would be missing in Prometheus and in the docs."""
    counts = dict.fromkeys((*COUNTED_IN, *COUNTED_OUT), 1)
    table = TableCounts(
        counts, last_read=(1, 2), sending=(1, 2), reads=True, writes=True, pending=0
    )
    metrics = JobMetrics(Clock(), Clock())
    metrics.take({"t": table}, {"o": QueryState(1, 0.0)})
    metrics.take_proofs({"o": ProofState(998.0, 3, 0, 1)})
    values = metrics.values()
    assert set(values["tables"]["t"]) - set(BY_NAME) == set()
    assert set(values["queries"]["o"]) - set(BY_NAME) == {"operators"}


def test_a_port_that_is_taken() -> None:
    collector = JobCollector(JobMetrics(), "j", {})
    with (
        serve(collector, "127.0.0.1", 0) as port,
        pytest.raises(StreamtableError) as taken,
        serve(collector, "127.0.0.1", port),
    ):
        pass
    assert taken.value.condition is Condition.PORT_TAKEN


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_status_shows_the_mode_and_only_a_known_watermark() -> None:
    metrics = JobMetrics(Clock(), Clock())
    early = _watermark("1970-01-01T00:00:00.000Z")
    metrics.take({}, {"o": QueryState(1, 0.0, early, mode="real-time")})
    assert " | real-time | state " in status(metrics.values())
    metrics.take({}, {"o": QueryState(1, 0.0, "2026-01-01T00:00:00.000Z", mode="micro-batch")})
    assert " | micro-batch | watermark 2026-01-01T00:00:00.000Z | " in status(metrics.values())


def test_summary() -> None:
    metrics = JobMetrics(Clock(), Clock())
    read = TableCounts({"recordsIn": 1_200, "parseErrors": 2, "fieldErrors": 1}, reads=True)
    wrote = TableCounts({"recordsOut": 7, "lateRows": 3}, writes=True)
    metrics.take({"t": read, "o": wrote}, {})
    assert summary(metrics.values(), 12.34, "/x") == [
        "t: read 1,200, skipped 2 records",
        "o: wrote 7, skipped 3 records",
        "ran for 12.3 s; checkpoint at /x",
    ]
    assert summary({"tables": {}, "queries": {}}, 1.0, None) == [
        "ran for 1.0 s; no checkpoint is kept"
    ]


def test_status_line() -> None:
    clock = Clock()
    metrics = JobMetrics(clock, clock)
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
