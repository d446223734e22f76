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
from streamtable.operators.rows.deletes import projected
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
    given = rows
    rows, condition, columns = expressions(node, rows)
    if not condition:
        return rows.selectExpr(ROW_KIND_COLUMN, *columns, *kept)
    if not node.paired:
        return rows.where(condition).selectExpr(ROW_KIND_COLUMN, *columns, *kept)
    inputs: tuple[Field, ...] = node.input.fields
    if rows is not given:
        inputs = (*inputs, Field(_NOW, timestamp_ltz(3)))
    marked = rows.selectExpr(
        ROW_KIND_COLUMN,
        f"coalesce({condition}, false) AS {_MATCHES}",
        *(quote(f.name) for f in inputs),
    )
    spec = PairedFilterOperator(before=node.before, output_ddl=changelog_ddl(inputs))
    passed = context.bridge.operator(marked, spec)
    return passed.selectExpr(ROW_KIND_COLUMN, *columns)


def expressions(node: Calc, rows: DataFrame) -> tuple[DataFrame, str, list[str]]:
    """Return the input of a projection, its condition, and its columns as Spark SQL.

    The condition is empty without a filter. The input gets a column with the time if the
    expressions read the clock, so that all of them use the same time for a row.
    """
    carried = node.input.fields_of_deletes()
    columns = [f"{projected(p, carried, rows)} AS {quote(p.field.name)}" for p in node.projections]
    texts = [node.condition or "", *columns]
    read = [_CLOCK.sub(_by_column, text) for text in texts]
    if read != texts:
        rows = rows.withColumn(_NOW, F.expr("flink_now()"))
    return rows, read[0], read[1:]


def _by_column(found: re.Match[str]) -> str:
    return _NOW if found.group() == "flink_now()" else found.group()
