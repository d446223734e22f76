"""Watermarks of the splits of scans, as the driver knows them.

A split is a part of a source that is read in order, such as a partition of a topic. Its id is a
text "name/number".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pyspark.sql import Column

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.maps import numbers


@dataclass(frozen=True)
class SplitActivity:
    """The known watermark of one split.

    Attributes:
        times: the number of tasks with records of the split; it increases with every batch that has
            records of the split.
        watermark: at the end of the newest batch, in milliseconds; None if no record of the split
            has given one.
        unread: whether the split has appeared while the job runs, with records that no batch has
            read.
    """

    times: int
    watermark: int | None
    unread: bool = False


@dataclass(frozen=True)
class FoundSplits:
    """The splits of a scan.

    Attributes:
        first: the ids of the splits that exist when the job starts.
        later: the Java `Splits` that finds new splits while the job runs; None if no splits are
            added.
    """

    first: tuple[str, ...]
    later: Any = None


@dataclass(frozen=True)
class ScanWatermarks:
    """The watermarks of the splits of one scan.

    Attributes:
        name: "query/number".
        idle_timeout: time without records after which a split is idle; None: the setting's.
    """

    name: str
    bridge: Bridge
    java: Any
    idle_timeout: timedelta | None = None

    def observed(self, columns: Sequence[Column]) -> Column:
        """Observe each row; the value is the same for all rows, below every watermark.

        Args:
            columns: the name and the number of the row's split, and its watermark in microseconds.
        """
        return self.bridge.observed(self.java, columns)


@dataclass
class Watermarks:
    """The watermarks of every split of every scan that has an event time.

    Spark keeps the watermark of a query across restarts. This watermark is the minimum of its
    splits; Spark does not keep those of the splits. This class restores the watermark of each split
    from earlier batches and runs.

    Attributes:
        known: "query/number/split" -> milliseconds, from earlier runs.
    """

    known: Mapping[str, int] = field(default_factory=dict)
    _scans: dict[tuple[str, int], ScanWatermarks] = field(default_factory=dict)

    def of(
        self,
        query: str,
        scan: object,
        bridge: Bridge,
        splits: Callable[[], FoundSplits],
        idle_timeout: timedelta | None,
    ) -> ScanWatermarks:
        """Return the watermarks of a query's scan; the same object each time its plan is lowered.

        Args:
            query: the name of the query.
            scan: a node of the query's plan.
            bridge: the JVM side.
            splits: finds the splits of the scan; called once.
            idle_timeout: the idle timeout of the scan, if it has its own.
        """
        key = (query, id(scan))
        if key not in self._scans:
            name = f"{query}/{sum(other == query for other, _ in self._scans)}"
            prefix = f"{name}/"
            own = {
                split.removeprefix(prefix): value
                for split, value in self.known.items()
                if split.startswith(prefix)
            }
            found = splits()
            java = bridge.split_watermarks(own, found.first, found.later)
            self._scans[key] = ScanWatermarks(name, bridge, java, idle_timeout)
        return self._scans[key]

    def idle_timeouts(self, query: str, default: timedelta) -> dict[str, float]:
        """Return the idle timeout of each scan of a query, in seconds; 0: its splits never are."""
        timeouts = {scan.name: scan.idle_timeout for scan in self._of(query)}
        return {
            name: (default if timeout is None else timeout).total_seconds()
            for name, timeout in timeouts.items()
        }

    def committed(self) -> dict[str, int]:
        """Return the watermarks at the newest commit of each query, in the form of `known`."""
        found = dict(self.known)
        for scan in self._scans.values():
            for split, watermark in numbers(scan.java.committed()).items():
                found[f"{scan.name}/{split}"] = watermark
        return found

    def activity(self, query: str) -> dict[str, dict[str, SplitActivity]]:
        """Return the state of each split of each scan of a query; callable from any thread."""
        found = {}
        for scan in self._of(query):
            marks = numbers(scan.java.settled())
            found[scan.name] = {
                split: SplitActivity(max(times, 0), marks.get(split), unread=times < 0)
                for split, times in numbers(scan.java.heard()).items()
            }
        return found

    def settle(self, query: str, batch: int) -> None:
        """Apply the watermarks of a batch, if there is no streaming query that does it itself."""
        for scan in self._of(query):
            scan.java.settle(batch, None)

    def of_splits(self, query: str) -> dict[str, int]:
        """Return the watermark of each split of a query: "name-number" -> epoch ms.

        A split without an event time is missing. For a split that several scans of the query read,
        the minimum counts. For metrics; callable from any thread.
        """
        found: dict[str, int] = {}
        for scan in self._of(query):
            for split, watermark in numbers(scan.java.settled()).items():
                name = "-".join(split.rsplit("/", 1))
                found[name] = min(found.get(name, watermark), watermark)
        return found

    def close(self) -> None:
        """Note that the job is over; the watermarks stay available."""
        for scan in self._scans.values():
            scan.java.close()

    def _of(self, query: str) -> list[ScanWatermarks]:
        return [scan for (owner, _), scan in list(self._scans.items()) if owner == query]
