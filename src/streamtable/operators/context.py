"""What every operator needs to be lowered."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from streamtable.core.options import Settings
from streamtable.core.settings import ExecutionMode
from streamtable.jvm.bridge import Bridge, Counters


@dataclass(frozen=True)
class LoweringContext:
    """One job's Spark session and choices.

    Attributes:
        settings: the session's settings.
        counters: what is counted, by table: records left out, written, lost.
        mode: micro-batch or real-time; the latter takes nothing that waits for a whole batch.
        bounded: whether the job reads what the topics hold now and stops.
    """

    spark: SparkSession
    bridge: Bridge
    settings: Settings
    bounded: bool = False
    mode: ExecutionMode = ExecutionMode.MICRO_BATCH
    counters: dict[str, Counters] = field(default_factory=dict)

    def counters_of(self, table: str) -> Counters:
        """The counters of one table, new ones at the first call."""
        if table not in self.counters:
            self.counters[table] = self.bridge.counters()
        return self.counters[table]
