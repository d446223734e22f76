"""`Expand` -> Spark's own explode."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.operators.rows.kinds import row_kind
from streamtable.plan.position import PLACE
from streamtable.plan.rows.expand import Expand

_ELEMENT = "__element"


def lower_expand(node: Expand, rows: DataFrame, kept: Sequence[str] = ()) -> DataFrame:
    """Lower an expansion: append the parts of each element to the fields of its row.

    Args:
        node: the expansion.
        rows: its input.
        kept: additional columns that pass through.
    """
    fields = [quote(f.name) for f in node.input.fields]
    explode = f"pos{_explode(node)}" if node.placed else _explode(node)
    names = f"({PLACE.name}, {_ELEMENT})" if node.placed else _ELEMENT
    place = [PLACE.name] if node.placed else []
    parts = [f"{_ELEMENT}.p{i} AS {quote(f.name)}" for i, f in enumerate(node.made)]
    return rows.selectExpr(
        row_kind(node.mode), *fields, *kept, f"{explode}({node.array}) AS {names}"
    ).selectExpr(ROW_KIND_COLUMN, *fields, *parts, *place, *kept)


def _explode(node: Expand) -> str:
    return "explode_outer" if node.outer else "explode"
