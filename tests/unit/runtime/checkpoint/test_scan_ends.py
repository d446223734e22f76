"""The ends of bounded scans that later runs of a checkpoint keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint import scan_ends
from streamtable.runtime.checkpoint.scan_ends import FILE, ScanEnds

_ANY: Any = None


@dataclass(frozen=True)
class _Scan:
    """A scan with a bound, over a split whose committed offset is `now`."""

    table: str
    kept_bound: str | None
    now: int
    ended: int | None = None

    def scan_ends(self, _: object) -> Mapping[str, int]:
        return {"t/0": self.now}

    def ended_at(self, ends: Mapping[str, int]) -> _Scan:
        return replace(self, ended=ends["t/0"])


#: Scans of each run, as (table, bound, committed offset), and the ends in the last run.
RUNS: dict[str, tuple[Sequence[Sequence[tuple[str, str | None, int]]], list[int]]] = {
    "the same bound": ([[("a", "g", 9)], [("a", "g", 5)]], [9]),
    "another bound": ([[("a", "g", 9)], [("a", "h", 5)]], [5]),
    "another bound in between": ([[("a", "g", 9)], [("a", "h", 7)], [("a", "g", 5)]], [5]),
    "no kept bound": ([[("a", None, 9)], [("a", None, 5)]], [5]),
    "no kept bound in between": ([[("a", "g", 9)], [("a", None, 7)], [("a", "g", 5)]], [5]),
    "a run without the table": ([[("a", "g", 9)], [("b", "g", 7)], [("a", "g", 5)]], [9]),
    "two bounds of a table": (
        [[("a", "g", 9), ("a", "h", 8)], [("a", "g", 5), ("a", "h", 4)]],
        [9, 8],
    ),
}


@pytest.mark.parametrize(("runs", "expected"), RUNS.values(), ids=RUNS)
def test_ends_of_later_runs(
    runs: Sequence[Sequence[tuple[str, str | None, int]]],
    expected: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scan_ends, "source_of", lambda table: table)
    found: list[int | None] = []
    for run in runs:
        ends = ScanEnds(tmp_path, _ANY)
        found = [_ended(ends, _Scan(*each)) for each in run]
        ends.keep()
    assert found == expected


def test_the_ends_of_a_run_are_determined_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan, asked = _Scan("a", None, 9), []
    monkeypatch.setattr(scan_ends, "source_of", lambda table: table)
    monkeypatch.setattr(_Scan, "scan_ends", lambda *_: asked.append(1) or {"t/0": 9})
    ends = ScanEnds(tmp_path, _ANY)
    assert [_ended(ends, scan), _ended(ends, scan)] == [9, 9]
    assert len(asked) == 1
    ends.keep()
    assert not (tmp_path / FILE).exists()


def test_a_file_without_content_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("")
    with pytest.raises(StreamtableError, match="is not complete") as refused:
        ScanEnds(tmp_path, _ANY)
    assert refused.value.condition is Condition.CHECKPOINT_UNREADABLE


def _ended(ends: ScanEnds, scan: _Scan) -> int | None:
    return cast(_Scan, ends.source_of(cast(Any, scan))).ended
