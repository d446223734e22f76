"""`Calc` -> Spark's own projection and filter; only a paired filter needs a class of ours."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, quote
from streamtable.jvm.stateful import paired_filter
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.nodes import Calc

_MATCHES = "__matches"


def lower_calc(node: Calc, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Computes the columns of the rows that pass.

    The filter comes first, as Spark SQL over the input's fields; in a paired one its outcome is a
    column that `PairedFilter` reads on both rows of an update.
    """
    columns = [f"{p.sql} AS {quote(p.field.name)}" for p in node.projections]
    if node.condition is None:
        return rows.selectExpr(ROW_KIND_COLUMN, *columns)
    if not node.paired:
        return rows.where(node.condition).selectExpr(ROW_KIND_COLUMN, *columns)
    inputs: tuple[Field, ...] = node.input.fields
    marked = rows.selectExpr(
        ROW_KIND_COLUMN,
        f"coalesce({node.condition}, false) AS {_MATCHES}",
        *(quote(f.name) for f in inputs),
    )
    passed = paired_filter(
        context.bridge, marked, before=node.before, output_ddl=changelog_ddl(inputs)
    )
    return passed.selectExpr(ROW_KIND_COLUMN, *columns)
