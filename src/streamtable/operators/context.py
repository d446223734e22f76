"""Context that every operator needs for its lowering."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from streamtable.connector_api.endpoints import lookup_of, source_of
from streamtable.connector_api.lookup import Lookup
from streamtable.connector_api.source import Source
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.options import Settings
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.table import Table
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.shared_rows import union
from streamtable.jvm.specs.restored import RestoredQuery
from streamtable.jvm.streaming.counters import COUNTED_LOOKUPS, Counters
from streamtable.jvm.streaming.watermarks import Watermarks
from streamtable.plan.node import Node
from streamtable.plan.sink.reused_scan import bare
from streamtable.plan.source.scan import Scan, scans


class EqualParts:
    """Lowers equal parts of a query to one DataFrame, if they have state and read given scans.

    Spark runs an operator with state for each of its places in the plan, and the shuffle below it
    once for all of them.

    Args:
        reused: the scans without their columns, which the query reads once.
    """

    def __init__(self, reused: Sequence[Scan]) -> None:
        self._reused = reused
        self._lowered: list[tuple[Node, DataFrame]] = []

    def of(self, node: Node, lower: Callable[[], DataFrame]) -> DataFrame:
        """Return the DataFrame of an equal node that is already lowered, or lower the node."""
        if not node.shuffles or not all(bare(scan) in self._reused for scan in scans(node)):
            return lower()
        found = next((rows for other, rows in self._lowered if other == node), None)
        if found is None:
            found = lower()
            self._lowered.append((node, found))
        return found


@dataclass(frozen=True)
class LoweringContext:
    """Spark session and options of one job.

    Attributes:
        settings: settings of the job, or of the query that is lowered or runs.
        counters: record counters by table: omitted, written and lost records.
        directory: checkpoint directory; a job that reads VALUES has one.
        source_of: returns the source of a table.
        lookup_of: returns the lookup of a table.
        in_memory: whether the operators run without a streaming query, which could have a
            watermark. The watermark of each split is still observed.
        mode: micro-batch or real-time; real-time mode supports no operator that waits for a whole
            batch.
        query: name of the query that is lowered.
        restored: state with which the operators of the query start, if any.
        lacking: ids of state layouts that the operators must not have; see `Sink.lacking`.
        scanned: returns the rows of a scan that are already lowered, with all columns that are
            read, because the query shares the scan with others or reads it in several places; None
            for all other scans.
        equal_parts: the lowered equal parts of the query, if their scans are read once.
        watermarks: watermarks of the splits of scans with an event time.
        alignments: source alignment of the query, by the name of the table.
        one_split_per_task: whether a task of a scan must not read several splits.
        bounded: whether the job reads the current content of the sources and stops.
        patient: whether the job waits until a source has reached the end of its scan.
    """

    spark: SparkSession
    bridge: Bridge
    settings: Settings
    bounded: bool = False
    patient: bool = True
    mode: ExecutionMode = ExecutionMode.MICRO_BATCH
    directory: CheckpointPath | None = None
    counters: dict[str, Counters] = field(default_factory=dict)
    source_of: Callable[[Table], Source] = source_of
    lookup_of: Callable[[Table], Lookup] = lookup_of
    in_memory: bool = False
    query: str = ""
    one_split_per_task: bool = False
    alignments: Mapping[str, str] = field(default_factory=dict)
    restored: RestoredQuery | None = None
    lacking: frozenset[str] = frozenset()
    scanned: Callable[[Scan], DataFrame | None] = lambda _: None
    equal_parts: EqualParts | None = None
    watermarks: Watermarks = field(default_factory=Watermarks)

    def one_line(self) -> str:
        """Return a directory with one file of one line, for sources that emit their rows once."""
        assert self.directory is not None, "a job has a checkpoint"  # noqa: S101
        folder = self.directory / "once"
        folder.mkdir(exist_ok=True)
        (folder / "line.txt").write_text("once\n", encoding="utf-8")
        return str(folder)

    def union(self, inputs: Iterable[DataFrame]) -> DataFrame:
        """Return the rows of DataFrames with equal types of columns, for the mode of the query."""
        return union(self.bridge, inputs, real_time=self.mode is ExecutionMode.REAL_TIME)

    def counters_of(self, table: str) -> Counters:
        """Return the counters of one table; the first call creates them."""
        if table not in self.counters:
            self.counters[table] = self.bridge.counters()
        return self.counters[table]

    def lookup_counters_of(self, table: str) -> Counters:
        """Return the counters of lookups in a table; the first call creates them.

        They have a name of their own, because a job may also read or write the table.
        """
        name = f"{table} (lookup)"
        if name not in self.counters:
            self.counters[name] = self.bridge.counters(COUNTED_LOOKUPS)
        return self.counters[name]
