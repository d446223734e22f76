"""Relation: a plan node and the column names over it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from sqlglot import exp

from streamtable.core.types import Field, quote
from streamtable.plan.binding.bound import whole
from streamtable.plan.binding.expressions import Bound, InputField
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc, Projection


@dataclass(frozen=True)
class Relation:
    """A planned table, view, subquery or query.

    Attributes:
        columns: the visible columns, in order; each refers to a field of the node.
    """

    node: Node
    columns: tuple[InputField, ...]

    def named(self, qualifier: str | None, names: Sequence[str] = ()) -> Relation:
        """Return the rows under an alias, with new column names if given."""
        renamed = names or [c.name for c in self.columns]
        return Relation(
            self.node,
            tuple(
                replace(column, qualifier=qualifier, name=name, base=None)
                for column, name in zip(self.columns, renamed, strict=True)
            ),
        )

    def named_as(self, other: Relation) -> Relation:
        """Return the rows with the column names of another relation, without a table."""
        pairs = zip(self.columns, other.columns, strict=True)
        columns = (replace(c, qualifier=None, name=o.name, base=o.base) for c, o in pairs)
        return replace(self, columns=tuple(columns))

    def with_unique_names(self) -> Relation:
        """Return the rows with unique column names, as the result of a query has in Flink."""
        names: list[str] = []
        for column in self.columns:
            names.append(numbered_name(column.name, names))
        return self.numbered(names)

    def numbered(self, names: Sequence[str]) -> Relation:
        """Return the rows with numbers added to column names; fields keep their names."""
        columns = (
            column if column.name == name else replace(column, name=name, base=column.field_name)
            for column, name in zip(self.columns, names, strict=True)
        )
        return replace(self, columns=tuple(columns))


def bound_field(field: Field) -> Bound:
    """Return a field as an expression over its node."""
    return Bound(quote(field.name), field.type, paths=whole([field.name]))


def of_node(node: Node) -> Relation:
    """Return a relation whose columns are the fields of the node."""
    return Relation(node, tuple(InputField(None, f.name, f) for f in node.fields))


def project(
    node: Node, outputs: Sequence[tuple[str, Bound]], condition: Bound | None = None
) -> Relation:
    """Add a `Calc` over a node, unless it would change nothing.

    Args:
        node: the input.
        outputs: visible name and expression of each column; repeated names get distinct field
            names.
        condition: a BOOLEAN expression; only rows for which it is true pass.
    """
    fields = unique_names(name for name, _ in outputs)
    given = {field.name for field in node.fields}
    projections = tuple(
        Projection(
            Field(name, bound.type),
            bound.sql,
            _source(bound, given),
            bound.paths,
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
        condition.paths if condition else frozenset(),
    )
    return Relation(calc, columns)


def with_values(
    relation: Relation, values: Sequence[Bound], name: str, taken: Iterable[str] = ()
) -> tuple[Relation, list[str]]:
    """Add a field for each value; return the relation and the names of these fields.

    Args:
        relation: its columns are not changed.
        values: expressions over the relation; a plain field is reused.
        name: base name of new fields.
        taken: names that new fields must not use.
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
    if len(outputs) == len(relation.node.fields):
        return relation, names
    return Relation(project(relation.node, outputs).node, relation.columns), names


def unique_names(names: Iterable[str]) -> list[str]:
    """Number repeated names: `a`, `a` -> `a`, `a_1`."""
    wanted = list(names)
    known = set(wanted)
    taken: set[str] = set()
    found = []
    for name in wanted:
        unique, number = name, 0
        while unique in taken or (number and unique in known):
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        found.append(unique)
    return found


def numbered_name(name: str, taken: Container[str]) -> str:
    """Return a visible name that is not taken, as in Flink: `a`, else `a0`, `a1`, and so on."""
    names = chain([name], (f"{name}{number}" for number in count()))
    return next(candidate for candidate in names if candidate not in taken)


def _source(bound: Bound, given: set[str]) -> str | None:
    """Return the field of the input that an expression refers to; None for other expressions."""
    if len(bound.fields) != 1:
        return None
    (name,) = bound.fields
    return name if name in given and bound.sql == quote(name) else None


def _is_identity(projections: tuple[Projection, ...], node: Node) -> bool:
    same = tuple((p.source, p.field.name) for p in projections)
    return same == tuple((f.name, f.name) for f in node.fields) and all(
        p.field.type.same_shape(f.type) for p, f in zip(projections, node.fields, strict=True)
    )


def name_of(item: exp.Expr, position: int) -> str:
    """Return the output name of a SELECT item: its alias, column name, or Flink's `EXPR$n`."""
    name: str
    match item:
        case exp.Alias():
            name = item.alias
        case exp.Column():
            name = item.name
        case exp.Dot():
            name = item.expression.name
        case _:
            name = f"EXPR${position}"
    return name
