"""`Normalize` -> `NormalizeProcessor`: the last row per key decides what an upsert means."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from streamtable.core.durations import milliseconds
from streamtable.core.types import spark_ddl
from streamtable.jvm.stateful import normalize
from streamtable.operators.context import LoweringContext
from streamtable.operators.scan import lower_scan
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.source_nodes import POSITION, Normalize


def lower_normalize(
    node: Normalize,
    context: LoweringContext,
    before: Callable[[DataFrame], DataFrame] | None = None,
) -> DataFrame:
    """The full changelog of an upsert scan; the scan hands over Kafka's positions for the order.

    Args:
        node: what to normalize.
        context: the job.
        before: what is done to the scan's rows first; it leaves their columns as they are.
    """
    rows = lower_scan(node.input, context, positions=True, partitions=before is not None)
    if before is not None:
        rows = before(rows)
    columns = tuple(f for f in node.fields if f not in POSITION)
    return normalize(
        context.bridge,
        rows,
        keys=node.key,
        row_ddl=spark_ddl(columns),
        before=node.before,
        positions=len(columns) < len(node.fields),
        ttl_ms=milliseconds(node.ttl),
        output_ddl=changelog_ddl(node.fields),
    )
