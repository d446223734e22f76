"""The end of a job stops every query and keeps its cause."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from streamtable.core.errors import Condition, StreamtableError, singles
from streamtable.runtime import run_queries
from streamtable.runtime.run_queries import JobObserver, stop_all


class _Query:
    """Stands for a Spark query that stops, or fails to stop."""

    def __init__(self, *, ends: bool) -> None:
        self.ends = ends
        self.asked = 0

    def stop(self) -> None:
        self.asked += 1
        if not self.ends:
            raise StreamtableError(Condition.QUERY_NOT_STOPPED, query="a", reason="30 s are over")


def test_all_queries_are_stopped_and_a_timeout_is_reported() -> None:
    queries: list[Any] = [_Query(ends=True), _Query(ends=False), _Query(ends=True)]
    notices: list[str] = []
    stop_all(queries, notices.append)
    assert [query.asked for query in queries] == [1, 1, 1]
    assert notices == ["QUERY_NOT_STOPPED: query a did not stop: 30 s are over"]


class _Failing:
    """Stands for a query that fails while the job stops."""

    def __init__(self, error: StreamtableError | None = None) -> None:
        self.error = error
        self.finished = self.stopped = False

    def start(self) -> None:
        pass

    def finish(self, _: float) -> None:
        self.finished = True
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        self.stopped = True


class _Monitor:
    """Stands for the monitor of a job whose query may fail."""

    error: StreamtableError | None = None
    closed = 0

    def __init__(self, *_: Any) -> None:
        pass

    def until_end(self, _: threading.Event) -> None:
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        type(self).closed += 1
        raise _full()


def _full() -> StreamtableError:
    return StreamtableError(Condition.CHECKPOINT_UNREADABLE, checkpoint="c", reason="disk is full")


def _failed(sink: str) -> StreamtableError:
    return StreamtableError(Condition.JOB_FAILED, sink=sink, reason="the broker is gone")


def _run(monkeypatch: pytest.MonkeyPatch, queries: list[Any], *, stop: bool) -> StreamtableError:
    """Run queries whose checkpoint can no longer be written; return the error of the job."""

    def keep(*_: Any) -> None:
        raise _full()

    monkeypatch.setattr(run_queries, "JobMonitor", _Monitor)
    monkeypatch.setattr(run_queries, "keep_watermarks", keep)
    monkeypatch.setattr(_Monitor, "closed", 0)
    marks: Any = SimpleNamespace(committed=lambda: {"q/t/0": 1}, of_splits=None)
    context: Any = SimpleNamespace(
        watermarks=marks,
        bridge=None,
        counters={},
        bounded=False,
        settings={run_queries.STATE_ROWS: 0},
    )
    alignment: Any = SimpleNamespace(end=lambda: None)
    observer = JobObserver()
    if stop:
        observer.stop.set()
    unused: Any = None
    with pytest.raises(StreamtableError) as raised:
        run_queries.run_queries(
            {}, queries, context, unused, lambda _: None, observer, alignment, unused
        )
    assert _Monitor.closed == 1
    assert all(query.stopped for query in queries)
    return raised.value


def test_errors_while_stopping_do_not_replace_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Monitor, "error", _failed("a"))
    assert _run(monkeypatch, [_Failing(), _Failing()], stop=False).condition is Condition.JOB_FAILED


def test_queries_that_fail_while_the_job_stops_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = [_Failing(_failed("a")), _Failing(), _Failing(_failed("b"))]
    found = _run(monkeypatch, queries, stop=True)
    assert [error.values["sink"] for error in singles(found)] == ["a", "b"]
    assert all(query.finished for query in queries)


def test_a_stop_without_a_cause_reports_its_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _run(monkeypatch, [_Failing()], stop=True)
    assert found.condition is Condition.CHECKPOINT_UNREADABLE
