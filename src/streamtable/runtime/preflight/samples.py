"""Samples of sources for `streamtable check`: event times, hot keys and the size of state."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession

from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.findings import Finding
from streamtable.connector_api.source import Source
from streamtable.core.errors import StreamtableError
from streamtable.core.options import Settings
from streamtable.core.table import Table
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import job_fault
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.moments import micros
from streamtable.plan.node import Key, Node
from streamtable.plan.position import POSITION_NAMES
from streamtable.plan.rules.tree import every, rebuilt
from streamtable.plan.sink.sink import Root
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.source.scan import Scan, scans
from streamtable.plan.window.watermark import WatermarkAssigner
from streamtable.runtime.preflight.sample_findings import event_time_findings, key_findings

#: Number of the newest records of a source that a sample reads.
RECORDS = 10_000
#: Name of the query in errors.
_NAME = "the sample"


@dataclass(frozen=True)
class Sampler:
    """Reads the newest records of sources through the operators of a plan.

    Attributes:
        spark: the session.
        settings: the session's settings.
    """

    spark: SparkSession
    settings: Settings

    def findings(self, plans: Sequence[Root]) -> Iterator[Finding]:
        """Yield what the newest records say about event times, keys and state."""
        nodes = [node for plan in plans for node in every(plan.input)]
        seen: list[object] = []
        for node in nodes:
            if isinstance(node, WatermarkAssigner) and node not in seen:
                seen.append(node)
                yield from self._event_times(node)
            for child, key in zip(node.inputs, node.state_keys, strict=False):
                if key and (child, key) not in seen and _is_one_scan(child):
                    seen.append((child, key))
                    yield from self._keys(node, child, key)

    def _event_times(self, node: WatermarkAssigner) -> Iterator[Finding]:
        (scan,) = scans(node)
        columns = rebuilt(node.input, lambda n: n.input if isinstance(n, Normalize) else n)
        placed = columns.positioned()
        if placed is None:
            return
        (event_time,) = (field for field in node.fields if field.name == node.column)
        time = micros(Bound(quote(node.column), event_time.type))
        rows = self._rows(scan, placed, [*POSITION_NAMES, f"{time} AS t", f"{node.sql} AS w"])
        if isinstance(rows, Finding):
            yield rows
        elif rows:
            yield from event_time_findings(scan.table, [(p, o, t, w) for p, o, t, w in rows])

    def _keys(self, node: Node, child: Node, key: Key) -> Iterator[Finding]:
        (scan,) = scans(child)
        rows = self._rows(scan, child, [quote(name) for name in key])
        if isinstance(rows, Finding):
            yield rows
        elif rows:
            yield from key_findings(scan.table, node.title, key, [tuple(row) for row in rows])

    def _rows(self, scan: Scan, node: Node, columns: Sequence[str]) -> list[Row] | Finding:
        """Return columns of the rows that an operator makes of the newest records."""
        table = scan.table
        try:
            source = source_of(table).newest(RECORDS, Bridge(self.spark))
            return [] if source is None else self._read(source, node, columns)
        except StreamtableError as error:
            return Finding.of_error(error.located(table.at), "sample", table.name)[0]

    def _read(self, source: Source, node: Node, columns: Sequence[str]) -> list[Row]:
        found: list[Row] = []

        def take(batch: DataFrame, _number: int) -> None:
            found.extend(batch.collect())

        def sampled(_table: Table) -> Source:
            return source

        with tempfile.TemporaryDirectory(prefix="streamtable-check-") as scratch:
            context = LoweringContext(
                self.spark,
                Bridge(self.spark),
                self.settings,
                bounded=True,
                directory=Path(scratch),
                source_of=sampled,
            )
            rows = lower(node, context).selectExpr(*columns)
            writer = rows.writeStream.foreachBatch(take).trigger(availableNow=True)
            query = writer.option("checkpointLocation", f"{scratch}/query").start()
            try:
                query.awaitTermination()
            except StreamingQueryException as error:
                raise job_fault(_NAME, str(error), [source.explain]) from error
            finally:
                query.stop()
        return found


def _is_one_scan(node: Node) -> bool:
    return len(scans(node)) == 1 and not node.shuffles and len(node.inputs) < 2
