"""Parser layer for FROM: tables, functions, derived tables and joins."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.sql.lexer.tokens import Kind, Token
from streamtable.sql.nodes import FlinkCall, JoinGroup, TableFunction
from streamtable.sql.place import put_at
from streamtable.sql.queries.match import MatchParser

_REFUSED = {
    "TABLESAMPLE": "TABLESAMPLE",
    "PIVOT": "PIVOT",
    "UNPIVOT": "UNPIVOT",
}
_SIDES = ("LEFT", "RIGHT", "FULL")
_MOST_PARTS = ("this", "db", "catalog")
_MOST_PARENTHESES = 60
#: What follows an operand of a set operation; behind a relation of a join stands another word.
_AFTER_OPERANDS = ("UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT", "OFFSET", "FETCH", "")


class RelationParser(MatchParser):
    """Parse the items of FROM."""

    def from_clause(self) -> tuple[exp.From, list[exp.Join]]:
        """Parse FROM with all its joins, in order; a comma is a cross join."""
        start = self.expect("FROM")
        first = self.relation()
        joins = self._joins()
        if isinstance(first, JoinGroup):  # joins are read from the left without parentheses, too
            joins = [*first.args["joins"], *joins]
            first = first.this
        return put_at(exp.From(this=first), start.at), joins

    def _joins(self) -> list[exp.Join]:
        joins: list[exp.Join] = []
        while (join := self._join()) is not None:
            joins.append(join)
        return joins

    def _join(self) -> exp.Join | None:
        start = self.peek()
        if self.accept(","):
            return put_at(exp.Join(this=self.relation(), kind="CROSS"), start.at)
        if not self.sees_any("NATURAL", "CROSS", "INNER", "JOIN", *_SIDES):
            return None
        method = "NATURAL" if self.accept("NATURAL") else None
        side = self.take().key if self.sees_any(*_SIDES) else None
        kind = self._join_kind(side)
        self.expect("JOIN")
        join = put_at(exp.Join(this=self.relation(), side=side, kind=kind), start.at)
        if method:
            join.set("method", method)
        elif kind != "CROSS":
            self._condition(join)
        return join

    def _join_kind(self, side: str | None) -> str | None:
        if side:
            self.accept("OUTER")
            return None
        token = self.accept("INNER") or self.accept("CROSS")
        return token.key if token else None

    def _condition(self, join: exp.Join) -> None:
        if self.accept("USING"):
            join.set("using", self.in_parentheses(lambda: self.identifier("a column")))
            return
        if self.accept("ON"):
            join.set("on", self.expression())
            return
        lateral = isinstance(join.this, TableFunction | exp.Unnest | exp.Lateral)
        self.fail("ON TRUE, ON or USING" if lateral else "ON or USING")

    def relation(self) -> exp.Expr:
        """Parse one relation with its alias."""
        found = self.nested(self._relation)
        if self.sees("MATCH_RECOGNIZE"):
            self.fail("MATCH_RECOGNIZE before the alias of its table")
        if self.peek().key in _REFUSED:
            self.refuse(_REFUSED[self.peek().key])
        return found

    def _relation(self) -> exp.Expr:
        start = self.peek()
        found: exp.Expr
        if self.accept("LATERAL"):
            if self.sees_any("TABLE", "UNNEST"):
                found = self._function(lateral=True)
            else:
                found = put_at(exp.Lateral(this=self.subquery()), start.at)
        elif self.sees_any("TABLE", "UNNEST"):
            found = self._function(lateral=False)
        elif self.sees("("):
            found = self._in_parentheses()
        elif self.sees_call():
            found = put_at(TableFunction(this=self._plain_call(), lateral=False), start.at)
        else:
            found = self._table()
        if isinstance(found, JoinGroup):
            self._no_alias()
            return found
        if self.sees("MATCH_RECOGNIZE"):
            found = self.match_recognize(found)
        self._alias(found)
        return found

    def _in_parentheses(self) -> exp.Expr:
        """Parse a query or a join in parentheses.

        A query in parentheses may also be the first relation of the join.
        """
        if self.sees_query_in_parentheses() and not self._sees_join():
            return self._derived()
        start = self.expect("(")
        begins = self.peek()
        if not (self.sees_any("(", "LATERAL", "TABLE", "UNNEST") or self.sees_name()):
            self._fail_at(begins, "a query such as SELECT or a join in the parentheses")
        first = self.relation()
        if isinstance(first, JoinGroup) and self.accept(")"):
            return first
        if self.sees(","):
            self.fail("JOIN; a comma joins only outside of parentheses")
        joins = self._joins()
        if not joins:
            self._fail_at(begins, "a query such as SELECT or a join in the parentheses")
        self.expect(")")
        return put_at(JoinGroup(this=first, joins=joins), start.at)

    def _no_alias(self) -> None:
        """Refuse what Flink takes behind a table or query, but not behind a join."""
        hint = "give an alias to a table inside, or write (SELECT ... FROM ...) AS alias"
        if self.sees("MATCH_RECOGNIZE"):
            self.fail("no MATCH_RECOGNIZE after a join in parentheses", hint)
        if self.sees("AS") or self.sees_name():
            self.fail("no alias after a join in parentheses", hint)

    def _sees_join(self) -> bool:
        """Return whether the parentheses hold a join whose first relation is a query."""
        opening = 0
        while opening < _MOST_PARENTHESES and self.peek(opening + 1).key == "(":
            behind = self.peek(self._closing(opening + 1) + 1)
            if behind.key != ")":
                return behind.kind is Kind.QUOTED or behind.key not in _AFTER_OPERANDS
            opening += 1
        return False

    def _closing(self, opening: int) -> int:
        """Return the position of the `)` of a `(`, or of the end of the statement."""
        at, depth = opening, 1
        while depth and self.peek(at).kind is not Kind.END:
            at += 1
            depth += {"(": 1, ")": -1}.get(self.peek(at).key, 0)
        return at

    def _fail_at(self, begins: Token, expected: str) -> NoReturn:
        raise StreamtableError(
            Condition.SYNTAX, at=begins.at, expected=expected, found=begins.described()
        )

    def _function(self, *, lateral: bool) -> exp.Expr:
        start = self.peek()
        if self.accept("UNNEST"):
            self.expect("(")
            unnest = put_at(exp.Unnest(expressions=[self.expression()]), start.at)
            self.expect(")")
            if self.accept("WITH", "ORDINALITY"):
                unnest.set("offset", True)
            return unnest
        self.expect("TABLE")
        self.expect("(")
        call = self._plain_call()
        self.expect(")")
        return put_at(TableFunction(this=call, lateral=lateral), start.at)

    def _plain_call(self) -> FlinkCall:
        if not self.sees_call():
            self.fail("a function such as TUMBLE(TABLE t, DESCRIPTOR(c), INTERVAL '1' MINUTE)")
        found = self.call()
        if not isinstance(found, FlinkCall):
            self.refuse("OVER after a table function", found.meta["at"])
        return found

    def _derived(self) -> exp.Expr:
        """Parse a query in parentheses; VALUES without other clauses stays VALUES."""
        found = self.subquery()
        query = found.this
        if isinstance(query, exp.Select) and _is_values(query):
            values: exp.Values = query.args["from_"].this
            return put_at(values, found.meta["at"])
        return found

    def table_name(self) -> exp.Table:
        """Parse the name of a table, without alias."""
        at = self.peek().at
        parts = self.path("a table")
        named = dict(zip(_MOST_PARTS, reversed(parts), strict=False))
        return put_at(exp.Table(**named), at)

    def _table(self) -> exp.Table:
        found = self.table_name()
        if hints := self.hints():
            found.set("hints", hints)
        if start := self.accept("FOR"):
            self.expect("SYSTEM_TIME", "AS", "OF")
            moment = self.expression()
            version = exp.Version(this="TIMESTAMP", kind="AS OF", expression=moment)
            found.set("version", put_at(version, start.at))
        return found

    def _alias(self, found: exp.Expr) -> None:
        """Parse `[AS] name [(columns)]`."""
        named = self.accept("AS") is not None
        if not named and not self.sees_name():
            return
        at = self.peek().at
        alias = put_at(exp.TableAlias(this=self.identifier("an alias")), at)
        if self.sees("("):
            alias.set("columns", self.in_parentheses(lambda: self.identifier("a column")))
        found.set("alias", alias)


def _is_values(query: exp.Select) -> bool:
    """Return whether a query is VALUES without other clauses."""
    clauses = {name for name, value in query.args.items() if value}
    if clauses != {"expressions", "from_"} or not isinstance(query.expressions[0], exp.Star):
        return False
    source = query.args["from_"].this
    return isinstance(source, exp.Values) and source.args.get("alias") is None
