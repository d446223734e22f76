"""`table.exec.source.idle-timeout` and `scan.watermark.idle-timeout`: idle partitions.

Idle partitions do not hold the watermark back.

Source of the rules: Flink's `WatermarksWithIdleness` and `StatusWatermarkValve`. The watermark is
the minimum over the partitions that are not idle. If all partitions of a table are idle, the
watermark is their maximum, which cannot change until records arrive again. A partition with new
records becomes active again. Until its watermark has caught up with the emitted watermark, the
emitted watermark does not advance, and late rows of the partition are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamtable.jvm.streaming.watermarks import SplitActivity


@dataclass
class IdleSplits:
    """Idle partitions of one query. Times are seconds of a monotonic clock.

    Attributes:
        begun: start time of the query. A partition without any records is inactive from this time
            on.
    """

    begun: float
    _times: dict[tuple[str, str], int] = field(default_factory=dict)
    _active: dict[tuple[str, str], float] = field(default_factory=dict)
    _started: bool = False

    def record(self, scans: Mapping[str, Mapping[str, SplitActivity]], now: float) -> None:
        """Record which splits have had records, by scan and split.

        The idle time of a split that appears later begins at its appearance at the earliest. A
        split with unread records is not idle.
        """
        for scan, splits in scans.items():
            for split, activity in splits.items():
                appeared = self._started and (scan, split) not in self._times
                busy = activity.unread or activity.times != self._times.get((scan, split), 0)
                if appeared or busy:
                    self._active[scan, split] = now
                self._times[scan, split] = activity.times
        self._started = True

    def watermark(
        self,
        scans: Mapping[str, Mapping[str, SplitActivity]],
        timeouts: Mapping[str, float],
        read_to: float,
    ) -> int | None:
        """Return the watermark without idle partitions, in ms; None if an active one has none yet.

        Args:
            scans: the activity of each partition of each scan of the query.
            timeouts: scan -> seconds without records after which its partitions are idle; 0: never.
            read_to: the query has read all records that arrived before this time.
        """
        found = {
            name: self._of_scan(name, scan, timeouts[name], read_to) for name, scan in scans.items()
        }
        busy = [watermark for watermark, idle in found.values() if not idle]
        counting = busy or [watermark for watermark, _ in found.values()]
        known = [watermark for watermark in counting if watermark is not None]
        return min(known) if known and len(known) == len(counting) else None

    def _of_scan(
        self, name: str, scan: Mapping[str, SplitActivity], timeout: float, read_to: float
    ) -> tuple[int | None, bool]:
        """Return the watermark of a scan, and whether all of its partitions are idle."""
        since = {p: read_to - self._active.get((name, p), self.begun) for p in scan}
        busy = [a for p, a in scan.items() if not 0 < timeout <= since[p]]
        if busy:
            marks = [activity.watermark for activity in busy if activity.watermark is not None]
            return (min(marks) if len(marks) == len(busy) else None), False
        marks = [activity.watermark for activity in scan.values() if activity.watermark is not None]
        return max(marks, default=None), True
