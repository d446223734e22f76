"""Parser layer for queries."""

from __future__ import annotations

from sqlglot import exp

from streamtable.core.errors import Span
from streamtable.sql.expressions.depth import check_depth
from streamtable.sql.lexer.tokens import Kind
from streamtable.sql.place import put_at
from streamtable.sql.queries.relations import RelationParser

_SET_OPERATIONS = {"UNION": exp.Union, "EXCEPT": exp.Except, "INTERSECT": exp.Intersect}
_TAIL = ("ORDER", "LIMIT", "OFFSET", "FETCH")
#: First keywords of queries.
QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE")


class QueryParser(RelationParser):
    """Parse queries."""

    def sees_query(self) -> bool:
        """Return whether a query begins here."""
        return self.sees_any(*QUERY_STARTS) or self.sees_query_in_parentheses()

    def sees_query_in_parentheses(self) -> bool:
        """Return whether the next token opens a query in parentheses."""
        ahead = 0
        while self.peek(ahead).key == "(":
            ahead += 1
        return ahead > 0 and self.peek(ahead).key in QUERY_STARTS

    def query(self) -> exp.Query:
        """Parse a query with all its clauses."""
        found = self.nested(self._query)
        if self.is_outermost:
            check_depth(found)
        return found

    def subquery(self) -> exp.Subquery:
        """Parse a query in parentheses."""
        start = self.expect("(")
        if not self.sees_query():
            self.fail("a query")
        found = put_at(exp.Subquery(this=self.query()), start.at)
        if not self.accept(")"):
            self.fail("')' to end the query")
        return found

    def _query(self) -> exp.Query:
        with_ = self._with() if self.sees("WITH") else None
        found = self._set_operation()
        if isinstance(found, exp.Subquery):
            found = self._opened(found, extended=with_ is not None or self.sees_any(*_TAIL))
        if with_ is not None:
            found.set("with_", with_)
        if self.sees("ORDER"):
            found.set("order", self.order_by())
        self._limits(found)
        return found

    def _opened(self, found: exp.Subquery, *, extended: bool) -> exp.Query:
        """Remove the parentheses around a whole query if they have no effect.

        They have an effect only if a clause before or after them also occurs inside.
        """
        if not extended or _is_plain(found.this):
            return _bare(found)
        at = found.meta["at"]
        source = put_at(exp.From(this=found), at)
        return put_at(exp.Select(expressions=[put_at(exp.Star(), at)], from_=source), at)

    def _with(self) -> exp.With:
        start = self.expect("WITH")
        if self.sees("RECURSIVE"):
            self.refuse("WITH RECURSIVE")
        return put_at(exp.With(expressions=self.comma_separated(self._cte)), start.at)

    def _cte(self) -> exp.CTE:
        at = self.peek().at
        alias = put_at(exp.TableAlias(this=self.identifier("the name of a query")), at)
        if self.sees("("):
            alias.set("columns", self.in_parentheses(lambda: self.identifier("a column")))
        self.expect("AS")
        return put_at(exp.CTE(this=self.subquery().this, alias=alias), at)

    def _set_operation(self) -> exp.Query:
        found = self._intersection()
        while self.sees_any("UNION", "EXCEPT"):
            found = self._combine(found)
        return found

    def _intersection(self) -> exp.Query:
        found = self._term()
        while self.sees("INTERSECT"):
            found = self._combine(found)
        return found

    def _combine(self, left: exp.Query) -> exp.Query:
        at = left.meta["at"]
        operation = self.take().key
        distinct = not self.accept("ALL")
        if distinct:
            self.accept("DISTINCT")
        right = self._term() if operation == "INTERSECT" else self._intersection()
        node = _SET_OPERATIONS[operation]
        found = node(this=_operand(left), expression=_operand(right), distinct=distinct)
        return put_at(found, at)

    def _term(self) -> exp.Query:
        if self.sees("VALUES"):
            return self._values()
        if self.sees_query_in_parentheses():
            return self.subquery()
        if start := self.accept("TABLE"):
            source = put_at(exp.From(this=self.table_name()), start.at)
            star = put_at(exp.Star(), start.at)
            return put_at(exp.Select(expressions=[star], from_=source), start.at)
        if not self.sees("SELECT"):
            self.fail("SELECT, VALUES or a query in parentheses")
        return self._select()

    def _values(self) -> exp.Select:
        start = self.expect("VALUES")
        rows = put_at(exp.Values(expressions=self.comma_separated(self._row_value)), start.at)
        star = put_at(exp.Star(), start.at)
        source = put_at(exp.From(this=rows), start.at)
        return put_at(exp.Select(expressions=[star], from_=source), start.at)

    def _row_value(self) -> exp.Tuple:
        start = self.peek()
        self.accept("ROW")
        if not self.sees("("):
            value = self.expression()
            return put_at(exp.Tuple(expressions=[value]), start.at)
        return put_at(exp.Tuple(expressions=self.in_parentheses(self.expression)), start.at)

    def _select(self) -> exp.Select:
        start = self.expect("SELECT")
        found = put_at(exp.Select(), start.at)
        if hints := self.hints():
            found.set("hint", put_at(exp.Hint(expressions=hints), hints[0].meta["at"]))
        if distinct := self.accept("DISTINCT"):
            found.set("distinct", put_at(exp.Distinct(), distinct.at))
        else:
            self.accept("ALL")
        found.set("expressions", self.comma_separated(self._item))
        if self.sees("FROM"):
            source, joins = self.from_clause()
            found.set("from_", source)
            if joins:
                found.set("joins", joins)
        self._clauses(found)
        return found

    def _item(self) -> exp.Expr:
        at = self.peek().at
        if self.is_star():
            return self._star(at)
        value = self.expression()
        if self.accept("AS") or self.sees_name():
            alias = self.identifier("an alias")
            return put_at(exp.Alias(this=value, alias=alias), at)
        return value

    def _star(self, at: Span) -> exp.Expr:
        if self.accept("*"):
            return put_at(exp.Star(), at)
        parts = [self.identifier("a table")]
        while self.accept("."):
            star = self.accept("*")
            if star:
                break
            parts.append(self.identifier("a table"))
        named = dict(zip(("table", "db", "catalog"), reversed(parts), strict=False))
        return put_at(exp.Column(this=put_at(exp.Star(), self.last.at), **named), at)

    def _clauses(self, found: exp.Select) -> None:
        if start := self.accept("WHERE"):
            found.set("where", put_at(exp.Where(this=self.expression()), start.at))
        if start := self.accept("GROUP", "BY"):
            group = exp.Group(expressions=self.comma_separated(self._grouping))
            found.set("group", put_at(group, start.at))
        if start := self.accept("HAVING"):
            found.set("having", put_at(exp.Having(this=self.expression()), start.at))
        if self.accept("WINDOW"):
            found.set("windows", self.named_windows())
        if start := self.accept("QUALIFY"):
            found.set("qualify", put_at(exp.Qualify(this=self.expression()), start.at))

    def _grouping(self) -> exp.Expr:
        start = self.peek()
        if self.accept("GROUPING", "SETS"):
            sets = self.in_parentheses(self._grouping_set)
            return put_at(exp.GroupingSets(expressions=sets), start.at)
        if self.sees_any("ROLLUP", "CUBE") and self.peek(1).key == "(":
            node = exp.Rollup if self.take().key == "ROLLUP" else exp.Cube
            return put_at(node(expressions=self.in_parentheses(self.expression)), start.at)
        if self.accept("(", ")"):
            return put_at(exp.Tuple(expressions=[]), start.at)
        if self.sees_any("DISTINCT", "ALL"):
            self.refuse(f"GROUP BY {start.key}")
        return self.expression()

    def _grouping_set(self) -> exp.Expr:
        """Parse one item of GROUPING SETS as a tuple, unless the item has sets itself."""
        start = self.peek()
        found = self.nested(self._grouping)
        if isinstance(found, exp.Tuple | exp.GroupingSets | exp.Rollup | exp.Cube):
            return found
        column = found.this if isinstance(found, exp.Paren) else found
        return put_at(exp.Tuple(expressions=[column]), start.at)

    def _limits(self, found: exp.Query) -> None:
        while self.sees_any("LIMIT", "OFFSET", "FETCH"):
            name = "offset" if self.sees("OFFSET") else "limit"
            if found.args.get(name):
                return
            start = self.take()
            if start.key == "FETCH":
                found.set(name, put_at(exp.Limit(expression=self._fetched(start.at)), start.at))
            elif start.key == "OFFSET":
                found.set(name, put_at(exp.Offset(expression=self._count()), start.at))
                self.accept("ROWS") or self.accept("ROW")
            elif not self.accept("ALL"):
                found.set(name, put_at(exp.Limit(expression=self._count()), start.at))

    def _fetched(self, at: Span) -> exp.Literal:
        """Parse `{FIRST | NEXT} [n] {ROW | ROWS} ONLY`."""
        if not (self.accept("FIRST") or self.accept("NEXT")):
            self.fail("FIRST or NEXT")
        count = put_at(exp.Literal(this="1", is_string=False), at)
        if self.peek().kind is Kind.NUMBER:
            count = self._count()
        if not (self.accept("ROW") or self.accept("ROWS")):
            self.fail("ROWS ONLY")
        self.expect("ONLY")
        return count

    def _count(self) -> exp.Literal:
        at = self.peek().at
        number = self.whole_number("a whole number")
        return put_at(exp.Literal(this=str(number), is_string=False), at)


def _is_plain(query: exp.Query) -> bool:
    """Return whether a query has no clause that an outer clause of the same kind would replace."""
    return not any(query.args.get(name) for name in ("with_", "order", "limit", "offset"))


def _bare(found: exp.Subquery) -> exp.Query:
    query: exp.Query = found.this
    query.pop()
    return query


def _operand(query: exp.Query) -> exp.Query:
    """Return an operand of a set operation; parentheses are kept if they have an effect."""
    needless = isinstance(query, exp.Subquery) and isinstance(query.this, exp.Select)
    if isinstance(query, exp.Subquery) and needless and _is_plain(query.this):
        return _bare(query)
    return query
