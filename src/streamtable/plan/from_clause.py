"""FROM with all its joins: relations that stand alone, and those that see the rows before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.conditions import conjuncts
from streamtable.plan.join import From, join_kind, plan_joins
from streamtable.plan.relation import Relation
from streamtable.plan.state_ttl import TtlHints
from streamtable.plan.stateful_nodes import JoinKind
from streamtable.plan.unnest import plan_unnest
from streamtable.plan.values import one_row
from streamtable.sql.place import place_of

#: Plans a relation that stands alone.
RelationOf = Callable[[exp.Expr], Relation]


def plan_from_clause(
    query: exp.Select,
    where: list[exp.Expr],
    relation_of: RelationOf,
    ttls: TtlHints | None = None,
) -> From:
    """The rows of a FROM, and the parts of a WHERE that are left to be asked of them.

    Joins are planned together up to a relation that sees the rows before it, as UNNEST does.

    Args:
        query: whose FROM it is.
        where: the parts of its WHERE.
        relation_of: plans a relation that stands alone.
        ttls: how long joins keep rows; None where only the columns are asked for.
    """
    ttls = ttls or TtlHints()
    source = query.args.get("from_")
    if source is None:
        return From(one_row(), where)
    joins: list[exp.Join] = query.args.get("joins") or []
    if sees_others(source.this):
        relations, start = [plan_unnest(source.this, one_row(), outer=False)], 0
    else:
        relations, start = [relation_of(source.this)], 0
    for i, join in enumerate(joins):
        if not sees_others(join.this):
            relations.append(relation_of(join.this))
            continue
        early = _asked_of(where, relations, joins[i:])
        before = plan_joins(relations, joins[start:i], early, ttls)
        where = [*before.where, *(part for part in where if not _among(part, early))]
        relations, start = [_joined(join, before.relation)], i + 1
    return plan_joins(relations, joins[start:], where, ttls)


def sees_others(node: exp.Expr) -> bool:
    """Whether an item of FROM may name columns of those before it."""
    return isinstance(node, exp.Unnest)


def _joined(join: exp.Join, left: Relation) -> Relation:
    kind = join_kind(join)
    refused = None
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        refused = f"a {kind.name} JOIN with UNNEST"
    elif join.args.get("using") or join.args.get("method"):
        refused = "USING or NATURAL with UNNEST"
    if refused is not None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(join),
            what=refused,
            hint="write CROSS JOIN UNNEST(...) or LEFT JOIN UNNEST(...) ON TRUE",
        )
    on = conjuncts(join.args.get("on"))
    return plan_unnest(join.this, left, outer=kind is JoinKind.LEFT, on=on)


def _asked_of(
    where: Sequence[exp.Expr], relations: Sequence[Relation], later: Sequence[exp.Join]
) -> list[exp.Expr]:
    """The parts of WHERE that surely are over these relations, whatever is joined later."""
    if any(join_kind(join).pads_left for join in later):
        return []
    qualifiers = {c.qualifier for relation in relations for c in relation.columns}
    return [part for part in where if _is_over(part, qualifiers)]


def _is_over(part: exp.Expr, qualifiers: set[str | None]) -> bool:
    names = [[p.name for p in column.parts] for column in part.find_all(exp.Column)]
    alone = not any(isinstance(node, exp.Query) for node in part.walk())
    return alone and all(len(n) > 1 and n[0] in qualifiers for n in names)


def _among(part: exp.Expr, parts: Sequence[exp.Expr]) -> bool:
    return any(part is other for other in parts)
