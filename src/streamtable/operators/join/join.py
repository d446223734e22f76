"""`Join` -> `JoinProcessor`: both inputs, tagged by side and grouped by the join key."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.types import quote, spark_ddl
from streamtable.jvm.specs.join import JoinOperator
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.upserts import POSITIONS
from streamtable.operators.schema import changelog_ddl, positions
from streamtable.plan.join.join import Join
from streamtable.plan.keys import removal_key, side_key
from streamtable.plan.node import Key, Node
from streamtable.plan.position import is_scattered, without_position


def lower_join(
    node: Join, left: DataFrame, right: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a join, which emits at most one change per joined row and batch.

    The input rows have the form (row kind, key columns..., left row, right row); the row of the
    other side is NULL. A row with a NULL in its key has no match. Such a row is sent to the
    operator only if the join emits unmatched rows of this side.
    """
    left_row, right_row = map(without_position, (node.left.fields, node.right.fields))
    one = _tagged(left, node, is_left=True)
    other = _tagged(right, node, is_left=False)
    layout = node.layout(context.lacking)
    appended = layout == node.append_state
    return context.bridge.operator(
        context.union([one, other]),
        JoinOperator(
            kind=node.kind.name,
            condition=node.condition,
            left_key=positions(side_key(node.left, node.left_keys), left_row),
            left_unique=positions(_unique(node.left, node.left_keys, node.left_ttl), left_row),
            left_appends=appended and node.appends(left=True),
            left_upserts=node.left_upserts is not None,
            left_begins=node.left.retracts_first and not node.expires,
            right_key=positions(side_key(node.right, node.right_keys), right_row),
            right_unique=positions(_unique(node.right, node.right_keys, node.right_ttl), right_row),
            right_appends=appended and node.appends(left=False),
            right_upserts=node.right_upserts is not None,
            right_begins=node.right.retracts_first and not node.expires,
            paired=layout == node.pair_state,
            output_key=positions(node.key, node.fields),
            before=node.before,
            left_ttl=milliseconds(node.left_ttl),
            right_ttl=milliseconds(node.right_ttl),
            positions=node.positions,
            left_windows=is_scattered(node.left),
            right_windows=is_scattered(node.right),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def _unique(side: Node, join_key: Key, ttl: timedelta | None) -> Key | None:
    """Return the unique key of rows that are not stored by a key."""
    stored_by_key = side_key(side, join_key) is not None
    return None if stored_by_key else removal_key(side, expires=ttl is not None)


def _tagged(rows: DataFrame, node: Join, *, is_left: bool) -> DataFrame:
    keys = node.left_keys if is_left else node.right_keys
    numbered = node.positions or node.left_upserts is not None or node.right_upserts is not None
    tagged = rows.selectExpr(
        ROW_KIND_COLUMN,
        *(f"{quote(name)} AS {_key_name(i)}" for i, name in enumerate(keys)),
        f"{_packed(node.left, there=is_left)} AS __left",
        f"{_packed(node.right, there=not is_left)} AS __right",
        *(_position(name, kind, rows) for name, kind in POSITIONS if numbered),
    )
    return (
        tagged
        if not keys or node.kind.emits_unmatched(left=is_left)
        else tagged.where(_has_key(keys))
    )


def _position(name: str, kind: str, rows: DataFrame) -> str:
    return name if name in rows.columns else f"CAST(-1 AS {kind}) AS {name}"


def _packed(side: Node, *, there: bool) -> str:
    fields = without_position(side.fields)
    if not there:
        return f"CAST(NULL AS STRUCT<{spark_ddl(fields)}>)"
    return f"struct({', '.join(quote(f.name) for f in fields)})"


def _has_key(keys: Key) -> str:
    return " AND ".join(f"{_key_name(i)} IS NOT NULL" for i in range(len(keys)))


def _key_name(position: int) -> str:
    return f"__key{position}"
