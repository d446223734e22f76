"""Scans that serve several places of a query -> rows that Spark reads once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame

from streamtable.jvm.shared_rows import filtered, recorded, stored
from streamtable.operators.context import EqualParts, LoweringContext
from streamtable.operators.source.scan import lower_scan
from streamtable.operators.source.watermark import lower_observed
from streamtable.plan.sink.reused_scan import ReusedScan, bare, reused_scans
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import Scan


def reusing(sink: Sink, context: LoweringContext) -> LoweringContext:
    """Lower the scans that serve several places of an INSERT; return the context of its query."""
    found = reused_scans(sink)
    if not found:
        return context
    frames = [(bare(reused.scan), _frames(reused, context)) for reused in found]

    def scanned(scan: Scan) -> DataFrame | None:
        wanted = bare(scan)
        return next((frame() for kind, frame in frames if kind == wanted), None)

    return replace(context, scanned=scanned, equal_parts=EqualParts([kind for kind, _ in frames]))


def _frames(reused: ReusedScan, context: LoweringContext) -> Callable[[], DataFrame]:
    """Return what gives the rows of a scan for each of its places."""
    bridge, observer = context.bridge, reused.observer
    rows = lower_scan(reused.scan, context, partitions=observer is not None)
    if observer is not None:
        rows = lower_observed(observer, rows, context)
    if reused.condition is not None:
        rows = filtered(bridge, rows, reused.condition)
    if reused.one_pass:
        return lambda: recorded(bridge, rows)
    if reused.stored:
        rows = stored(bridge, rows)
    return lambda: rows
