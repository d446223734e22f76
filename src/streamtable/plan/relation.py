"""What a query's FROM gives: a node and what the names over it mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from streamtable.core.types import Field, quote
from streamtable.plan.expressions import Bound, InputField
from streamtable.plan.nodes import Calc, Node, Projection


@dataclass(frozen=True)
class Relation:
    """A planned table, view, subquery or query.

    Attributes:
        columns: what a user may name, in order; each points at a field of the node.
    """

    node: Node
    columns: tuple[InputField, ...]

    def named(self, qualifier: str | None, names: Sequence[str] = ()) -> Relation:
        """The same rows under an alias, columns renamed where names are given."""
        renamed = names or [c.name for c in self.columns]
        return Relation(
            self.node,
            tuple(
                replace(column, qualifier=qualifier, name=name)
                for column, name in zip(self.columns, renamed, strict=True)
            ),
        )


def bound_field(field: Field) -> Bound:
    """A field as an expression over the node that has it."""
    return Bound(quote(field.name), field.type, fields=frozenset({field.name}))


def of_node(node: Node) -> Relation:
    """A relation whose columns are the node's fields under their own names."""
    return Relation(node, tuple(InputField(None, f.name, f) for f in node.fields))


def project(
    node: Node, outputs: Sequence[tuple[str, Bound]], condition: Bound | None = None
) -> Relation:
    """A `Calc` over a node, unless it would change nothing.

    Args:
        node: the input.
        outputs: name and expression of each column, as the user names them; equal names are kept
            apart in the node's fields.
        condition: a BOOLEAN; rows where it is true pass.
    """
    fields = unique_names(name for name, _ in outputs)
    projections = tuple(
        Projection(
            Field(name, bound.type),
            bound.sql,
            _source(bound, node),
            bound.fields,
            bound.deterministic and not bound.fields,
        )
        for name, (_, bound) in zip(fields, outputs, strict=True)
    )
    columns = tuple(
        InputField(None, name, p.field, bound.time_attribute)
        for (name, bound), p in zip(outputs, projections, strict=True)
    )
    if condition is None and _is_identity(projections, node):
        return Relation(node, columns)
    calc = Calc(
        node,
        projections,
        condition.sql if condition else None,
        condition.fields if condition else frozenset(),
    )
    return Relation(calc, columns)


def with_values(
    relation: Relation, values: Sequence[Bound], name: str, taken: Iterable[str] = ()
) -> tuple[Relation, list[str]]:
    """The relation with a field for each value, and the names of those fields.

    Args:
        relation: its columns stay as they are.
        values: expressions over it; one that is a field already gets no other.
        name: what new fields are called.
        taken: names that they must not have.
    """
    outputs = [(f.name, bound_field(f)) for f in relation.node.fields]
    plain = {bound.sql: name for name, bound in outputs}
    names = []
    for value in values:
        if value.sql not in plain:
            others = [*taken, *(other for other, _ in outputs)]
            plain[value.sql] = unique_names([*others, name])[-1]
            outputs.append((plain[value.sql], value))
        names.append(plain[value.sql])
    return Relation(project(relation.node, outputs).node, relation.columns), names


def unique_names(names: Iterable[str]) -> list[str]:
    """The names, repeated ones numbered: `a`, `a` -> `a`, `a_1`."""
    wanted = list(names)
    taken: set[str] = set()
    found = []
    for name in wanted:
        unique, number = name, 0
        while unique in taken or (number and unique in wanted):
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        found.append(unique)
    return found


def _source(bound: Bound, node: Node) -> str | None:
    """The field that the expression is, where it is nothing else."""
    if len(bound.fields) != 1:
        return None
    (name,) = bound.fields
    is_field = bound.sql == quote(name) and any(f.name == name for f in node.fields)
    return name if is_field else None


def _is_identity(projections: tuple[Projection, ...], node: Node) -> bool:
    same = tuple((p.source, p.field.name) for p in projections)
    return same == tuple((f.name, f.name) for f in node.fields) and all(
        p.field.type.same_shape(f.type) for p, f in zip(projections, node.fields, strict=True)
    )
