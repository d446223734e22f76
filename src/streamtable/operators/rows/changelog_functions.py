"""`ToChangelog` and `FromChangelog` -> Spark's projection over the row kind."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import TINYINT, quote
from streamtable.plan.binding.bound import failing, text_literal
from streamtable.plan.rows.changelog_functions import FromChangelog, ToChangelog


def lower_to_changelog(node: ToChangelog, rows: DataFrame) -> DataFrame:
    """Lower TO_CHANGELOG: rows of row kinds with a code, as inserts."""
    kinds = ", ".join(str(kind.value) for kind, _ in node.codes)
    codes = " ".join(f"WHEN {kind.value} THEN {text_literal(code)}" for kind, code in node.codes)
    return rows.where(f"{ROW_KIND_COLUMN} IN ({kinds})").selectExpr(
        f"CAST({RowKind.INSERT.value} AS TINYINT) AS {ROW_KIND_COLUMN}",
        f"CASE {ROW_KIND_COLUMN} {codes} END AS {quote(node.op.name)}",
        *(quote(field.name) for field in node.input.fields),
    )


def lower_from_changelog(node: FromChangelog, rows: DataFrame) -> DataFrame:
    """Lower FROM_CHANGELOG; a code that is not known, or NULL, fails the query."""
    op = quote(node.op)
    known = text_literal(f"; known: {', '.join(code for code, _ in node.codes)}")
    told = f"concat('FROM_CHANGELOG: invalid code ', coalesce({op}, 'NULL'), {known})"
    kinds = " ".join(f"WHEN {text_literal(code)} THEN {kind.value}Y" for code, kind in node.codes)
    return rows.selectExpr(
        f"CASE {op} {kinds} ELSE {failing(told, TINYINT)} END AS {ROW_KIND_COLUMN}",
        *(quote(field.name) for field in node.fields),
    )
