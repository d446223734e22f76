"""Plan one SELECT block: WHERE, GROUP BY, aggregates, HAVING, SELECT, QUALIFY, DISTINCT."""

from __future__ import annotations

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.aggregate.grouping_sets import (
    expand_groups,
    has_grouping_sets,
    without_grouping_calls,
)
from streamtable.plan.aggregate.plan_aggregate import Aggregation, has_aggregate, plan_aggregation
from streamtable.plan.binding.expressions import Binder, Bound, Input
from streamtable.plan.join.plan_join import filtered
from streamtable.plan.over.plan_over import windows_of, with_named_windows, with_over
from streamtable.plan.query.conditions import Part, bind_condition, conjuncts
from streamtable.plan.query.correlated import naming_outer_columns
from streamtable.plan.query.plan_subquery import plan_subquery
from streamtable.plan.query.qualify import qualify_of
from streamtable.plan.query.relation import Relation, bound_field, name_of, project
from streamtable.plan.query.scalar import with_scalars
from streamtable.plan.query.stars import expand_stars, field_name_of
from streamtable.plan.query.subquery import Planner, Subquery, subquery_of
from streamtable.plan.query.ttl_hints import TtlHints, aggregate_with_ttl
from streamtable.plan.window.plan_group_window import with_group_window
from streamtable.sql.place import place_of


def plan_select(query: exp.Select, source: Relation, planner: Planner, ttls: TtlHints) -> Relation:
    """Plan the rows of a SELECT block; `planner` plans its subqueries.

    Steps in SQL's order:

    - WHERE filters the source.
    - GROUP BY and aggregates compute one row per group.
    - HAVING filters the groups.
    - SELECT computes the output.
    - QUALIFY filters it.
    - DISTINCT groups by all output columns.
    """
    items = expand_stars(query.expressions, source.columns, planner.stars)
    windows = query.args.get("windows") or []
    items = with_named_windows(items, windows)
    qualify = qualify_of(query, items, windows)
    having = query.args.get("having")
    group = query.args.get("group")
    for name, clause in (
        ("WHERE", query.args.get("where")),
        ("GROUP BY", group),
        ("HAVING", having),
    ):
        if clause is not None:
            _refuse_aliases(clause, name, items, source)
    written = len(items)
    items = [*items, *qualify.items]
    filtered = _where(query, source)
    if group or having or any(has_aggregate(item) for item in items):
        relation = _grouped(items, written, group, having, filtered, planner, ttls)
    else:
        wanted, filtered = with_scalars([item.unalias() for item in items], filtered, planner)
        relation = _items(wanted, items, filtered)
    relation = qualify.apply(relation, source, planner)
    if query.args.get("distinct"):
        relation = distinct(relation)
        node = aggregate_with_ttl(relation.node, source, ttls)
        relation = Relation(node, relation.columns)
    ttls.check_taken()
    return relation


def _refuse_aliases(clause: exp.Expr, name: str, items: list[exp.Expr], source: Relation) -> None:
    """Refuse names of SELECT's output in a clause that is evaluated before SELECT, as in Flink."""
    known = {column.name for column in source.columns}
    aliases = {item.alias for item in items if isinstance(item, exp.Alias)} - known
    for column in clause.find_all(exp.Column) if aliases else ():
        inside = column.find_ancestor(exp.Query)
        if column.name in aliases and len(column.parts) == 1 and inside is clause.parent:
            raise StreamtableError(
                Condition.UNKNOWN_COLUMN,
                at=place_of(column),
                column=column.name,
                hint=f"it is an alias of SELECT, which {name} does not see; write its expression",
            )


def _where(query: exp.Select, source: Relation) -> Relation:
    where = query.args.get("where")
    if where is None:
        return source
    condition = bind_condition(where.this, Binder(Input(source.columns)), "WHERE")
    outputs = [(f.name, bound_field(f)) for f in source.node.fields]
    node = project(source.node, outputs, condition).node
    return Relation(node, source.columns)


def _grouped(
    items: list[exp.Expr],
    written: int,
    group: exp.Group | None,
    having: exp.Having | None,
    source: Relation,
    planner: Planner,
    ttls: TtlHints,
) -> Relation:
    """Plan groups; the first `written` items are those of the script, which positions name."""
    having = having if having is not None and conjuncts(having.this) else None
    wanted = [item.unalias() for item in items] + ([having.this] if having else [])
    if group is not None and has_grouping_sets(group):
        expanded = expand_groups(group, wanted, source)
        grouping, wanted, source = expanded.grouping, expanded.wanted, expanded.source
    else:
        grouping = _grouping_expressions(group, items[:written])
        wanted = without_grouping_calls(grouping, wanted, source)
        grouping, wanted, source = with_group_window(grouping, wanted, source)
    aggregation: Aggregation = plan_aggregation(grouping, wanted, source)
    aggregated = aggregation.relation
    node = aggregate_with_ttl(aggregated.node, source, ttls)
    aggregated = Relation(node, aggregated.columns)
    rewritten = aggregation.rewritten
    asked: list[Subquery] = []
    if having:
        rewritten, asked = _without_subqueries(rewritten)
    rewritten, groups = with_scalars(rewritten, aggregated, planner)
    binder = Binder(Input(groups.columns))
    filters = len(rewritten) > len(items)
    condition = bind_condition(rewritten[-1], binder, "HAVING") if filters else None
    if asked and condition is not None:
        groups, condition = filtered(groups, [Part(condition)]), None
    for found in asked:
        with naming_outer_columns(found.query, source.columns):
            groups = plan_subquery(found, groups, planner)
    return _items(rewritten[: len(items)], items, groups, condition)


def _without_subqueries(wanted: list[exp.Expr]) -> tuple[list[exp.Expr], list[Subquery]]:
    """Take the subqueries of IN, EXISTS, ANY and ALL out of HAVING, the last expression."""
    *items, having = wanted
    parts = conjuncts(having)
    asked = {part: found for part in parts if (found := subquery_of(part)) is not None}
    if not asked:
        return wanted, []
    plain = [part.copy() for part in parts if part not in asked]
    return [*items, *([exp.and_(*plain)] if plain else [])], list(asked.values())


def _items(
    wanted: list[exp.Expr],
    items: list[exp.Expr],
    source: Relation,
    condition: Bound | None = None,
) -> Relation:
    """Plan SELECT items; OVER windows see only rows that satisfy the condition."""
    names = [field_name_of(item, i) for i, item in enumerate(items)]
    if condition is not None and any(windows_of(wanted)):
        outputs = [(f.name, bound_field(f)) for f in source.node.fields]
        source = Relation(project(source.node, outputs, condition).node, source.columns)
        condition = None
    wanted, source = with_over(wanted, source)
    binder = Binder(Input(source.columns))
    bound = [binder.bind(item) for item in wanted]
    selected = project(source.node, list(zip(names, bound, strict=True)), condition)
    return selected.numbered([name_of(item, i) for i, item in enumerate(items)])


def _grouping_expressions(group: exp.Group | None, items: list[exp.Expr]) -> list[exp.Expr]:
    """Return the expressions of GROUP BY.

    A whole number is the position of a SELECT item. A list in parentheses is its expressions; the
    empty one groups all rows together.
    """
    found: list[exp.Expr] = []
    for node in group.expressions if group else ():
        if isinstance(node, exp.Tuple):
            found.extend(node.expressions)
        elif isinstance(node, exp.Paren):
            found.append(node.unnest())
        elif isinstance(node, exp.Literal) and not node.is_string:
            found.append(_item_at(node, items))
        else:
            found.append(node)
    return found


def _item_at(position: exp.Literal, items: list[exp.Expr]) -> exp.Expr:
    text = position.name
    if not text.isdigit() or not 1 <= int(text) <= len(items):
        raise StreamtableError(
            Condition.SYNTAX,
            at=place_of(position),
            expected=f"a position from 1 to {len(items)} in GROUP BY",
            found=text,
        )
    return items[int(text) - 1].unalias()


def distinct(relation: Relation) -> Relation:
    """Deduplicate rows: group by every column, without aggregates."""
    fields = relation.node.fields
    node = GroupAggregate(relation.node, tuple(f.name for f in fields), ())
    return Relation(node, relation.columns)
