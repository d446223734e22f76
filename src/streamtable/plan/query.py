"""Queries -> nodes: WITH, set operations, FROM, and the SELECT block over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streamtable.catalog.catalog import Catalog, View
from streamtable.core.errors import Condition, InternalError, StreamtableError
from streamtable.core.table import Table
from streamtable.plan.conditions import bind_part, conjuncts
from streamtable.plan.expressions import Binder, Input, InputField
from streamtable.plan.from_clause import plan_from_clause, sees_others
from streamtable.plan.hints import check_not_view, check_query_hints, hinted
from streamtable.plan.join import filtered
from streamtable.plan.rank import bounded, limited
from streamtable.plan.relation import Relation, of_node
from streamtable.plan.scalar import has_scalar, with_scalars
from streamtable.plan.scan import plan_scan
from streamtable.plan.select import plan_select
from streamtable.plan.set_operation import plan_set_operation
from streamtable.plan.sort_items import with_sort_items
from streamtable.plan.source_nodes import StaticTable
from streamtable.plan.state_ttl import TtlHints
from streamtable.plan.subquery import plan_subquery, subquery_of
from streamtable.plan.values import plan_values
from streamtable.plan.window import is_window_function, plan_window_table
from streamtable.sql.nodes import GivenRows, TableFunction
from streamtable.sql.place import place_of


def not_yet(node: exp.Expr, what: str, hint: str | None = None) -> StreamtableError:
    """The refusal of a clause that Flink has and we lack."""
    return StreamtableError(Condition.NOT_YET, at=place_of(node), what=what, hint=hint)


@dataclass(frozen=True)
class QueryPlanner:
    """Plans queries against a catalog.

    Attributes:
        views: what WITH names in scope, already planned.
        options_hints: whether hints may change the options of tables.
    """

    catalog: Catalog
    views: Mapping[str, Relation] = field(default_factory=dict)
    options_hints: bool = True

    def plan(self, query: exp.Expr) -> Relation:
        """A query of any shape; StreamtableError at the place of what is wrong or not there yet."""
        asked, added = with_sort_items(query)
        rows = limited(asked, self._with_views(query)._rows(asked))  # noqa: SLF001 - of this class
        return replace(rows, columns=rows.columns[: len(rows.columns) - added])

    def _rows(self, query: exp.Expr) -> Relation:
        """All rows of a query, whatever its ORDER BY and LIMIT."""
        match query:
            case exp.Subquery():
                return self.plan(query.this)
            case exp.SetOperation():
                return plan_set_operation(query, self.plan(query.left), self.plan(query.right))
            case exp.Select():
                return self._select(query)
            case GivenRows():
                given = StaticTable(query.name, query.args["fields"], query.args["rows"])
                return of_node(given)
            case _:
                msg = f"a query that the parser does not make: {type(query).__name__}"
                raise InternalError(msg)

    def _with_views(self, query: exp.Expr) -> QueryPlanner:
        planner = self
        clause = query.args.get("with_")
        for named in clause.expressions if clause else ():
            names = [c.name for c in named.args["alias"].columns]
            relation = planner.plan(named.this)
            views = {**planner.views, named.alias: relation.named(None, names)}
            planner = replace(self, views=views)
        return planner

    def _select(self, query: exp.Select) -> Relation:
        ttls = TtlHints.of(query)
        source = query.args.get("from_")
        if source is not None:
            _refuse(source.this, _FIRST_CLAUSES)
        where = query.args.get("where")
        parts = conjuncts(where.this) if where else []
        several = query.args.get("joins") or any(map(_asks, parts))
        if source is None or several or sees_others(source.this):
            relation = self.plan_from(query, parts, ttls)
            check_query_hints(query, relation)
            return plan_select(_with_where(query, []), relation, self, ttls)
        others = [node for key, node in query.args.items() if key != "where"]
        relation, rest = bounded(self._relation(source.this), parts, _expressions(others))
        check_query_hints(query, relation)
        whole = query if rest == parts else _with_where(query, rest)
        return plan_select(whole, relation, self, ttls)

    def columns_of(self, query: exp.Select) -> tuple[InputField, ...]:
        """What names mean in the WHERE of a query."""
        return plan_from_clause(query, [], self._relation).relation.columns

    def plan_from(
        self, query: exp.Select, where: list[exp.Expr], ttls: TtlHints | None = None
    ) -> Relation:
        """The rows of a FROM that these conditions leave; subqueries come last, on fewer rows."""
        asked = {node: found for node in where if (found := subquery_of(node)) is not None}
        plain = [node for node in where if node not in asked]
        joined = plan_from_clause(query, plain, self._relation, ttls)
        rest, relation = with_scalars(joined.where, joined.relation, self)
        binder = Binder(Input(relation.columns))
        relation = filtered(relation, [bind_part(node, binder, "WHERE") for node in rest])
        for found in asked.values():
            relation = plan_subquery(found, relation, self)
        return relation

    def _relation(self, node: exp.Expr) -> Relation:
        match node:
            case exp.Table():
                return self._table(node)
            case exp.Subquery():
                return _aliased(self.plan(node.this), node, None)
            case exp.Values():
                return _aliased(plan_values(node), node, None)
            case TableFunction() if is_window_function(node):
                return _aliased(plan_window_table(node, self._argument), node, None)
            case _:
                raise not_yet(node, f"{_relation_name(node)} in FROM")

    def _argument(self, node: exp.Expr) -> Relation:
        """A table or a query that a table function takes."""
        return self._table(node) if isinstance(node, exp.Table) else self.plan(node)

    def _table(self, node: exp.Table) -> Relation:
        name = tuple(part.name for part in node.parts)
        hints = node.args.get("hints") or []
        if len(name) == 1 and name[0] in self.views:
            check_not_view(name[0], hints)
            return _aliased(self.views[name[0]], node, name[0])
        match self.catalog.find(name, place_of(node)):
            case Table() as table:
                table = hinted(table, hints, self.catalog, allowed=self.options_hints)
                return _aliased(plan_scan(table), node, name[-1])
            case View() as view:
                check_not_view(view.name, hints)
                relation = replace(self, views={}).plan(view.query)
                return _aliased(relation.named(None, view.columns), node, name[-1])


def _asks(node: exp.Expr) -> bool:
    """Whether a part of WHERE asks another query."""
    return subquery_of(node) is not None or has_scalar(node)


def _with_where(query: exp.Select, parts: list[exp.Expr]) -> exp.Select:
    """The query with these parts for its WHERE."""
    changed = query.copy()
    changed.set("where", exp.Where(this=exp.and_(*parts)) if parts else None)
    return changed


def _expressions(values: Iterable[object]) -> list[exp.Expr]:
    """The expressions among the arguments of a node, lists of them included; FROM left out."""
    flat = [item for v in values for item in (v if isinstance(v, list) else [v])]
    return [item for item in flat if isinstance(item, exp.Expr) and not isinstance(item, exp.From)]


def _aliased(relation: Relation, node: exp.Expr, name: str | None) -> Relation:
    alias = node.args.get("alias")
    if alias is None:
        return relation.named(name)
    columns = [c.name for c in alias.columns]
    if columns and len(columns) != len(relation.columns):
        raise StreamtableError(
            Condition.COLUMN_COUNT_MISMATCH,
            at=place_of(node),
            table=alias.name,
            expected=len(columns),
            columns="",
            found=len(relation.columns),
        )
    return relation.named(alias.name, columns)


#: Only the right table of a join may have this one; `plan_joins` reads it.
_FIRST_CLAUSES = {"version": "FOR SYSTEM_TIME AS OF outside of a join"}


def _refuse(node: exp.Expr, clauses: Mapping[str, str]) -> None:
    """Raises NOT_YET for the first clause of the node that is not planned yet, at its place."""
    for key, name in clauses.items():
        found = node.args.get(key)
        if found:
            raise not_yet(found[0] if isinstance(found, list) else found, name)


def _relation_name(node: exp.Expr) -> str:
    names: dict[type[exp.Expr], str] = {
        exp.Lateral: "LATERAL",
    }
    return names.get(type(node), "a table function")
