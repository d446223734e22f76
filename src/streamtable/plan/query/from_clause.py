"""Plan FROM with joins, including relations that read columns of earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.binding.bound import unnamed
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.plan_join import From, join_kind, plan_joins
from streamtable.plan.query.conditions import conjuncts
from streamtable.plan.query.relation import Relation
from streamtable.plan.query.ttl_hints import TtlHints
from streamtable.plan.rows.plan_changelog_functions import is_changelog_function
from streamtable.plan.rows.plan_table_function import plan_table_function
from streamtable.plan.rows.plan_unnest import plan_unnest
from streamtable.plan.source.plan_values import one_row
from streamtable.plan.window.plan_window import is_window_function
from streamtable.sql.nodes import JoinGroup, TableFunction
from streamtable.sql.place import place_of

#: Plans an independent relation.
RelationOf = Callable[[exp.Expr], Relation]
#: Plans a LATERAL query over the rows before it: join type (inner or left) and parts of ON.
LateralOf = Callable[[exp.Lateral, Relation, JoinKind, list[exp.Expr]], Relation]


def plan_from_clause(
    query: exp.Select,
    where: list[exp.Expr],
    relation_of: RelationOf,
    lateral_of: LateralOf,
    ttls: TtlHints | None = None,
) -> From:
    """Plan the rows of FROM; return them with the parts of WHERE that are not applied yet.

    Joins are planned together up to a relation that reads the rows before it, such as UNNEST.

    Args:
        query: the query with the FROM clause.
        where: the parts of its WHERE.
        relation_of: plans an independent relation.
        lateral_of: plans a LATERAL query.
        ttls: state TTLs of joins; None if only the columns are needed.
    """
    ttls = ttls or TtlHints()
    source = query.args.get("from_")
    if source is None:
        return From(one_row(), where)
    joins: list[exp.Join] = query.args.get("joins") or []
    numbers = count()

    def named(node: exp.Expr) -> Relation:
        """Plan a relation; without an alias, it gets a name, so that its columns are its own."""
        relation = relation_of(node)
        if any(column.qualifier is not None for column in relation.columns):
            return relation
        return relation.named(unnamed(next(numbers)))

    return _plan_items(source.this, joins, where, named, lateral_of, ttls)


def _plan_items(
    first: exp.Expr,
    joins: list[exp.Join],
    where: list[exp.Expr],
    relation_of: RelationOf,
    lateral_of: LateralOf,
    ttls: TtlHints,
) -> From:
    """Plan a relation and its joins: a whole FROM, or a join in parentheses."""

    def alone(node: exp.Expr) -> Relation:
        if isinstance(node, JoinGroup):
            inside = node.args["joins"]
            group = _plan_items(node.this, inside, [], relation_of, lateral_of, ttls)
            return group.relation
        return relation_of(node)

    refuse_version(first)
    if isinstance(first, exp.Unnest):
        relations, start = [plan_unnest(first, one_row(), outer=False)], 0
    elif isinstance(first, TableFunction) and _is_table_function(first):
        relations, start = [plan_table_function(first, one_row(), outer=False)], 0
    else:
        relations, start = [alone(first)], 0
    for i, join in enumerate(joins):
        if not sees_others(join.this):
            relations.append(alone(join.this))
            continue
        early = _asked_of(where, relations, joins[i:])
        before = plan_joins(relations, joins[start:i], early, ttls)
        where = [*before.where, *(part for part in where if not _among(part, early))]
        relations, start = [_joined(join, before.relation, lateral_of)], i + 1
    return plan_joins(relations, joins[start:], where, ttls)


def refuse_version(first: exp.Expr) -> None:
    """Refuse FOR SYSTEM_TIME AS OF on the first relation, which no join looks up.

    Raises:
        StreamtableError: NOT_YET.
    """
    version = first.args.get("version")
    if version is not None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(version),
            what="FOR SYSTEM_TIME AS OF outside of a join",
        )


def sees_others(node: exp.Expr) -> bool:
    """Return whether an item of FROM may refer to columns of earlier items."""
    return isinstance(node, exp.Unnest | exp.Lateral) or _is_table_function(node)


def _is_table_function(node: exp.Expr) -> bool:
    """Return whether a function gives the rows of an item of FROM for each row before it."""
    of_tables = is_window_function(node) or is_changelog_function(node)
    return isinstance(node, TableFunction) and not of_tables


def _joined(join: exp.Join, left: Relation, lateral_of: LateralOf) -> Relation:
    kind = join_kind(join)
    item = "UNNEST" if isinstance(join.this, exp.Unnest) else "LATERAL"
    if isinstance(join.this, TableFunction):
        item = "LATERAL TABLE"
    refused = None
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        refused = f"a {kind.name} JOIN with {item}"
    elif join.args.get("using") or join.args.get("method"):
        refused = f"USING or NATURAL with {item}"
    if refused is not None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(join),
            what=refused,
            hint=f"write CROSS JOIN {item}(...) or LEFT JOIN {item}(...) ON TRUE",
        )
    on = conjuncts(join.args.get("on"))
    if isinstance(join.this, exp.Lateral):
        return lateral_of(join.this, left, kind, on)
    outer = kind is JoinKind.LEFT
    if isinstance(join.this, TableFunction):
        return plan_table_function(join.this, left, outer=outer, on=on)
    return plan_unnest(join.this, left, outer=outer, on=on)


def _asked_of(
    where: Sequence[exp.Expr], relations: Sequence[Relation], later: Sequence[exp.Join]
) -> list[exp.Expr]:
    """Return the parts of WHERE that refer to these relations only, regardless of later joins."""
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
