"""FROM with several relations -> a tree of `Join`s, in the order in which they are written.

Every field gets a name of its own first, so that an expression bound once means the same at every
level of the tree. A part of ON or WHERE then goes as far down as it may: one that reads a single
input filters that input, an equality across a join becomes its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.core.errors import Condition, InternalError, Span, StreamtableError
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.comparisons import compare
from streamtable.plan.conditions import (
    Part,
    all_of,
    bind_part,
    conjuncts,
    equality,
    reads_only,
)
from streamtable.plan.expressions import Binder, Input, InputField
from streamtable.plan.interval_join import interval
from streamtable.plan.nodes import Node
from streamtable.plan.relation import Relation, bound_field, project, unique_names, with_values
from streamtable.plan.state_ttl import TtlHints
from streamtable.plan.stateful_nodes import Join, JoinKind
from streamtable.plan.temporal_join import temporal_join
from streamtable.plan.using import common_columns, merged
from streamtable.sql.place import place_of


@dataclass(frozen=True)
class From:
    """What a FROM clause gives.

    Attributes:
        relation: its rows.
        where: the parts of WHERE that are left to be asked of them.
    """

    relation: Relation
    where: list[exp.Expr]


def plan_joins(
    relations: Sequence[Relation],
    joins: Sequence[exp.Join],
    where: list[exp.Expr],
    ttls: TtlHints,
) -> From:
    """Joins relations.

    Args:
        relations: the first of FROM, then one per join.
        joins: how each further one is joined.
        where: parts of the WHERE above, of which joins take what they can.
        ttls: how long joins keep the rows of a relation.

    Raises:
        StreamtableError: whatever is wrong in a condition.
    """
    first, *others = apart(relations)
    kinds = [join_kind(join) for join in joins]
    scope = Binder(Input(tuple(c for r in (first, *others) for c in r.columns)))
    pending = {node: bind_part(node, scope, "WHERE") for node in where if _is_plain(node)}
    taken: set[int] = set()

    def take(fields: frozenset[str], position: int) -> list[Part]:
        """Parts of WHERE over these fields; none where a later join would add NULLs to them."""
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
            relation = temporal_join(relation, right, kind, parts, version)
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
    """One join of two relations whose fields have different names.

    Args:
        left: its columns come first.
        right: its columns follow, unless the join gives left rows only.
        kind: what to do about rows without a partner.
        parts: the condition, over the fields of both.
        at: where the join stands.
        ttls: how long rows are kept.
    """
    rest = list(parts)
    # A left row that the condition excludes is missing from these two, but not from the others.
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
    near, residual = interval(residual, left, right, kind) if pairs else (None, residual)
    condition = all_of(residual)
    one, left_keys = with_values(left, [v for v, _ in pairs], "join_key", fields_of(right))
    other, right_keys = with_values(right, [v for _, v in pairs], "join_key", fields_of(one))
    regular = Join(
        one.node,
        other.node,
        kind,
        tuple(zip(left_keys, right_keys, strict=True)),
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
    """Refuses a condition that may give another answer when a row is taken back."""
    changing = next((part.bound for part in asked if not part.bound.deterministic), None)
    if changing is not None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=changing.at or at,
            what="a join condition that may give another answer when a row is taken back",
            hint="compute the value in a column of its table",
        )


def apart(relations: Sequence[Relation]) -> list[Relation]:
    """The relations with fields renamed where an earlier one has the name."""
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
    """The rows for which all parts are true."""
    if not parts:
        return relation
    outputs = [(f.name, bound_field(f)) for f in relation.node.fields]
    return Relation(project(relation.node, outputs, all_of(parts)).node, relation.columns)


def fields_of(relation: Relation) -> frozenset[str]:
    """The names of the fields that expressions over a relation read."""
    return frozenset(f.name for f in relation.node.fields)


def join_kind(join: exp.Join) -> JoinKind:
    """What a join of FROM gives."""
    side = join.args.get("side")
    kind = join.args.get("kind")
    if side not in (None, "LEFT", "RIGHT", "FULL") or kind not in (None, "INNER", "CROSS"):
        msg = f"a join that the parser does not make: {side} {kind}"
        raise InternalError(msg)
    return JoinKind[side] if side else JoinKind.INNER


def _merges(join: exp.Join) -> bool:
    return bool(join.args.get("using")) or join.args.get("method") == "NATURAL"


def _parts(join: exp.Join, left: Relation, right: Relation) -> list[Part]:
    """What ON, USING or NATURAL asks for."""
    binder = Binder(Input((*left.columns, *right.columns)))
    if not _merges(join):
        return [bind_part(node, binder, "ON") for node in conjuncts(join.args.get("on"))]
    found = []
    for name in common_columns(join, left, right):
        one, other = (_column(name, side.columns) for side in (left, right))
        found.append(equality(one, other, compare("=", one, other, place_of(join))))
    return found


def _column(name: str, columns: tuple[InputField, ...]) -> Bound:
    return Binder(Input(columns)).bind(exp.column(name, quoted=True))


def _is_plain(node: exp.Expr) -> bool:
    """Whether a part of WHERE is over single rows and without a subquery."""
    return not any(isinstance(part, exp.Query | exp.Window) for part in node.walk())
