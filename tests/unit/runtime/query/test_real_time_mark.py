"""The file `real-time` exists while a sink may have rows after the newest commit."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from streamtable.core.settings.execution import ExecutionMode
from streamtable.runtime.query import real_time_mark
from streamtable.runtime.query.query_run import QueryRun
from streamtable.runtime.query.query_state import State
from streamtable.runtime.query.real_time_mark import RealTimeMark, is_marked
from streamtable.session import Session

_SCRIPT = """
CREATE TABLE e (n INT) WITH ('connector' = 'kafka', 'topic' = 'e', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:1');
INSERT INTO o SELECT n FROM e;
""".replace("INSERT", "CREATE TABLE o WITH ('topic' = 'o') LIKE e (OVERWRITING OPTIONS); INSERT")


@dataclass
class _Source:
    endOffset: str  # noqa: N815 - Spark's name


@dataclass
class _Progress:
    sources: list[_Source]


@dataclass
class _Run:
    """A run of a query that has read up to an offset, or has not run a batch yet."""

    offset: int | None = None
    ends_after: int = 0
    asked: int = field(default=0, init=False)

    has_read = QueryRun.has_read

    @property
    def progress(self) -> _Progress | None:
        if self.offset is None:
            return None
        return _Progress([_Source(json.dumps({"e": {"0": self.offset}}))])

    def has_ended(self) -> bool:
        self.asked += 1
        return 0 < self.ends_after <= self.asked


class _Query:
    """The mark of a query. Each object stands for one process that runs the job."""

    def __init__(self, folder: Path) -> None:
        session = Session()
        session.load(_SCRIPT, "job.sql")
        nothing: Any = None
        self.folder = folder
        self.mark = RealTimeMark(session.plans[0], folder, nothing)

    def enter(self, state: State) -> State:
        self.mark.before_start(state.mode)
        return state

    def update(self, state: State, run: Any, *, ended: bool = False) -> bool:
        """Update the mark after a poll; return whether the mark exists."""
        self.mark.update(run, state, ended=ended)
        return is_marked(self.folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of a query, not yet created. The topic of the query ends at offset 5."""
    monkeypatch.setattr(real_time_mark, "all_ends", lambda *_: {"e/0": 5})
    return tmp_path / "o"


def test_micro_batches_have_no_mark(folder: Path) -> None:
    query = _Query(folder)
    state = query.enter(State.MICRO_BATCHES)
    assert not query.update(state, _Run(5))
    assert not folder.exists()


@pytest.mark.parametrize("restarted", [False, True])
def test_micro_batches_remove_the_mark_after_catching_up(folder: Path, *, restarted: bool) -> None:
    query = _Query(folder)
    state = query.enter(State.REAL_TIME)
    assert is_marked(folder)
    assert query.update(state, _Run(9))
    query = _Query(folder) if restarted else query
    state = query.enter(State.MICRO_BATCHES)
    assert query.update(state, _Run())
    assert query.update(state, _Run(4))
    assert not query.update(state, _Run(5))


def test_a_run_over_all_records_removes_the_mark_at_its_end(folder: Path) -> None:
    query = _Query(folder)
    query.enter(State.REAL_TIME)
    state = query.enter(State.CATCHING_UP)
    assert query.update(state, _Run(), ended=False)
    assert not query.update(state, _Run(), ended=True)
    assert query.enter(State.REAL_TIME).mode is ExecutionMode.REAL_TIME
    assert is_marked(folder)


def test_a_stop_waits_for_the_commit_of_real_time_mode(folder: Path) -> None:
    query = _Query(folder)
    query.enter(State.REAL_TIME)
    state = query.enter(State.COMMITTING)
    run: Any = _Run(ends_after=3)
    query.mark.settle(run, state, time.monotonic() + 60)
    assert not is_marked(folder)
    query.enter(State.REAL_TIME)
    late: Any = _Run()
    query.mark.settle(late, query.enter(State.COMMITTING), time.monotonic() + 0.1)
    assert is_marked(folder)
