"""USING and NATURAL: merge shared columns of two relations into one column."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.plan.binding.expressions import InputField
from streamtable.plan.functions import bind_call
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.query.relation import Relation, bound_field, project, unique_names
from streamtable.sql.place import place_of


def common_columns(join: exp.Join, left: Relation, right: Relation) -> list[str]:
    """Return the join columns, in the order of USING or, for NATURAL, of the left relation.

    Raises:
        StreamtableError: UNKNOWN_COLUMN if a relation lacks a column, AMBIGUOUS_COLUMN if a
            relation has it twice.
    """
    sides = [[c.name for c in side.columns if not c.merged] for side in (left, right)]
    if join.args.get("method") == "NATURAL":
        return [name for name in dict.fromkeys(sides[0]) if name in sides[1]]
    names = []
    for node in join.args["using"]:
        for side in sides:
            if node.name not in side:
                raise StreamtableError(
                    Condition.UNKNOWN_COLUMN,
                    at=place_of(node),
                    column=node.name,
                    hint=closest(node.name, side) or "USING names a column of both inputs",
                )
        names.append(node.name)
    return names


def merged(
    joined: Relation, left: Relation, right: Relation, names: list[str], kind: JoinKind
) -> Relation:
    """Return the joined relation with one column per shared name, before all other columns.

    The column is the left one, or the right one in a right join. In a full join, it is the one that
    is not NULL. Qualified names still refer to both columns.
    """
    by_name = {f.name: f for f in joined.node.fields}
    found: list[InputField] = []
    outputs = [(f.name, bound_field(f)) for f in joined.node.fields]
    for name in names:
        one, other = (by_name[_visible(name, side).field.name] for side in (left, right))
        if kind is JoinKind.FULL:
            both = bind_call("COALESCE", [bound_field(one), bound_field(other)], None)
            unique = unique_names([*(n for n, _ in outputs), name])[-1]
            outputs.append((unique, both))
            joined = Relation(project(joined.node, outputs).node, joined.columns)
            field = joined.node.fields[-1]
        else:
            field = other if kind is JoinKind.RIGHT else one
        found.append(InputField(None, name, field))
    rest = (replace(c, merged=c.merged or c.name in names) for c in joined.columns)
    return Relation(joined.node, (*found, *rest))


def _visible(name: str, relation: Relation) -> InputField:
    return next(c for c in relation.columns if c.name == name and not c.merged)
