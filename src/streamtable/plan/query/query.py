"""Plan queries: WITH, set operations, FROM, and the SELECT block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streamtable.catalog.catalog import Catalog, View
from streamtable.catalog.column_paths import with_table_names
from streamtable.catalog.views import Stars, check_columns, numbered, with_stars
from streamtable.core.errors import Condition, InternalError, Span, StreamtableError
from streamtable.core.table import Table
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.plan_join import filtered
from streamtable.plan.match.plan_match import plan_match
from streamtable.plan.query.conditions import bind_part, conjuncts
from streamtable.plan.query.from_clause import plan_from_clause, refuse_version, sees_others
from streamtable.plan.query.hints import check_not_view, check_query_hints, hinted
from streamtable.plan.query.lateral import plan_lateral
from streamtable.plan.query.plan_subquery import plan_subquery
from streamtable.plan.query.relation import Relation, of_node
from streamtable.plan.query.scalar import has_scalar, with_scalars
from streamtable.plan.query.select import plan_select
from streamtable.plan.query.set_operation import plan_set_operation
from streamtable.plan.query.subquery import subquery_of
from streamtable.plan.query.ttl_hints import TtlHints
from streamtable.plan.rank.plan_rank import limited
from streamtable.plan.rank.row_number_limit import bounded
from streamtable.plan.rank.sort_items import with_sort_items
from streamtable.plan.rows.plan_changelog_functions import (
    is_changelog_function,
    plan_changelog_function,
)
from streamtable.plan.source.plan_scan import plan_scan
from streamtable.plan.source.plan_values import plan_values
from streamtable.plan.source.static_table import StaticTable
from streamtable.plan.window.plan_window import is_window_function, plan_window_table
from streamtable.sql.nodes import GivenRows, MatchRecognize, TableFunction
from streamtable.sql.place import place_of


def not_yet(node: exp.Expr, what: str, hint: str | None = None) -> StreamtableError:
    """Return the error for a clause that Flink supports and streamtable lacks."""
    return StreamtableError(Condition.NOT_YET, at=place_of(node), what=what, hint=hint)


@dataclass(frozen=True)
class QueryPlanner:
    """Plan queries against a catalog.

    Attributes:
        views: planned queries of the WITH clauses in scope.
        options_hints: whether hints may change table options.
        within: names of the views whose queries contain this query.
        stars: takes the columns of each star in a SELECT of the query, except those of its views.
    """

    catalog: Catalog
    views: Mapping[str, Relation] = field(default_factory=dict)
    options_hints: bool = True
    within: frozenset[str] = frozenset()
    stars: Stars = field(default_factory=dict)

    def plan(self, query: exp.Expr, *, whole: bool = False) -> Relation:
        """Plan a query of any form.

        Args:
            query: the tree of the query.
            whole: whether the query is not part of another query. In a part without LIMIT, ORDER BY
                is ignored as in Flink. The columns of a whole query have unique names.

        Raises:
            StreamtableError: at the place of an error or an unsupported clause.
        """
        if whole and isinstance(query, exp.Query):
            query = with_table_names(query, self.catalog.namespaces)
        asked, added = with_sort_items(query)
        given = self._with_views(query)._rows(asked, whole=whole)  # noqa: SLF001 - of this class
        rows = limited(asked, given, whole=whole)
        rows = replace(rows, columns=rows.columns[: len(rows.columns) - added])
        return rows.with_unique_names() if whole else rows

    def _rows(self, query: exp.Expr, *, whole: bool) -> Relation:
        """Plan all rows of a query, without its ORDER BY and LIMIT."""
        match query:
            case exp.Subquery():
                return self.plan(query.this, whole=whole)
            case exp.SetOperation():
                return self._set_operations(query)
            case exp.Select():
                return self._select(query)
            case GivenRows():
                given = StaticTable(query.name, query.args["fields"], query.args["rows"])
                return of_node(given)
            case _:
                msg = f"a query that the parser does not make: {type(query).__name__}"
                raise InternalError(msg)

    def _set_operations(self, query: exp.SetOperation) -> Relation:
        """Plan a chain of set operations from the left; a loop, because the chain may be long."""
        chain: list[exp.SetOperation] = []
        first: exp.Expr = query
        while isinstance(first, exp.SetOperation) and (first is query or _is_plain(first)):
            chain.append(first)
            first = first.left
        rows = self.plan(first)
        for operation in reversed(chain):
            rows = plan_set_operation(operation, rows, self.plan(operation.right))
        return rows

    def _with_views(self, query: exp.Expr) -> QueryPlanner:
        planner = self
        clause = query.args.get("with_")
        for named in clause.expressions if clause else ():
            names = [c.name for c in named.args["alias"].columns]
            relation = planner.plan(named.this)
            relation = _renamed(relation, None, names, named.alias, place_of(named.args["alias"]))
            views = {**planner.views, named.alias: relation}
            planner = replace(self, views=views)
        return planner

    def _select(self, query: exp.Select) -> Relation:
        ttls = TtlHints.of(query)
        source = query.args.get("from_")
        if source is not None:
            refuse_version(source.this)
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
        kept = where is None or (rest and rest == parts)
        whole = query if kept else _with_where(query, rest)
        return plan_select(whole, relation, self, ttls)

    def columns_of(self, query: exp.Select) -> tuple[InputField, ...]:
        """Return the columns that names in the WHERE of a query can refer to."""
        found = plan_from_clause(query, [], self._relation, self._lateral)
        return found.relation.columns

    def plan_from(
        self, query: exp.Select, where: list[exp.Expr], ttls: TtlHints | None = None
    ) -> Relation:
        """Plan the rows of FROM, filtered by these conditions; subqueries are applied last.

        At the end, fewer rows reach the joins of the subqueries.
        """
        asked = {node: found for node in where if (found := subquery_of(node)) is not None}
        plain = [node for node in where if node not in asked]
        joined = plan_from_clause(query, plain, self._relation, self._lateral, ttls)
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
            case exp.Lateral():
                return _aliased(self.plan(node.this.this), node, None)
            case exp.Values():
                return _aliased(plan_values(node), node, None)
            case TableFunction() if is_window_function(node):
                return _aliased(plan_window_table(node, self._argument), node, None)
            case TableFunction() if is_changelog_function(node):
                return _aliased(plan_changelog_function(node, self._argument), node, None)
            case MatchRecognize():
                return _aliased(plan_match(node, self._relation(node.this)), node, None)
            case _:
                raise not_yet(node, f"{_relation_name(node)} in FROM")

    def _lateral(
        self, node: exp.Lateral, left: Relation, kind: JoinKind, on: list[exp.Expr]
    ) -> Relation:
        return plan_lateral(node, left, kind, on, self, lambda rows: _aliased(rows, node, None))

    def _argument(self, node: exp.Expr) -> Relation:
        """Plan a table or a query that is an argument of a table function."""
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
                table.connector.check_source()
                return _aliased(plan_scan(table), node, name[-1])
            case View() as view:
                check_not_view(view.name, hints)
                return _aliased(self.plan_view(view), node, name[-1])

    def plan_view(self, view: View) -> Relation:
        """Plan the query of a view.

        Raises:
            StreamtableError: COLUMN_COUNT_MISMATCH for a wrong list of columns, CHANGE_REFUSED for
                a view that reads itself, or an error of the query.
        """
        return self._view(view, {})

    def with_star_columns(self, view: View) -> View:
        """Return a view whose stars keep their present columns, as in Flink.

        Raises:
            StreamtableError: as above; DUPLICATE_COLUMN for two columns of one name.
        """
        stars: Stars = {}
        asked = numbered(view)
        relation = self._view(asked, stars)
        kept = with_stars(asked, stars)
        check_columns(kept, [column.name for column in relation.columns])
        return kept

    def _view(self, view: View, stars: Stars) -> Relation:
        if view.name in self.within:
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=view.at,
                change=f"view {view.name}",
                reason="its query reads the view itself",
                hint="give the view a name that its query does not read",
            )
        inner = replace(self, views={}, within=self.within | {view.name}, stars=stars)
        relation = inner.plan(view.query)
        return _renamed(relation, None, view.columns, view.name, view.at)


def _is_plain(query: exp.Query) -> bool:
    """Return whether a query has no clauses around its SELECT or set operation."""
    return not any(query.args.get(key) for key in ("with_", "order", "limit", "offset"))


def _asks(node: exp.Expr) -> bool:
    """Return whether a part of WHERE contains a subquery."""
    return subquery_of(node) is not None or has_scalar(node)


def _with_where(query: exp.Select, parts: list[exp.Expr]) -> exp.Select:
    """Return the query with these parts as its WHERE."""
    changed = query.copy()
    changed.set("where", exp.Where(this=exp.and_(*parts)) if parts else None)
    return changed


def _expressions(values: Iterable[object]) -> list[exp.Expr]:
    """Return the expressions in the arguments of a node, including lists, without FROM."""
    flat = [item for v in values for item in (v if isinstance(v, list) else [v])]
    return [item for item in flat if isinstance(item, exp.Expr) and not isinstance(item, exp.From)]


def _aliased(relation: Relation, node: exp.Expr, name: str | None) -> Relation:
    alias = node.args.get("alias")
    if alias is None:
        return relation.named(name)
    columns = [c.name for c in alias.columns]
    return _renamed(relation, alias.name, columns, alias.name, place_of(node))


def _renamed(
    relation: Relation, qualifier: str | None, names: Sequence[str], table: str, at: Span | None
) -> Relation:
    """Return the rows with new column names, if any; `table` is their owner in messages."""
    if names and len(names) != len(relation.columns):
        raise StreamtableError(
            Condition.COLUMN_COUNT_MISMATCH,
            at=at,
            table=table,
            expected=len(names),
            columns="",
            found=len(relation.columns),
        )
    return relation.named(qualifier, names)


def _relation_name(node: exp.Expr) -> str:
    if isinstance(node, TableFunction):
        return f"table function {node.this.name}"
    return "LATERAL" if isinstance(node, exp.Lateral) else "such a relation"
