"""Two scans of one topic begin at one offset, or the query is neither rebuilt nor adopted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamtable.runtime.adopt import ranges as adopt_ranges
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.runtime.adopt.ranges import adopted_range
from streamtable.runtime.upgrade import ranges
from streamtable.runtime.upgrade.ranges import read_range

_ANY: Any = None


@dataclass
class _Scan:
    """A scan of topic `t`, which has one partition with offsets 0 to 9."""

    begin: int
    table: str = "events"
    is_bounded: bool = False

    def begins_of(self, _: object) -> Mapping[str, int]:
        return {"t/0": 0}

    def ends_of(self, *_: object) -> Mapping[str, int]:
        return {"t/0": 10}

    def first_positions(self, _: object) -> Mapping[str, int]:
        return {"t/0": self.begin}

    def positions(self, reached: Iterable[str | None]) -> Mapping[str, int]:
        return {"t/0": min(json.loads(text)["t"]["0"] for text in reached if text)}


#: The first offsets of the scans of a query, and the reason of the refusal.
BEGINS = {
    "one scan": ([3], None),
    "two alike": ([3, 3], None),
    "two others": (
        [0, 3],
        "events: the query reads partition 0 of topic 't' twice, from offset 0 and from offset 3",
    ),
}


@pytest.mark.parametrize("case", BEGINS)
def test_scans_of_one_topic(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begins, reason = BEGINS[case]
    for module in (ranges, adopt_ranges):
        monkeypatch.setattr(module, "sources_of", lambda _: [_Scan(begin) for begin in begins])
    for place, begin in enumerate(begins):
        file = tmp_path / "sources" / str(place) / "0"
        file.parent.mkdir(parents=True)
        file.write_text(f'\0v1\n{{"t":{{"0":{begin}}}}}')
    for name in ("offsets", "commits"):
        (tmp_path / name).mkdir()
        last = '{"t":{"0":8}}\n' * len(begins)
        (tmp_path / name / "0").write_text(f"v1\n{{}}\n{last}")
    found = read_range(tmp_path, _ANY, _ANY)
    assert found.lost == reason
    if reason is None:
        assert (found.begins, found.ends) == ({"t/0": 3}, {"t/0": 8})
    assert adopted_range(_ANY, AdoptOptions(str(tmp_path)), _ANY).lost == reason
