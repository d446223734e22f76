"""`table.exec.source.idle-timeout`: partitions without records that no watermark waits for.

Source of the rules: Flink's `WatermarksWithIdleness` and `StatusWatermarkValve`. The least of the
partitions that are not idle counts. Where all of a table's are, the greatest does: it will not
change before there are records again. A partition that comes back counts again; until it has
caught up with what was given, it holds the watermark where that is, and its late rows are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamtable.jvm.watermarks import Heard


@dataclass
class IdlePartitions:
    """Which partitions of one query are idle; moments are seconds of a clock that never goes back.

    Attributes:
        timeout: seconds without records after which a partition is idle.
        begun: when the query started; a partition that has shown nothing is silent since then.
    """

    timeout: float
    begun: float
    _heard: dict[tuple[str, str], int] = field(default_factory=dict)
    _active: dict[tuple[str, str], float] = field(default_factory=dict)

    def hear(self, scans: Mapping[str, Mapping[str, Heard]], now: float) -> None:
        """Takes in which partitions have had records, by scan and partition."""
        for scan, partitions in scans.items():
            for partition, heard in partitions.items():
                if heard.times != self._heard.get((scan, partition), 0):
                    self._heard[scan, partition] = heard.times
                    self._active[scan, partition] = now

    def watermark(self, scans: Mapping[str, Mapping[str, Heard]], read_to: float) -> int | None:
        """The watermark without the idle partitions, in ms; None where a busy one has shown none.

        Args:
            scans: what is known of each partition of each scan of the query.
            read_to: all records that had come by then have been read.
        """
        found = {name: self._of_scan(name, scan, read_to) for name, scan in scans.items()}
        busy = [watermark for watermark, idle in found.values() if not idle]
        counting = busy or [watermark for watermark, _ in found.values()]
        known = [watermark for watermark in counting if watermark is not None]
        return min(known) if known and len(known) == len(counting) else None

    def _of_scan(
        self, name: str, scan: Mapping[str, Heard], read_to: float
    ) -> tuple[int | None, bool]:
        """Its watermark, and whether all of its partitions are idle."""
        busy = [heard for p, heard in scan.items() if not self._is_idle((name, p), read_to)]
        if busy:
            marks = [heard.watermark for heard in busy if heard.watermark is not None]
            return (min(marks) if len(marks) == len(busy) else None), False
        marks = [heard.watermark for heard in scan.values() if heard.watermark is not None]
        return max(marks, default=None), True

    def _is_idle(self, partition: tuple[str, str], read_to: float) -> bool:
        return read_to - self._active.get(partition, self.begun) >= self.timeout
