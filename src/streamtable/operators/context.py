"""What every operator needs to be lowered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from streamtable.core.options import Settings
from streamtable.core.settings import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.counters import Counters
from streamtable.jvm.watermarks import Watermarks
from streamtable.plan.nodes import Scan


@dataclass(frozen=True)
class LoweringContext:
    """One job's Spark session and choices.

    Attributes:
        settings: the session's settings.
        counters: what is counted, by table: records left out, written, lost.
        directory: the checkpoint's; a job that reads VALUES has one.
        scanned: the rows of a scan, with their positions or without, where they come from elsewhere
            than from Kafka.
        mode: micro-batch or real-time; the latter takes nothing that waits for a whole batch.
        query: the name of the query that is lowered.
        watermarks: how far the partitions of scans with an event time have come.
        paces: what holds the query together with others that read a table, by the table's name.
        bounded: whether the job reads what the topics hold now and stops.
        patient: whether it waits for the end of a scan that its topic has not come to yet.
    """

    spark: SparkSession
    bridge: Bridge
    settings: Settings
    bounded: bool = False
    patient: bool = True
    mode: ExecutionMode = ExecutionMode.MICRO_BATCH
    directory: Path | None = None
    counters: dict[str, Counters] = field(default_factory=dict)
    scanned: Callable[[Scan, bool], DataFrame] | None = None
    query: str = ""
    paces: Mapping[str, str] = field(default_factory=dict)
    watermarks: Watermarks = field(default_factory=Watermarks)

    def one_line(self) -> str:
        """A folder that holds one file of one line, for sources that give their rows once."""
        assert self.directory is not None, "a job has a checkpoint"  # noqa: S101
        folder = self.directory / "once"
        folder.mkdir(exist_ok=True)
        (folder / "line.txt").write_text("once\n", encoding="utf-8")
        return str(folder)

    def counters_of(self, table: str) -> Counters:
        """The counters of one table, new ones at the first call."""
        if table not in self.counters:
            self.counters[table] = self.bridge.counters()
        return self.counters[table]
