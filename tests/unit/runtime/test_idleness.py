"""Which watermark counts while partitions are silent."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.jvm.watermarks import Heard
from streamtable.runtime.idleness import IdlePartitions

Scans = Mapping[str, Mapping[str, Heard]]


def _scans(*scans: tuple[Heard, ...]) -> Scans:
    return {f"q/{i}": {f"t/{p}": h for p, h in enumerate(scan)} for i, scan in enumerate(scans)}


def test_a_silent_partition_counts_until_its_time_is_over() -> None:
    idle = IdlePartitions(timeout=10, begun=0)
    scans = _scans((Heard(1, 100), Heard(1, 20), Heard(0, None)))
    idle.hear(scans, now=5)
    assert idle.watermark(scans, read_to=9.9) is None  # the third has shown nothing yet
    assert idle.watermark(scans, read_to=10) == 20
    later = _scans((Heard(2, 200), Heard(1, 20), Heard(0, None)))
    idle.hear(later, now=12)
    assert idle.watermark(later, read_to=14.9) == 20
    assert idle.watermark(later, read_to=15) == 200
    # Records that come again count again, whatever they show.
    back = _scans((Heard(2, 200), Heard(2, 30), Heard(0, None)))
    idle.hear(back, now=16)
    assert idle.watermark(back, read_to=16) == 30
    # What has not been read up to then says nothing about silence.
    assert idle.watermark(back, read_to=15) == 30


def test_the_greatest_counts_where_all_are_silent() -> None:
    idle = IdlePartitions(timeout=10, begun=0)
    scans = _scans((Heard(1, 100), Heard(1, 20)))
    idle.hear(scans, now=1)
    assert idle.watermark(scans, read_to=11) == 100
    assert idle.watermark(_scans((Heard(0, None),)), read_to=11) is None


def test_a_silent_table_does_not_hold_up_another() -> None:
    idle = IdlePartitions(timeout=10, begun=0)
    scans = _scans((Heard(1, 100),), (Heard(0, None), Heard(0, None)))
    idle.hear(scans, now=8)
    assert idle.watermark(scans, read_to=9) is None
    assert idle.watermark(scans, read_to=10) == 100
    # Both silent: neither has more to say than the lesser of them.
    both = _scans((Heard(1, 100),), (Heard(1, 70),))
    idle.hear(both, now=9)
    assert idle.watermark(both, read_to=30) == 70
