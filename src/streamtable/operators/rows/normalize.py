"""`Normalize` -> `NormalizeProcessor`: turns upserts into a full changelog.

The stored last row of a key decides the row kind of an upsert.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from streamtable.core.durations import milliseconds
from streamtable.core.types import spark_ddl
from streamtable.jvm.specs.changelog import NormalizeOperator
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.operators.source.scan import lower_scan
from streamtable.plan.position import without_position
from streamtable.plan.source.normalize import Normalize


def lower_normalize(
    node: Normalize,
    context: LoweringContext,
    before: Callable[[DataFrame], DataFrame] | None = None,
) -> DataFrame:
    """Lower an upsert scan to a full changelog. The positions of the records give the order.

    Args:
        node: the normalizer.
        context: the job's lowering context.
        before: transforms the rows of the scan first, and keeps their columns.
    """
    rows = lower_scan(node.input, context, positions=True, partitions=before is not None)
    if before is not None:
        rows = before(rows)
    columns = without_position(node.fields)
    return context.bridge.operator(
        rows,
        NormalizeOperator(
            keys=node.key,
            row_ddl=spark_ddl(columns),
            before=node.before,
            positions=len(columns) < len(node.fields),
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(node.fields),
            restored=None if context.restored is None else context.restored.upserts,
        ),
    )
