"""How far the partitions of scans have come in event time, as the driver knows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.maps import numbers


@dataclass(frozen=True)
class Heard:
    """What is known of one partition.

    Attributes:
        times: in how many tasks it has had records; it rises with every batch that had some.
        watermark: in milliseconds; None where none of its records has shown one.
    """

    times: int
    watermark: int | None


@dataclass(frozen=True)
class ScanWatermarks:
    """The watermarks of the partitions of one scan; `name` is "query/number".

    Attributes:
        partitions: "topic/partition" of all that the scan waits for.
    """

    name: str
    bridge: Bridge
    java: Any
    partitions: tuple[str, ...]

    def shown(self, columns: Sequence[Column]) -> Column:
        """(topic, partition, microseconds) of each row -> its watermark in milliseconds."""
        return self.bridge.watermark(self.java, columns)

    def known(self, topic: str, partition: int) -> Column:
        """How far a partition has come before the batch, in milliseconds."""
        return self.bridge.known_watermark(self.java, f"{topic}/{partition}")


@dataclass
class Watermarks:
    """The watermarks of every partition of every scan that has an event time.

    Spark keeps the watermark of a query across restarts, but not those of the partitions that it
    is the least of; each partition is given back what earlier batches and runs have seen of it.

    Attributes:
        known: "query/number/topic/partition" -> milliseconds, of earlier runs.
    """

    known: Mapping[str, int] = field(default_factory=dict)
    _scans: dict[tuple[str, int], ScanWatermarks] = field(default_factory=dict)

    def of(
        self,
        query: str,
        scan: object,
        bridge: Bridge,
        partitions: Iterable[tuple[str, int]],
    ) -> ScanWatermarks:
        """Those of a scan of a query; the same ones each time that its plan is lowered."""
        key = (query, id(scan))
        if key not in self._scans:
            name = f"{query}/{sum(other == query for other, _ in self._scans)}"
            prefix = f"{name}/"
            own = {
                partition.removeprefix(prefix): value
                for partition, value in self.known.items()
                if partition.startswith(prefix)
            }
            java = bridge.partition_watermarks(own)
            self._scans[key] = ScanWatermarks(
                name, bridge, java, tuple(f"{topic}/{number}" for topic, number in partitions)
            )
        return self._scans[key]

    def seen(self) -> dict[str, int]:
        """What is known now, in the form of `known`."""
        found = dict(self.known)
        for scan in self._scans.values():
            for partition, watermark in numbers(scan.java.value()).items():
                found[f"{scan.name}/{partition}"] = watermark
        return found

    def heard(self, query: str) -> dict[str, dict[str, Heard]]:
        """What is known of each partition of each scan of a query; callable from any thread."""
        found = {}
        for (owner, _), scan in list(self._scans.items()):
            if owner == query:
                times, marks = numbers(scan.java.heard()), numbers(scan.java.value())
                found[scan.name] = {
                    p: Heard(times.get(p, 0), marks.get(p)) for p in scan.partitions
                }
        return found

    def of_partitions(self, query: str) -> dict[str, int]:
        """How far each partition that a query watches has come: "topic-partition" -> epoch ms.

        A partition that has shown no event time is missing; one that several scans of the query
        read has come as far as the least of them says. For metrics; callable from any thread.
        """
        found: dict[str, int] = {}
        for (owner, _), scan in list(self._scans.items()):
            if owner != query:
                continue
            for name, watermark in numbers(scan.java.value()).items():
                topic, partition = name.rsplit("/", 1)
                known = found.get(f"{topic}-{partition}", watermark)
                found[f"{topic}-{partition}"] = min(known, watermark)
        return found
