"""The watermark of a query while partitions are idle."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.jvm.streaming.watermarks import SplitActivity
from streamtable.runtime.query.idle_splits import IdleSplits

Scans = Mapping[str, Mapping[str, SplitActivity]]

#: Idle timeouts of up to two scans, in seconds.
_TEN = {"q/0": 10.0, "q/1": 10.0}


def _scans(*scans: tuple[SplitActivity, ...]) -> Scans:
    return {f"q/{i}": {f"t/{p}": h for p, h in enumerate(scan)} for i, scan in enumerate(scans)}


def test_partitions_hold_the_watermark_until_the_idle_timeout() -> None:
    idle = IdleSplits(begun=0)
    scans = _scans((SplitActivity(1, 100), SplitActivity(1, 20), SplitActivity(0, None)))
    idle.record(scans, now=5)
    assert idle.watermark(scans, _TEN, read_to=9.9) is None  # the third has no watermark yet
    assert idle.watermark(scans, _TEN, read_to=10) == 20
    later = _scans((SplitActivity(2, 200), SplitActivity(1, 20), SplitActivity(0, None)))
    idle.record(later, now=12)
    assert idle.watermark(later, _TEN, read_to=14.9) == 20
    assert idle.watermark(later, _TEN, read_to=15) == 200
    # A partition with new records is active again, whatever its watermark.
    back = _scans((SplitActivity(2, 200), SplitActivity(2, 30), SplitActivity(0, None)))
    idle.record(back, now=16)
    assert idle.watermark(back, _TEN, read_to=16) == 30
    # Only the time up to `read_to` counts as idle: later records may not be read yet.
    assert idle.watermark(back, _TEN, read_to=15) == 30


def test_the_greatest_watermark_is_used_if_all_splits_are_idle() -> None:
    idle = IdleSplits(begun=0)
    scans = _scans((SplitActivity(1, 100), SplitActivity(1, 20)))
    idle.record(scans, now=1)
    assert idle.watermark(scans, _TEN, read_to=11) == 100
    assert idle.watermark(_scans((SplitActivity(0, None),)), _TEN, read_to=11) is None


def test_an_idle_table_does_not_hold_back_the_watermark() -> None:
    idle = IdleSplits(begun=0)
    scans = _scans((SplitActivity(1, 100),), (SplitActivity(0, None), SplitActivity(0, None)))
    idle.record(scans, now=8)
    assert idle.watermark(scans, _TEN, read_to=9) is None
    assert idle.watermark(scans, _TEN, read_to=10) == 100
    # Both tables are idle: the watermark is the smaller of their watermarks.
    both = _scans((SplitActivity(1, 100),), (SplitActivity(1, 70),))
    idle.record(both, now=9)
    assert idle.watermark(both, _TEN, read_to=30) == 70


def test_a_new_partition_with_unread_records_is_not_idle() -> None:
    idle = IdleSplits(begun=0)
    idle.record(_scans((SplitActivity(1, 100),)), now=5)
    unread = _scans((SplitActivity(2, 200), SplitActivity(0, None, unread=True)))
    for now in (20, 40):
        idle.record(unread, now)
        # A partition with unread records is not idle, however long the read takes.
        assert idle.watermark(unread, _TEN, read_to=now) is None
    read = _scans((SplitActivity(3, 300), SplitActivity(1, 50)))
    idle.record(read, now=45)
    assert idle.watermark(read, _TEN, read_to=54.9) == 50


def test_each_table_has_its_own_timeout() -> None:
    idle = IdleSplits(begun=0)
    scans = _scans((SplitActivity(1, 100), SplitActivity(1, 20)), (SplitActivity(1, 70),))
    idle.record(scans, now=1)
    assert idle.watermark(scans, {"q/0": 0, "q/1": 5}, read_to=99) == 20
    assert idle.watermark(scans, {"q/0": 5, "q/1": 0}, read_to=99) == 70
    assert idle.watermark(scans, {"q/0": 5, "q/1": 99}, read_to=99) == 70
