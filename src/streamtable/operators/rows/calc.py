"""`Calc` -> Spark's own projection and filter; only a paired filter needs a Java operator."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, quote, timestamp_ltz
from streamtable.jvm.specs.changelog import PairedFilterOperator
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.rows.calc import Calc

_MATCHES = "__matches"
_NOW = "__now"
#: A call of the clock, or a string literal. Text inside a literal is not a call.
_CLOCK = re.compile(r"'(?:[^'\\]|\\.)*'|flink_now\(\)")


def lower_calc(
    node: Calc, rows: DataFrame, context: LoweringContext, kept: Sequence[str] = ()
) -> DataFrame:
    """Filter rows and compute the projected columns.

    The filter runs first, as Spark SQL over the input's fields. In a paired filter, the result of
    the condition is a column, which `PairedFilter` reads on both rows of an update.

    Args:
        node: the projection and filter.
        rows: its input.
        context: the job's lowering context.
        kept: additional columns that pass through; a paired filter supports none.
    """
    texts = [node.condition or "", *(p.sql for p in node.projections)]
    read = [_CLOCK.sub(_by_column, text) for text in texts]
    if read != texts:
        # All expressions of one operator use the same time for a row.
        rows = rows.withColumn(_NOW, F.expr("flink_now()"))
    condition = read[0]
    named = zip(read[1:], node.projections, strict=True)
    columns = [f"{sql} AS {quote(p.field.name)}" for sql, p in named]
    if not condition:
        return rows.selectExpr(ROW_KIND_COLUMN, *columns, *kept)
    if not node.paired:
        return rows.where(condition).selectExpr(ROW_KIND_COLUMN, *columns, *kept)
    inputs: tuple[Field, ...] = node.input.fields
    if read != texts:
        inputs = (*inputs, Field(_NOW, timestamp_ltz(3)))
    marked = rows.selectExpr(
        ROW_KIND_COLUMN,
        f"coalesce({condition}, false) AS {_MATCHES}",
        *(quote(f.name) for f in inputs),
    )
    spec = PairedFilterOperator(before=node.before, output_ddl=changelog_ddl(inputs))
    passed = context.bridge.operator(marked, spec)
    return passed.selectExpr(ROW_KIND_COLUMN, *columns)


def _by_column(found: re.Match[str]) -> str:
    return _NOW if found.group() == "flink_now()" else found.group()
