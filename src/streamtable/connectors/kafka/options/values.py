"""Values of a table that several options decide together, such as the start of a scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from streamtable.connectors.kafka.options.options import BoundedMode, StartupMode


def addresses(servers: str) -> str:
    """Return `bootstrap.servers` in one order, to compare them."""
    return ",".join(sorted(map(str.strip, servers.split(","))))


@dataclass(frozen=True)
class Startup:
    """Start position of a scan.

    Attributes:
        explicit: whether the script sets the startup mode; otherwise a bounded run falls back to
            the earliest offset.
        timestamp_ms: epoch milliseconds of the mode `timestamp`.
        offsets: partition -> offset of the mode `specific-offsets`, inclusive.
    """

    mode: StartupMode
    explicit: bool = False
    timestamp_ms: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Bound:
    """End position of a scan.

    Attributes:
        timestamp_ms: epoch milliseconds of the mode `timestamp`, exclusive.
        offsets: partition -> offset of the mode `specific-offsets`, exclusive.
        ends: (topic, partition) -> end offset, exclusive, if the mode has been applied.
    """

    mode: BoundedMode
    timestamp_ms: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)
    ends: Mapping[tuple[str, int], int] | None = None


@dataclass(frozen=True)
class Discovery:
    """Discovery of new topics and partitions.

    Attributes:
        interval: the longest interval between discoveries; None if the script does not set it.
    """

    pattern: str | None = None
    interval: timedelta | None = None


@dataclass(frozen=True)
class Range:
    """The records that a scan reads, if neither the options nor a checkpoint decide it.

    Attributes:
        begins: (topic, partition) -> offset of the first record. Other partitions are read from the
            earliest offset; if it is empty, the startup options apply.
        ends: (topic, partition) -> end offset, exclusive; other partitions are not read.
    """

    begins: Mapping[tuple[str, int], int]
    ends: Mapping[tuple[str, int], int]


@dataclass(frozen=True)
class NewTopic:
    """Settings of a sink topic that the job creates; None is the brokers' default."""

    partitions: int | None = None
    replication: int | None = None
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Buffer:
    """Buffer flush settings of the sink; the buffer is off unless both are above zero."""

    max_rows: int = 0
    interval: timedelta = timedelta(0)
