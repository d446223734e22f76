"""Spark SQL that is not computed for deletes, which may carry only the key of their row.

Spark evaluates a Python function for every row, whatever is around the call. A twin of the function
skips deletes instead (`runtime.session.live_rows`).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pyspark.sql import DataFrame
from pyspark.sql import types as t

from streamtable.catalog.functions import SPARK_PREFIX, of_live_rows
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.plan.binding.bound import text_literal
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.rows.calc import Projection

_IS_DELETE = f"{ROW_KIND_COLUMN} = {RowKind.DELETE.value}"
#: The condition of rows that are no deletes.
IS_LIVE = f"{ROW_KIND_COLUMN} <> {RowKind.DELETE.value}"
#: Parts of Spark SQL: a literal or a quoted name, the start of a Python call, and punctuation.
_PART = re.compile(rf"'(?:[^'\\]|\\.)*'|`[^`]*`|({SPARK_PREFIX}\w+)\(|[(),]")


def projected(projection: Projection, carried: Collection[str] | None, rows: DataFrame) -> str:
    """Return the Spark SQL of a projection: NULL for a delete that does not carry what it reads.

    Args:
        projection: the projection.
        carried: the fields that deletes carry; None if deletes are whole rows.
        rows: the rows that are projected.
    """
    if projection.source is not None:
        return projection.sql
    return computed(projection.sql, projection.reads, carried, rows)


def computed(
    sql: str, reads: Collection[str], carried: Collection[str] | None, rows: DataFrame
) -> str:
    """Return Spark SQL that is NULL for a delete that does not carry what it reads.

    Args:
        sql: the expression.
        reads: the fields that the expression reads.
        carried: the fields that deletes carry; None if deletes are whole rows.
        rows: the rows for which the expression is computed.
    """
    if carried is None or frozenset(reads) <= frozenset(carried):
        return sql
    return f"if({_IS_DELETE}, NULL, {_skipping(sql, rows)})"


def matches_no_delete(node: LookupJoin) -> bool:
    """Return whether a lookup join passes deletes on without a match.

    It does if they do not carry what the join reads.
    """
    carried = node.input.fields_of_deletes()
    (read,) = node.reads(set())
    return node.kind.pads_right and carried is not None and not read <= carried


def kind_if(condition: str, rows: DataFrame) -> str:
    """Return the row kind of rows that become deletes unless a condition is true."""
    kept = f"if({_skipping(condition, rows)}, {ROW_KIND_COLUMN}, {RowKind.DELETE.value}Y)"
    return f"if({_IS_DELETE}, {ROW_KIND_COLUMN}, {kept})"


def _skipping(sql: str, rows: DataFrame) -> str:
    """Return Spark SQL whose Python functions, and the arguments of their calls, skip deletes."""
    found: list[str] = []
    end = at = 0
    while (part := _PART.search(sql, at)) is not None:
        at = part.end()
        if part[1] is not None:
            arguments, at = _arguments(sql, at)
            given = [IS_LIVE, *(_argument(_skipping(text, rows), rows) for text in arguments)]
            found += [sql[end : part.start()], f"{of_live_rows(part[1])}({', '.join(given)})"]
            end = at
    return "".join([*found, sql[end:]])


def _arguments(sql: str, at: int) -> tuple[list[str], int]:
    """Return the arguments of a call, and the position behind the call.

    Args:
        sql: Spark SQL with the call.
        at: the position behind the opening parenthesis.
    """
    found: list[str] = []
    depth = 1
    for part in _PART.finditer(sql, at):
        text = part.group()
        if depth == 1 and text in (",", ")") and sql[at : part.start()].strip():
            found.append(sql[at : part.start()])
            at = part.end()
        depth += text.endswith("(") - (text == ")")
        if depth == 0:
            return found, part.end()
    msg = f"a call without an end: {sql}"
    raise ValueError(msg)


def _argument(sql: str, rows: DataFrame) -> str:
    kind = rows.selectExpr(sql).schema[0].dataType
    return f"if({_IS_DELETE}, {_unused(kind)}, {sql})"


def _unused(kind: t.DataType) -> str:
    """Return any value; with a NULL, pandas would turn the integers of all rows into floats."""
    if isinstance(kind, t.StructType):
        parts = (f"{text_literal(f.name)}, {_unused(f.dataType)}" for f in kind.fields)
        return f"named_struct({', '.join(parts)})"
    if isinstance(kind, t.IntegralType | t.BooleanType):
        return f"CAST(0 AS {kind.simpleString()})"
    return "NULL"
