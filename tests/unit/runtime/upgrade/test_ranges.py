"""The records that a rebuild or an adoption reads, and records that it cannot read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamtable.runtime.adopt import ranges as adopt_ranges
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.runtime.adopt.ranges import adopted_range
from streamtable.runtime.upgrade import ranges
from streamtable.runtime.upgrade.ranges import keep_first, read_range

_ANY: Any = None


@dataclass
class _Scan:
    """A scan of topic `t`, which has one partition with offsets 0 to 9."""

    begin: int
    kept: int = 0
    table: str = "events"
    is_bounded: bool = False

    def begins_of(self, _: object) -> Mapping[str, int]:
        return {"t/0": self.kept}

    def ends_of(self, *_: object) -> Mapping[str, int]:
        return {"t/0": 10}

    def first_positions(self, _: object) -> Mapping[str, int]:
        return {"t/0": self.begin}

    def positions(self, reached: Iterable[str | None], _: object) -> Mapping[str, int]:
        return {"t/0": min(json.loads(text)["t"]["0"] for text in reached if text)}


def _query(folder: Path, begins: Sequence[int]) -> None:
    """Write the directory of a query that has read from these offsets to offset 8."""
    for place, begin in enumerate(begins):
        file = folder / "sources" / str(place) / "0"
        file.parent.mkdir(parents=True)
        file.write_text(f'\0v1\n{{"t":{{"0":{begin}}}}}')
    for name in ("offsets", "commits"):
        (folder / name).mkdir()
        last = '{"t":{"0":8}}\n' * len(begins)
        (folder / name / "0").write_text(f"v1\n{{}}\n{last}")


#: First offset of each scan of a query, and the reason of the refusal.
BEGINS = {
    "one scan": ([3], None),
    "two alike": ([3, 3], None),
    "two others": (
        [0, 3],
        "events: the query reads partition 0 of topic 't' twice, from offset 0 and from offset 3",
    ),
}


@pytest.mark.parametrize("times", [1, 2])
def test_a_rebuild_after_from_now_begins_at_the_first_run(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebuild begins where the first run began, or names the records that are gone."""
    scan = _Scan(0)
    monkeypatch.setattr(ranges, "sources_of", lambda _: [scan])
    folders = [tmp_path / str(number) for number in range(times + 1)]
    for number, folder in enumerate(folders):
        _query(folder, [number * 3])
        if number:
            keep_first(folders[number - 1], folder)
    found = read_range(folders[-1], _ANY, _ANY)
    assert (found.begins, found.ends, found.lost) == ({"t/0": 0}, {"t/0": 8}, None)
    scan.kept = 2
    lost = "has no records before offset 2 any more, and the first run read from offset 0"
    assert lost in (read_range(folders[-1], _ANY, _ANY).lost or "")


@pytest.mark.parametrize("case", BEGINS)
def test_scans_of_one_topic(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begins, reason = BEGINS[case]
    for module in (ranges, adopt_ranges):
        monkeypatch.setattr(module, "sources_of", lambda _: [_Scan(begin) for begin in begins])
    _query(tmp_path, begins)
    found = read_range(tmp_path, _ANY, _ANY)
    assert found.lost == reason
    if reason is None:
        assert (found.begins, found.ends) == ({"t/0": 3}, {"t/0": 8})
    assert adopted_range(_ANY, AdoptOptions(str(tmp_path)), _ANY).lost == reason
