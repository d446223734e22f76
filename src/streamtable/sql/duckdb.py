"""Write a query of Flink SQL in the dialect of DuckDB, if DuckDB gives it the same meaning.

Only constructs of `_ALLOWED` and functions of `_FUNCTIONS` are written; all others are refused by
name. A construct belongs to these lists if Flink and DuckDB compute the same values, or if DuckDB
fails where they differ: DuckDB reports an overflow of an integer, for example, and Flink wraps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from sqlglot import exp

from streamtable.core.errors import StreamtableError
from streamtable.core.types import Root
from streamtable.sql.dialect import flink_sql
from streamtable.sql.nodes import FlinkCall, FlinkType, TemporalLiteral

#: Returns the DuckDB name of a table, or the query of a view.
Relation = Callable[[exp.Table], str | exp.Query]

#: Makes the error of a construct: its name, and the reason as a clause.
Refused = Callable[[str, str], StreamtableError]

_BINARY = frozenset({"this", "expression"})
_SET_OPERATION = _BINARY | {"distinct", "with_"}

#: Allowed nodes of a query, each with its allowed arguments.
_ALLOWED: Mapping[type[exp.Expr], frozenset[str]] = {
    # Queries.
    exp.Select: frozenset(
        {"expressions", "from_", "joins", "where", "group", "having", "distinct", "with_"}
    ),
    exp.Distinct: frozenset(),
    exp.Union: _SET_OPERATION,
    exp.Intersect: _SET_OPERATION,
    exp.Except: _SET_OPERATION,
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.From: frozenset({"this"}),
    exp.Join: frozenset({"this", "on", "side", "kind"}),
    exp.Table: frozenset({"this", "db", "catalog", "alias"}),
    exp.TableAlias: frozenset({"this", "columns"}),
    exp.Subquery: frozenset({"this", "alias", "with_"}),
    exp.Where: frozenset({"this"}),
    exp.Group: frozenset({"expressions"}),
    exp.Having: frozenset({"this"}),
    # Values.
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this", "table", "db", "catalog"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Star: frozenset(),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: frozenset({"this"}),
    exp.Null: frozenset(),
    TemporalLiteral: frozenset({"this", "to"}),
    FlinkType: frozenset({"this"}),
    # Expressions.
    exp.Paren: frozenset({"this"}),
    exp.And: _BINARY,
    exp.Or: _BINARY,
    exp.Not: frozenset({"this"}),
    exp.EQ: _BINARY,
    exp.NEQ: _BINARY,
    exp.LT: _BINARY,
    exp.LTE: _BINARY,
    exp.GT: _BINARY,
    exp.GTE: _BINARY,
    exp.NullSafeEQ: _BINARY,
    exp.NullSafeNEQ: _BINARY,
    exp.Is: _BINARY,
    exp.In: frozenset({"this", "expressions", "query"}),
    exp.Exists: frozenset({"this"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Add: _BINARY,
    exp.Sub: _BINARY,
    exp.Mul: _BINARY,
    exp.Neg: frozenset({"this"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true"}),
    exp.Window: frozenset({"this", "partition_by", "order"}),
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    FlinkCall: frozenset({"this", "expressions", "distinct", "filter", "database"}),
}

#: Allowed functions, and their maximum number of arguments. AVG is missing: over integers, Flink
#: returns an integer. UPPER and LOWER are missing: Java and DuckDB differ for some letters.
_FUNCTIONS: Mapping[str, int] = {
    "COUNT": 1,
    "SUM": 1,
    "MIN": 1,
    "MAX": 1,
    "ROW_NUMBER": 0,
    "ABS": 1,
    "COALESCE": 100,
    "NULLIF": 2,
    "CHAR_LENGTH": 1,
    "CHARACTER_LENGTH": 1,
}
_AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX"})
_DUCKDB_NAMES = {"CHAR_LENGTH": "LENGTH", "CHARACTER_LENGTH": "LENGTH"}

#: Types of literals with a prefix.
_PREFIXES = {Root.DATE: exp.DataType.Type.DATE, Root.TIMESTAMP: exp.DataType.Type.TIMESTAMP}


@dataclass
class _Writer:
    relation: Relation
    refused: Refused
    #: Whether a `*` stands for all columns of a table.
    has_star: bool = field(default=False)

    def write(self, query: exp.Query) -> exp.Query:
        """Return a copy of the query with views, functions and literals of DuckDB."""
        tree = query.copy()
        self._check(tree)
        for node in reversed(list(tree.walk())):  # arguments before their calls
            written = self._node(node)
            if written is not node:
                node.replace(written)
        return tree

    def _check(self, tree: exp.Expr) -> None:
        for node in tree.walk():
            allowed = _ALLOWED.get(type(node))
            shown = flink_sql(node)
            if allowed is None:
                self._refuse(f"{type(node).__name__} in '{shown}'", "it is not translated")
            extra = [n for n, value in node.args.items() if value and n not in allowed]
            if extra:
                names = ", ".join(name.strip("_").upper() for name in extra)
                self._refuse(f"{names} in '{shown}'", "it is not translated")
            if isinstance(node, FlinkCall):
                self._check_call(node, shown)
            if isinstance(node, exp.Select) and not node.args.get("group"):
                self._check_ungrouped(node)
            if isinstance(node, exp.Star) and not isinstance(node.parent, FlinkCall):
                self.has_star = True

    def _refuse(self, what: str, why: str) -> NoReturn:
        raise self.refused(what, why)

    def _check_call(self, node: FlinkCall, shown: str) -> None:
        most = _FUNCTIONS.get(node.name)
        if most is None:
            reason = "DuckDB may compute it in another way"
            self._refuse(f"function {node.name} in '{shown}'", reason)
        if len(node.expressions) > most:
            self._refuse(f"'{shown}'", f"it has more than {most} arguments")
        ranks = node.name == "ROW_NUMBER"
        if ranks != isinstance(node.parent, exp.Window):
            self._refuse(f"'{shown}'", "only ROW_NUMBER is translated with OVER")

    def _check_ungrouped(self, node: exp.Select) -> None:
        """Refuse aggregates over no rows: Flink emits nothing until the first row arrives."""
        for call in node.find_all(FlinkCall):
            if call.name in _AGGREGATES and call.find_ancestor(exp.Select) is node:
                shown = flink_sql(call)
                self._refuse(f"'{shown}' without GROUP BY", "Flink has no row of no rows")

    def _node(self, node: exp.Expr) -> exp.Expr:
        match node:
            case FlinkCall():
                return self._call(node)
            case exp.Table() if node.args.get("catalog"):
                return self._table(node)
            case TemporalLiteral():
                return self._literal(node)
            case exp.Ordered() if node.args.get("nulls_first") is None:
                # NULL is the lowest value in Flink, and the last one in DuckDB.
                node.set("nulls_first", not node.args.get("desc"))
                return node
            case _:
                return node

    def _call(self, node: FlinkCall) -> exp.Expr:
        name, arguments = node.name, node.expressions
        if name == "ROW_NUMBER":
            return exp.RowNumber()
        if node.args.get("distinct"):
            arguments = [exp.Distinct(expressions=arguments)]
        call: exp.Expr = exp.Anonymous(this=_DUCKDB_NAMES.get(name, name), expressions=arguments)
        if condition := node.args.get("filter"):
            call = exp.Filter(this=call, expression=exp.Where(this=condition))
        return call

    def _table(self, node: exp.Table) -> exp.Expr:
        found, alias = self.relation(node), node.args.get("alias")
        if isinstance(found, str):
            return exp.Table(this=exp.to_identifier(found, quoted=True), alias=alias)
        return exp.Subquery(this=self.write(found), alias=alias)

    def _literal(self, node: TemporalLiteral) -> exp.Expr:
        kind = _PREFIXES.get(node.args["to"].data_type.root)
        if kind is None:
            self._refuse(f"'{flink_sql(node)}'", "the type is not compared")
        text = exp.Literal.string(str(node.this))
        return exp.Cast(this=text, to=exp.DataType(this=kind))


def duckdb_sql(query: exp.Query, relation: Relation, refused: Refused) -> tuple[str, bool]:
    """Return a query in DuckDB's dialect, and whether it uses `*` for all columns of a table.

    Args:
        query: a query with qualified names of tables (`catalog.views.qualified`).
        relation: resolves the tables with a qualified name.
        refused: makes the error of a construct.

    Raises:
        StreamtableError: the error that `refused` makes, for the first construct that is not in the
            lists of this module.
    """
    writer = _Writer(relation, refused)
    return writer.write(query).sql(dialect="duckdb", identify=True), writer.has_star
