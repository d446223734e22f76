"""`Calc` -> Spark's own projection and filter; only a paired filter needs a class of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, quote, timestamp_ltz
from streamtable.jvm.stateful import paired_filter
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.nodes import Calc

_MATCHES = "__matches"
_NOW = "__now"
#: A call of the clock, or a string literal, inside which it is none.
_CLOCK = re.compile(r"'(?:[^'\\]|\\.)*'|flink_now\(\)")


def lower_calc(
    node: Calc, rows: DataFrame, context: LoweringContext, kept: Sequence[str] = ()
) -> DataFrame:
    """Computes the columns of the rows that pass.

    The filter comes first, as Spark SQL over the input's fields; in a paired one its outcome is a
    column that `PairedFilter` reads on both rows of an update.

    Args:
        node: what to compute.
        rows: its input.
        context: the job.
        kept: columns beside the input's fields that pass through; a paired filter knows none.
    """
    texts = [node.condition or "", *(p.sql for p in node.projections)]
    read = [_CLOCK.sub(_by_column, text) for text in texts]
    if read != texts:
        # All that one operator says about a row, it says at one moment.
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
    passed = paired_filter(
        context.bridge, marked, before=node.before, output_ddl=changelog_ddl(inputs)
    )
    return passed.selectExpr(ROW_KIND_COLUMN, *columns)


def _by_column(found: re.Match[str]) -> str:
    return _NOW if found.group() == "flink_now()" else found.group()
