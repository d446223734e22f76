"""Plan FROM with several relations: a tree of `Join`s, in the order of the query.

Every field first gets a unique name, so that a bound expression has the same meaning at every level
of the tree. Parts of ON and WHERE are then pushed down as far as possible: a part over a single
input becomes a filter of that input, and an equality across a join becomes its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.core.errors import Condition, InternalError, Span, StreamtableError
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.comparisons import compare
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.join.join import Join
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.plan_interval_join import interval
from streamtable.plan.join.plan_temporal_join import temporal_join
from streamtable.plan.join.using import common_columns, merged
from streamtable.plan.node import Node
from streamtable.plan.query.conditions import (
    Part,
    all_of,
    bind_part,
    conjuncts,
    equality,
    reads_only,
)
from streamtable.plan.query.relation import (
    Relation,
    bound_field,
    project,
    unique_names,
    with_values,
)
from streamtable.plan.query.ttl_hints import TtlHints
from streamtable.plan.rank.row_number_limit import with_limit
from streamtable.plan.window.fields import joined_window
from streamtable.sql.place import place_of, put_at


@dataclass(frozen=True)
class From:
    """Planned FROM clause.

    Attributes:
        relation: the joined rows.
        where: the parts of WHERE that are not applied yet.
    """

    relation: Relation
    where: list[exp.Expr]


def plan_joins(
    relations: Sequence[Relation],
    joins: Sequence[exp.Join],
    where: list[exp.Expr],
    ttls: TtlHints,
) -> From:
    """Join relations.

    Args:
        relations: the first relation of FROM, then one per join.
        joins: one join clause for each further relation.
        where: parts of WHERE; those that can be pushed down are applied in the joins.
        ttls: hints of the query about its relations.

    Raises:
        StreamtableError: an error of a condition.
    """
    first, *others = apart(relations)
    kinds = [join_kind(join) for join in joins]
    scope = Binder(Input(tuple(c for r in (first, *others) for c in r.columns)))
    pending = {node: bind_part(node, scope, "WHERE") for node in where if _is_plain(node)}
    taken: set[int] = set()

    def take(fields: frozenset[str], position: int) -> list[Part]:
        """Return the parts of WHERE over these fields; none if a later join may pad them."""
        if any(kind.pads_left for kind in kinds[position:]):
            return []
        inside, _ = reads_only(pending.values(), fields)
        fresh = [part for part in inside if id(part) not in taken]
        taken.update(id(part) for part in fresh)
        return fresh

    relation = filtered(first, take(fields_of(first), 0))
    for i, (join, kind, right) in enumerate(zip(joins, kinds, others, strict=True), start=1):
        joined, parts = relation, _parts(join, relation, right)
        if kind is JoinKind.INNER and join.this.args.get("version") is None:
            right = filtered(right, take(fields_of(right), i))  # noqa: PLW2901 - the same rows, fewer
            parts += take(fields_of(relation) | fields_of(right), i)
        if (version := join.this.args.get("version")) is not None:
            relation = temporal_join(relation, right, kind, parts, version, ttls.lookups)
            continue
        relation = join_relations(relation, right, kind, parts, place_of(join), ttls)
        if _merges(join):
            names = common_columns(join, joined, right)
            relation = merged(relation, joined, right, names, kind)
    rest = [node for node in where if node not in pending or id(pending[node]) not in taken]
    return From(relation, rest)


def join_relations(
    left: Relation,
    right: Relation,
    kind: JoinKind,
    parts: Sequence[Part],
    at: Span | None,
    ttls: TtlHints | None = None,
) -> Relation:
    """Join two relations whose fields have different names.

    Args:
        left: its columns come first.
        right: its columns follow, unless the join emits left rows only.
        kind: join type.
        parts: the join condition over the fields of both.
        at: place of the join.
        ttls: state TTLs of the relations.
    """
    rest = list(parts)
    # A left row that fails the condition is dropped in these three joins, but not in the others.
    if kind in (JoinKind.INNER, JoinKind.RIGHT, JoinKind.SEMI):
        inside, rest = reads_only(rest, fields_of(left))
        left = filtered(left, inside)
    if not kind.pads_left:
        inside, rest = reads_only(rest, fields_of(right))
        right = filtered(right, inside)
    pairs: list[tuple[Bound, Bound]] = []
    residual: list[Part] = []
    for part in rest:
        found = part.across(fields_of(left), fields_of(right))
        if found is None:
            residual.append(part)
        elif found not in pairs:
            pairs.append(found)
    _check_repeatable([*residual, *(Part(bound) for pair in pairs for bound in pair)], at)
    one, left_keys = with_values(left, [v for v, _ in pairs], "join_key", fields_of(right))
    other, right_keys = with_values(right, [v for _, v in pairs], "join_key", fields_of(one))
    keys = tuple(zip(left_keys, right_keys, strict=True))
    near = None
    if keys and joined_window(one.node, other.node, keys) is None:
        near, residual = interval(residual, pairs, left, right, kind, at)
    condition = all_of(residual)
    regular = Join(
        one.node,
        other.node,
        kind,
        keys,
        condition.sql if condition else None,
        condition.fields if condition else frozenset(),
    )
    columns = left.columns if kind.left_only else (*left.columns, *right.columns)
    node: Node = regular
    if near is not None:
        node = near.joined(regular)
    elif ttls is not None:
        node = replace(regular, left_ttl=ttls.take(left), right_ttl=ttls.take(right))
    by_name = {f.name: f for f in node.fields}
    return Relation(node, tuple(replace(c, field=by_name[c.field.name]) for c in columns))


def _check_repeatable(asked: Sequence[Part], at: Span | None) -> None:
    """Refuse a non-deterministic condition: its result could change when a row is retracted."""
    changing = next((part.bound for part in asked if not part.bound.deterministic), None)
    if changing is not None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=changing.at or at,
            what="a non-deterministic join condition",
            hint="compute the value in a column of its table",
        )


def apart(relations: Sequence[Relation]) -> list[Relation]:
    """Rename fields whose names occur in an earlier relation."""
    taken: list[str] = []
    found = []
    for relation in relations:
        fields = relation.node.fields
        names = unique_names([*taken, *(f.name for f in fields)])[len(taken) :]
        taken.extend(names)
        renamed = project(
            relation.node,
            [(name, bound_field(f)) for name, f in zip(names, fields, strict=True)],
        )
        by_name = {f.name: column.field for f, column in zip(fields, renamed.columns, strict=True)}
        columns = tuple(replace(c, field=by_name[c.field.name]) for c in relation.columns)
        found.append(Relation(renamed.node, columns))
    return found


def filtered(relation: Relation, parts: Sequence[Part]) -> Relation:
    """Filter the rows for which all parts are true; a row number below gets its limit from them."""
    relation, parts = with_limit(relation, parts)
    if not parts:
        return relation
    outputs = [(f.name, bound_field(f)) for f in relation.node.fields]
    return Relation(project(relation.node, outputs, all_of(parts)).node, relation.columns)


def fields_of(relation: Relation) -> frozenset[str]:
    """Return the names of the fields that expressions over a relation may read."""
    return frozenset(f.name for f in relation.node.fields)


def join_kind(join: exp.Join) -> JoinKind:
    """Return the join type of a join clause."""
    side = join.args.get("side")
    kind = join.args.get("kind")
    if side not in (None, "LEFT", "RIGHT", "FULL") or kind not in (None, "INNER", "CROSS"):
        msg = f"a join that the parser does not make: {side} {kind}"
        raise InternalError(msg)
    return JoinKind[side] if side else JoinKind.INNER


def _merges(join: exp.Join) -> bool:
    return bool(join.args.get("using")) or join.args.get("method") == "NATURAL"


def _parts(join: exp.Join, left: Relation, right: Relation) -> list[Part]:
    """Return the condition of ON, USING or NATURAL."""
    binder = Binder(Input((*left.columns, *right.columns)))
    if not _merges(join):
        return [bind_part(node, binder, "ON") for node in conjuncts(join.args.get("on"))]
    found = []
    for name in common_columns(join, left, right):
        one, other = (_column(name, side.columns, place_of(join)) for side in (left, right))
        found.append(equality(one, other, compare("=", one, other, place_of(join))))
    return found


def _column(name: str, columns: tuple[InputField, ...], at: Span | None) -> Bound:
    column = exp.column(name, quoted=True)
    return Binder(Input(columns)).bind(column if at is None else put_at(column, at))


def _is_plain(node: exp.Expr) -> bool:
    """Return whether a part of WHERE has neither OVER calls nor subqueries."""
    return not any(isinstance(part, exp.Query | exp.Window) for part in node.walk())
