"""`Limit` -> `LimitProcessor`: the first rows to arrive."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.jvm.specs.rank import LimitOperator
from streamtable.operators.aggregate.group_aggregate import folds
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.rank.limit import Limit


def lower_limit(node: Limit, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a limit, which emits each of its rows once, in the batch of its arrival."""
    columns = [*(f.name for f in node.fields), *node.order]
    return context.bridge.operator(
        rows.selectExpr(ROW_KIND_COLUMN, *map(quote, columns)),
        LimitOperator(
            fold=folds(context),
            skip=node.skip,
            limit=node.limit,
            positions=len(node.order),
            output_ddl=changelog_ddl(node.fields),
        ),
    )
