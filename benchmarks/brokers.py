"""The broker of a benchmark: as one runs for long, not as one starts quickly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streamtable.devbroker.broker import Broker

#: Those of Kafka's own start script.
_JAVA = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
)
_HEAP_MB = 1_024


def broker(folder: Path, config: Mapping[str, str] | None = None) -> Broker:
    """A broker in a folder of its own there, to be entered."""
    return Broker(folder / "kafka", heap_mb=_HEAP_MB, java=_JAVA, config=config)
