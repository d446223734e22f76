"""`Join` -> `JoinProcessor`: both inputs, tagged, grouped by the join key."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.types import Field, quote, spark_ddl
from streamtable.jvm.stateful import join
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl, positions
from streamtable.operators.upserts import POSITIONS
from streamtable.plan.keys import side_key
from streamtable.plan.source_nodes import Key
from streamtable.plan.stateful_nodes import Join


def lower_join(
    node: Join, left: DataFrame, right: DataFrame, context: LoweringContext
) -> DataFrame:
    """The changes of the joined rows, at most one per row and batch.

    Rows travel as (row kind, key columns..., left row, right row), of which one is NULL. Rows
    whose key holds a NULL meet none; they travel only where they come out nevertheless.
    """
    numbered = node.left_upserts is not None or node.right_upserts is not None
    one = _tagged(left, node, is_left=True, numbered=numbered)
    other = _tagged(right, node, is_left=False, numbered=numbered)
    return join(
        context.bridge,
        one.union(other),
        kind=node.kind.name,
        condition=node.condition,
        left_key=positions(side_key(node.left, node.left_keys), node.left.fields),
        left_upserts=node.left_upserts is not None,
        right_key=positions(side_key(node.right, node.right_keys), node.right.fields),
        right_upserts=node.right_upserts is not None,
        output_key=positions(node.key, node.fields),
        before=node.before,
        left_ttl_ms=milliseconds(node.left_ttl),
        right_ttl_ms=milliseconds(node.right_ttl),
        output_ddl=changelog_ddl(node.fields),
    )


def _tagged(rows: DataFrame, node: Join, *, is_left: bool, numbered: bool) -> DataFrame:
    keys = node.left_keys if is_left else node.right_keys
    upserts = node.left_upserts if is_left else node.right_upserts
    tagged = rows.selectExpr(
        ROW_KIND_COLUMN,
        *(f"{quote(name)} AS {_key_name(i)}" for i, name in enumerate(keys)),
        f"{_packed(node.left.fields, there=is_left)} AS __left",
        f"{_packed(node.right.fields, there=not is_left)} AS __right",
        *(_position(name, kind, there=upserts is not None) for name, kind in POSITIONS if numbered),
    )
    return tagged if not keys or _keeps_lonely(node, left=is_left) else tagged.where(_has_key(keys))


def _position(name: str, kind: str, *, there: bool) -> str:
    return name if there else f"CAST(NULL AS {kind}) AS {name}"


def _packed(fields: tuple[Field, ...], *, there: bool) -> str:
    if not there:
        return f"CAST(NULL AS STRUCT<{spark_ddl(fields)}>)"
    return f"struct({', '.join(quote(f.name) for f in fields)})"


def _has_key(keys: Key) -> str:
    return " AND ".join(f"{_key_name(i)} IS NOT NULL" for i in range(len(keys)))


def _key_name(position: int) -> str:
    return f"__key{position}"


def _keeps_lonely(node: Join, *, left: bool) -> bool:
    """Whether rows of a side come out without a partner."""
    if left:
        return node.kind.pads_right or node.kind.name == "ANTI"
    return node.kind.pads_left
