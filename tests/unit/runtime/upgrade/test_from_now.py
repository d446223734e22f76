"""Upgrades with `--from-now`: parts that the state lacks, and sink rows that forbid the upgrade."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamtable.runtime.checkpoint.manifest.from_now import FromNow, Lacks
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.upgrade import from_now
from streamtable.runtime.upgrade.decisions import Action

_NOTHING, _VALUES = FromNow(Lacks.NOTHING), FromNow(Lacks.VALUES)
_ROWS = FromNow(Lacks.ROWS, {"t/0": 3})


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        (None, Action.CONTINUED, _NOTHING),
        (None, Action.EXTENDED_NOW, _VALUES),
        (None, Action.ANEW, FromNow(Lacks.ROWS)),
        (None, Action.REBUILT, None),
        (_NOTHING, Action.EXTENDED, None),
        (_VALUES, Action.EXTENDED, _VALUES),
        (_VALUES, Action.REBUILT, None),
        (_VALUES, Action.CONTINUED, _VALUES),
        (_ROWS, Action.CONTINUED, FromNow(Lacks.ROWS)),
        (_ROWS, Action.ANEW, FromNow(Lacks.ROWS)),
        (_ROWS, Action.REBUILT, None),
    ],
)
def test_parts_missing_in_the_state_are_recorded(
    before: FromNow | None, action: Action, after: FromNow | None
) -> None:
    noted = from_now.noted(RecordedQuery((), "", (), from_now=before), action)
    assert noted.from_now == after
    assert RecordedQuery.from_json(noted.to_json()).from_now == after


@dataclass
class _Sink:
    """A sink that is also its own rollback."""

    may_repeat: bool = True
    pending: bool = False

    def rollback(self, *_: Any, **__: Any) -> Any:
        return self


@pytest.mark.parametrize(
    ("sink", "files", "reason"),
    [
        (_Sink(), ["offsets/0", "commits/0"], None),
        (_Sink(), ["real-time"], "a run of q in real-time mode was killed, and t may have rows"),
        (_Sink(pending=True), ["real-time"], None),
        (_Sink(), ["offsets/0"], None),
        (_Sink(may_repeat=False), ["offsets/0"], "t may have rows of a batch of q that is planned"),
        (_Sink(may_repeat=False), ["offsets/0", "commits/0"], None),
    ],
)
def test_rows_after_the_last_commit(
    sink: _Sink,
    files: list[str],
    reason: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(from_now, "sink_of", lambda _: sink)
    facts: Any = SimpleNamespace(directory=tmp_path, query="q")
    plan: Any = SimpleNamespace(table=SimpleNamespace(name="t"))
    context: Any = None
    found = from_now.later_rows(facts, plan, context)
    assert found is None if reason is None else (found or "").startswith(reason)
