"""Values by which rows are grouped: equal values have equal bytes."""

from __future__ import annotations

from streamtable.core.types import APPROXIMATE, INT, DataType, Root, quote
from streamtable.plan.binding.bound import text_literal, whole
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc, Projection, below_projections, passed_on
from streamtable.plan.rules.tree import rebuilt


def with_grouping_values(node: Node) -> Node:
    """Compute one zero, one NaN and maps in one order below operators that group by such values.

    before:  GroupAggregate(d) <- ...
    after:   GroupAggregate(d) <- Calc(if(isnan(d), ..., d + 0) AS d) <- ...

    In SQL, -0.0 and 0.0 are one group. A stateful operator finds the rows and the state of a group
    by the bytes of its key.
    """
    return rebuilt(node, _grouped)


def _grouped(node: Node) -> Node:
    if not isinstance(node, UnaryNode) or not node.grouping:
        return node
    passed = passed_on(node.input.fields)
    grouped = tuple(
        _grouping_projection(projection, node.input)
        if projection.field.name in node.grouping
        else projection
        for projection in passed
    )
    return node if grouped == passed else node.over([Calc(node.input, grouped)])


def _grouping_projection(passed: Projection, below: Node) -> Projection:
    """Return a projection that computes the grouping value, unless the field has it already."""
    field = passed.field
    sql = _grouping_value(passed.sql, field.type)
    if sql == passed.sql or _is_grouped(below, field.name):
        return passed
    return Projection(field, sql, paths=whole([field.name]))


def _is_grouped(node: Node, name: str) -> bool:
    """Return whether an operator below groups by the field, and projections pass it on."""
    found, source = below_projections(node, name)
    return isinstance(found, UnaryNode) and source in (found.grouping or ())


def _grouping_value(sql: str, kind: DataType | None, depth: int = 0) -> str:
    """Return Spark SQL for a value with one zero and one NaN, also inside of other values.

    The entries of a map are in the order of their keys.

    Args:
        sql: the value.
        kind: its type.
        depth: the number of ARRAYs, MAPs and MULTISETs around the value.
    """
    if kind is None or not kind.holds(*APPROXIMATE, Root.MAP, Root.MULTISET):
        return sql
    variable = f"e{depth}"
    match kind.root:
        case Root.ROW:
            parts: list[str] = []
            for field in kind.fields:
                part = _grouping_value(f"{sql}.{quote(field.name)}", field.type, depth)
                parts.append(f"{text_literal(field.name)}, {part}")
            return f"if({sql} IS NULL, NULL, named_struct({', '.join(parts)}))"
        case Root.ARRAY:
            element = _grouping_value(variable, kind.element, depth + 1)
            return f"transform({sql}, {variable} -> {element})"
        case Root.MAP | Root.MULTISET:
            types = (kind.key, kind.element) if kind.root is Root.MAP else (kind.element, INT)
            key, value = (
                _grouping_value(f"{variable}.{name}", inner, depth + 1)
                for name, inner in zip(("key", "value"), types, strict=True)
            )
            entry = f"named_struct('key', {key}, 'value', {value})"
            entries = f"transform(map_entries({sql}), {variable} -> {entry})"
            one, other = f"l{depth}", f"r{depth}"
            order = f"CASE WHEN {one}.key < {other}.key THEN -1 ELSE 1 END"
            return f"map_from_entries(array_sort({entries}, ({one}, {other}) -> {order}))"
        case _:
            number = kind.spark_sql()
            return f"if(isnan({sql}), CAST('NaN' AS {number}), {sql} + CAST(0 AS {number}))"
