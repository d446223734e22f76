"""`Expand` -> Spark's own explode, which keeps the row kind of the expanded row."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
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
    kind = ROW_KIND_COLUMN if node.mode.is_append else _without_updates()
    return rows.selectExpr(
        f"{kind} AS {ROW_KIND_COLUMN}", *fields, *kept, f"{explode}({node.array}) AS {names}"
    ).selectExpr(ROW_KIND_COLUMN, *fields, *parts, *place, *kept)


def _explode(node: Expand) -> str:
    return "explode_outer" if node.outer else "explode"


def _without_updates() -> str:
    before, after = RowKind.UPDATE_BEFORE.value, RowKind.UPDATE_AFTER.value
    return (
        f"CASE {ROW_KIND_COLUMN} WHEN {before} THEN {RowKind.DELETE.value}Y"
        f" WHEN {after} THEN {RowKind.INSERT.value}Y ELSE {ROW_KIND_COLUMN} END"
    )
