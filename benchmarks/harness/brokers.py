"""Broker of a benchmark, configured for long runs instead of a fast start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streamtable.devbroker.broker import Broker

#: JVM options of Kafka's own start script.
_JAVA = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
)
_HEAP_MB = 1_024
#: Settings with which a broker does nothing in the background.
QUIET = {"log.retention.check.interval.ms": "86400000", "log.cleaner.enable": "false"}


def broker(folder: Path, config: Mapping[str, str] | None = None) -> Broker:
    """Return a broker, as a context manager, in a new subfolder."""
    return Broker(folder / "kafka", heap_mb=_HEAP_MB, java=_JAVA, config=config)
