"""Plan lookup joins with tables of connectors: `JOIN dim FOR SYSTEM_TIME AS OF l.proctime`.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Lookup Join*.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import LookupConnector, Table
from streamtable.core.types import quote
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.python_calls import calls_python
from streamtable.plan.join.connector_lookup_join import ConnectorLookupJoin
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.keys import ordered_keys
from streamtable.plan.node import Node
from streamtable.plan.query.conditions import Part, all_of
from streamtable.plan.query.lookup_hints import LookupHints
from streamtable.plan.query.relation import Relation, with_values
from streamtable.plan.rows.calc import Calc, below_projections
from streamtable.plan.rules.tree import rebuilt
from streamtable.plan.source.scan import Scan
from streamtable.plan.window.watermark import WatermarkAssigner
from streamtable.sql.place import place_of


def lookup_table(node: Node) -> Table | None:
    """Return the table of a connector with lookups that a node projects and filters, or None."""
    while isinstance(node, Calc | WatermarkAssigner):
        node = node.input
    if isinstance(node, Scan) and isinstance(node.table.connector, LookupConnector):
        return node.table
    return None


def connector_lookup(
    left: Relation,
    right: Relation,
    kind: JoinKind,
    parts: Sequence[Part],
    version: exp.Version,
    hints: LookupHints,
) -> Node:
    """Join the rows of the left relation with the rows that the connector finds.

    Equalities between a column of the table and a value are the key of the lookup. Other parts of
    the condition filter the found rows.

    Args:
        left: its field names differ from those of the right relation.
        right: projections and filters over a table for which `lookup_table` returns a table.
        kind: inner or left.
        parts: the condition of ON.
        version: the FOR SYSTEM_TIME clause.
        hints: the LOOKUP hints of the query.

    Raises:
        StreamtableError: INVALID_WINDOW without an equality, NOT_YET for a Python function.
    """
    table = lookup_table(right.node)
    assert table is not None, "the caller has checked it"  # noqa: S101
    assert isinstance(table.connector, LookupConnector), "`lookup_table` returns no other"  # noqa: S101
    node = rebuilt(right.node, _without_watermark)
    _check_python(node, parts, version)
    values, columns, residual = _keys(left, node, parts)
    if not columns:
        raise StreamtableError(
            Condition.INVALID_WINDOW,
            at=place_of(version),
            function="FOR SYSTEM_TIME AS OF",
            reason=f"ON must hold an equality between a column of {table.name} and a value of the"
            " same type",
            hint="cast the value to the type of the column",
        )
    table.connector.check_lookup(columns)
    one, names = with_values(left, values, "lookup_key", {f.name for f in node.fields})
    condition = all_of(residual)
    reads = condition.fields if condition else frozenset()
    decides = {*names, *(reads & {f.name for f in one.node.fields})}
    key = table.schema.primary_key
    join = ConnectorLookupJoin(
        one.node,
        node,
        kind,
        condition.sql if condition else None,
        reads,
        single=bool(key) and set(key) <= set(columns),
        by_key=any(decides <= set(k) for k in ordered_keys(one.node)),
        keys=tuple(zip(names, columns, strict=True)),
        retry=hints.take(right),
    )
    return join.with_updates()


def _keys(
    left: Relation, table: Node, parts: Sequence[Part]
) -> tuple[list[Bound], list[str], list[Part]]:
    """Return the values to look up, the columns that equal them, and the other parts of ON."""
    values: list[Bound] = []
    columns: list[str] = []
    residual: list[Part] = []
    known = {f.name for f in left.node.fields}
    for part in parts:
        for value, column in _sides(part, known, table):
            if column not in columns:
                values.append(value)
                columns.append(column)
                break
        else:
            residual.append(part)
    return values, columns, residual


def _sides(part: Part, left: set[str], table: Node) -> list[tuple[Bound, str]]:
    """Return the value and the physical column of an equality, which may be of a constant."""
    sides = []
    for value, other in (part.sides, part.sides[::-1]) if part.sides else ():
        column = _column(other.sql, table)
        if value.fields <= left and value.deterministic and column is not None:
            sides.append((value, column))
    return sides


def _column(sql: str, table: Node) -> str | None:
    """Return the physical column that an operand is; None for any other operand."""
    name = next((f.name for f in table.fields if sql == quote(f.name)), None)
    if name is None:
        return None
    scan, column = below_projections(table, name)
    physical = scan.table.schema.physical if isinstance(scan, Scan) else ()
    return column if any(f.name == column for f in physical) else None


def _without_watermark(node: Node) -> Node:
    """Drop a watermark: a lookup finds rows by key, at the time of the lookup."""
    return node.input if isinstance(node, WatermarkAssigner) else node


def _check_python(table: Node, parts: Sequence[Part], version: exp.Version) -> None:
    texts = [part.bound.sql for part in parts]
    while isinstance(table, Calc):
        texts += table.spark_texts
        (table,) = table.inputs
    if any(map(calls_python, texts)):
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(version),
            what="a Python function on the looked-up table or in ON of a lookup join",
            hint="call it in SELECT, over the result of the join",
        )
