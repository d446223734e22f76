"""Plan UNION, INTERSECT and EXCEPT of two planned queries."""

from __future__ import annotations

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BIGINT, BOOLEAN, DataType, Field, quote
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.binding.bound import Bound, whole
from streamtable.plan.binding.expressions import common_type, explicit_cast
from streamtable.plan.query.relation import Relation, bound_field, of_node, project, unique_names
from streamtable.plan.query.select import distinct
from streamtable.plan.rows.replicate_rows import ReplicateRows
from streamtable.plan.rows.union_all import UnionAll
from streamtable.sql.place import place_of


def plan_set_operation(query: exp.SetOperation, left: Relation, right: Relation) -> Relation:
    """Combine the rows of both queries; columns match by position and keep the left names.

    Raises:
        StreamtableError: COLUMN_COUNT_MISMATCH, COLUMN_TYPE_MISMATCH.
    """
    name = type(query).__name__.upper()
    types = _common_types(name, query, left, right)
    if isinstance(query, exp.Union):
        union = _union_all(_fitted(left, left, types), _fitted(right, left, types), left)
        return distinct(union) if query.args.get("distinct") else union
    return _compared(query, left, right, types)


def _compared(
    query: exp.SetOperation, left: Relation, right: Relation, types: list[DataType]
) -> Relation:
    """Plan INTERSECT and EXCEPT by counting each row per side; ALL replicates rows.

    Without ALL, only the first and the last of equal rows of a side matter.
    """
    names = unique_names([*(c.field_name for c in left.columns), "in_left", "in_right"])
    in_left, in_right = names[-2:]
    sides = []
    for side, is_left in ((left, True), (right, False)):
        marks = [(in_left, _constant(is_left)), (in_right, _constant(not is_left))]
        sides.append(_fitted(side, left, types, marks))
    union = UnionAll(tuple(side.node for side in sides))
    keys = tuple(f.name for f in union.fields if f.name not in (in_left, in_right))
    once = bool(query.args.get("distinct"))
    counts = tuple(
        AggregateCall(
            "COUNT", Field(f"{mark}_rows", BIGINT.with_nullable(False)), filter=mark, capped=once
        )
        for mark in (in_left, in_right)
    )
    grouped = GroupAggregate(union, keys, counts)
    first, second = (quote(count.output.name) for count in counts)
    outputs = [
        (c.field_name, bound_field(f))
        for c, f in zip(left.columns, grouped.fields[: len(keys)], strict=True)
    ]
    reads = whole(count.output.name for count in counts)
    shared = isinstance(query, exp.Intersect)
    if once:
        is_there = ">" if shared else "="
        chosen = f"({first} > 0 AND {second} {is_there} 0)"
        kept = project(grouped, outputs, Bound(chosen, BOOLEAN, paths=reads))
        return kept.named_as(left)
    times = f"least({first}, {second})" if shared else f"({first} - {second})"
    name = unique_names([*(c.field_name for c in left.columns), "times"])[-1]
    counted = project(grouped, [*outputs, (name, Bound(times, BIGINT, paths=reads))])
    # A projection may rename repeated names. The count is the last field in any case.
    repeated = ReplicateRows(counted.node, counted.node.fields[-1].name)
    return of_node(repeated).named_as(left)


def _union_all(left: Relation, right: Relation, names: Relation) -> Relation:
    merged = [
        child
        for node in (left.node, right.node)
        for child in (node.inputs if isinstance(node, UnionAll) else (node,))
    ]
    return of_node(UnionAll(tuple(merged))).named_as(names)


def _common_types(
    name: str, query: exp.SetOperation, left: Relation, right: Relation
) -> list[DataType]:
    if len(left.columns) != len(right.columns):
        raise StreamtableError(
            Condition.COLUMN_COUNT_MISMATCH,
            at=place_of(query.right),
            table=f"the first query of the {name}",
            expected=len(left.columns),
            columns="",
            found=len(right.columns),
        )
    types = []
    for one, other in zip(left.columns, right.columns, strict=True):
        kind = common_type((one.field.type, other.field.type))
        if kind is None:
            raise StreamtableError(
                Condition.COLUMN_TYPE_MISMATCH,
                at=place_of(query.right),
                column=other.name,
                table=f"the {name}",
                expected=one.field.type,
                found=other.field.type,
            )
        types.append(kind)
    return types


def _fitted(
    relation: Relation,
    names: Relation,
    types: list[DataType],
    marks: list[tuple[str, Bound]] | None = None,
) -> Relation:
    """Cast columns to the common types under the names of the left query, and append marks."""
    columns = [
        (to.field_name, explicit_cast(bound_field(column.field), kind))
        for to, column, kind in zip(names.columns, relation.columns, types, strict=True)
    ]
    return project(relation.node, [*columns, *(marks or [])])


def _constant(value: bool) -> Bound:
    return Bound(str(value).lower(), BOOLEAN.with_nullable(False), constant=value)
