"""What every operator needs to be lowered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.options import Settings
from streamtable.core.settings import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.counters import Counters
from streamtable.jvm.watermarks import Watermarks
from streamtable.plan.source_nodes import Scan


class Scanned(Protocol):
    """Tables that are not read from Kafka."""

    def rows(self, scan: Scan, *, positions: bool, partitions: bool) -> DataFrame:
        """Row kind and fields; then Kafka's partition and offset; then topic and partition."""

    def partitions(self, table: KafkaTable) -> Iterable[tuple[str, int]]:
        """Topics and partitions of a table."""


@dataclass(frozen=True)
class LoweringContext:
    """One job's Spark session and choices.

    Attributes:
        settings: the session's settings.
        counters: what is counted, by table: records left out, written, lost.
        directory: the checkpoint's; a job that reads VALUES has one.
        scanned: tables that are read from elsewhere than from Kafka, all or none.
        rehearsed: whether there is no streaming query that could have a watermark; that of each
            partition is still observed.
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
    scanned: Scanned | None = None
    rehearsed: bool = False
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
