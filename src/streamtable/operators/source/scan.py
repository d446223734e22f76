"""`Scan` -> rows of a source, with their row kinds."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.connector_api.reading import ReadRequest
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.position import POSITION, without_position
from streamtable.plan.source.scan import Scan


def lower_scan(
    node: Scan, context: LoweringContext, *, positions: bool = False, partitions: bool = False
) -> DataFrame:
    """Lower a scan of a table.

    Args:
        node: the scan, with the columns to read.
        context: the job's lowering context.
        positions: whether to append the order columns to the fields. If so, a record with several
            changes gives only the last change of each row.
        partitions: whether to append the split after these columns, for the watermark.
    """
    columns = without_position(node.fields)
    lowered = context.scanned(node)
    if lowered is not None:
        order = POSITION if positions or len(columns) < len(node.fields) else ()
        names = (field.name for field in (*columns, *order))
        return lowered.select(ROW_KIND_COLUMN, *map(quote, names))
    wanted = ReadRequest(
        columns,
        order=positions or len(columns) < len(node.fields),
        splits=partitions,
        last_only=positions,
        parts=node.parts,
    )
    return context.source_of(node.table).read(wanted, context)
