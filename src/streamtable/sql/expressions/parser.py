"""Parser layer for expressions, with the operator precedence of Calcite."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from sqlglot import exp

from streamtable.core.errors import Span
from streamtable.sql.expressions.calls import CallParser
from streamtable.sql.expressions.depth import check_depth
from streamtable.sql.lexer.tokens import Kind
from streamtable.sql.lexer.words import BARE_FUNCTIONS
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of, put_at

_NOT = 26
_IS = 28
_COMPARISON = 30
_PREDICATE = 32
_NEGATION = 80
_BINARY: dict[str, tuple[int, type[exp.Expression]]] = {
    "OR": (22, exp.Or),
    "AND": (24, exp.And),
    "=": (_COMPARISON, exp.EQ),
    "<>": (_COMPARISON, exp.NEQ),
    "!=": (_COMPARISON, exp.NEQ),
    "<": (_COMPARISON, exp.LT),
    "<=": (_COMPARISON, exp.LTE),
    ">": (_COMPARISON, exp.GT),
    ">=": (_COMPARISON, exp.GTE),
    "OVERLAPS": (_COMPARISON, exp.Overlaps),
    "+": (40, exp.Add),
    "-": (40, exp.Sub),
    "*": (60, exp.Mul),
    "/": (60, exp.Div),
    "%": (60, exp.Mod),
    "||": (60, exp.DPipe),
}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_QUANTIFIED = {"ANY": exp.Any, "SOME": exp.Any, "ALL": exp.All}
_PREDICATE_WORDS = ("IN", "BETWEEN", "LIKE", "SIMILAR")
_JSON_KINDS = ("VALUE", "SCALAR", "ARRAY", "OBJECT")
_COLUMN_PARTS = ("this", "table", "db", "catalog")


class ExpressionParser(CallParser):
    """Parse expressions."""

    def expression(self, power: int = 0) -> exp.Expr:
        """Parse an expression whose operators have at least the precedence `power`."""
        found = self.nested(lambda: self._climb(power))
        if self.is_outermost:
            check_depth(found)
        return found

    def operand(self) -> exp.Expr:
        """Parse an expression without a predicate of its own, for POSITION and BETWEEN."""
        return self.expression(_PREDICATE + 1)

    def _climb(self, power: int) -> exp.Expr:
        left = self._prefix()
        while (longer := self._infix(left, power)) is not None:
            left = longer
        return left

    def _prefix(self) -> exp.Expr:
        token = self.peek()
        if self.accept("NOT"):
            return put_at(exp.Not(this=self.expression(_NOT)), token.at)
        if self.accept("-"):
            return put_at(exp.Neg(this=self.expression(_NEGATION)), token.at)
        if self.accept("+"):
            return self.expression(_NEGATION)
        return self._postfix(self._primary())

    def _infix(self, left: exp.Expr, power: int) -> exp.Expr | None:
        token = self.peek()
        if token.key in _BINARY:
            binds, node = _BINARY[token.key]
            if binds < power:
                return None
            self.take()
            found = self._quantified(left, node)
            if found is None:
                found = node(this=left, expression=self.expression(binds + 1))
            return _over(left, found)
        if token.key == "IS" and power <= _IS:
            return self._is(left)
        negated = token.key == "NOT" and self.peek(1).key in _PREDICATE_WORDS
        if power <= _PREDICATE and (negated or token.key in _PREDICATE_WORDS):
            self.accept("NOT")
            predicate = self._predicate(left)
            return _over(left, exp.Not(this=predicate)) if negated else predicate
        return None

    def _quantified(self, left: exp.Expr, node: type[exp.Expression]) -> exp.Expr | None:
        """Parse `ANY (query)` or `ANY (1, 2)` after a comparison; None for other operands."""
        token = self.peek()
        if token.key not in _QUANTIFIED or self.peek(1).key != "(":
            return None
        self.take()
        if node in _COMPARISONS and not self.sees_query_in_parentheses():
            return _with_each(left, node, self.in_parentheses(self.expression), token.key == "ALL")
        right = put_at(_QUANTIFIED[token.key](this=self.subquery()), token.at)
        return node(this=left, expression=right)

    def _is(self, left: exp.Expr) -> exp.Expr:
        self.expect("IS")
        negated = self.accept("NOT") is not None
        if self.accept("DISTINCT", "FROM"):
            node = exp.NullSafeEQ if negated else exp.NullSafeNEQ
            return _over(left, node(this=left, expression=self.expression(_COMPARISON + 1)))
        token = self.peek()
        found: exp.Expr
        if token.key == "JSON":
            found = self._is_json(left)
        else:
            if not self.sees_any("NULL", "TRUE", "FALSE", "UNKNOWN"):
                self.fail("NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM")
            unknown = exp.Var(this="UNKNOWN") if token.key == "UNKNOWN" else None
            if unknown is not None:
                self.take()
            value = put_at(unknown, token.at) if unknown is not None else self.literal()
            found = _over(left, exp.Is(this=left, expression=value))
        return _over(left, exp.Not(this=found)) if negated else found

    def _is_json(self, left: exp.Expr) -> exp.Expr:
        token = self.expect("JSON")
        kind = self.take() if self.sees_any(*_JSON_KINDS) else None
        what = put_at(exp.Var(this=kind.key if kind else "VALUE"), token.at)
        return _over(left, FlinkCall(this="IS_JSON", expressions=[left, what]))

    def _predicate(self, left: exp.Expr) -> exp.Expr:
        if self.accept("IN"):
            return self._in(left)
        if self.accept("BETWEEN"):
            symmetric = self.accept("SYMMETRIC") is not None
            if not symmetric:
                self.accept("ASYMMETRIC")
            low = self.operand()
            self.expect("AND")
            between = exp.Between(this=left, low=low, high=self.operand(), symmetric=symmetric)
            return _over(left, between)
        node: type[exp.Expression] = exp.Like
        if not self.accept("LIKE"):
            self.expect("SIMILAR", "TO")
            node = exp.SimilarTo
        found = _over(left, node(this=left, expression=self.operand()))
        if self.accept("ESCAPE"):
            return _over(left, exp.Escape(this=found, expression=self.operand()))
        return found

    def _in(self, left: exp.Expr) -> exp.Expr:
        if self.sees_query_in_parentheses():
            return _over(left, exp.In(this=left, query=self.subquery()))
        values = self.in_parentheses(self.expression)
        return _over(left, exp.In(this=left, expressions=values))

    def _postfix(self, found: exp.Expr) -> exp.Expr:
        while True:
            if self.accept("["):
                index = self.expression()
                self.expect("]")
                found = _over(found, exp.Bracket(this=found, expressions=[index]))
            elif self.sees(".") and not isinstance(found, exp.Literal):
                self.take()
                field = self.identifier("the name of a field")
                found = _over(found, exp.Dot(this=found, expression=field))
            else:
                return found

    def _primary(self) -> exp.Expr:
        token = self.peek()
        readers: dict[str, Callable[[], exp.Expr]] = {
            "(": self._parenthesis,
            "CASE": self._case,
            "CAST": lambda: self._cast(exp.Cast),
            "TRY_CAST": lambda: self._cast(exp.TryCast),
            "EXISTS": self._exists,
        }
        if token.key in readers:
            return readers[token.key]()
        found = self.literal()
        if found is not None:
            return found
        if token.key == "MULTISET" and self.peek(1).key == "[":
            self.refuse("MULTISET[...]", token.at)
        of_query = self.peek(1).key == "(" and self.peek(2).key in ("SELECT", "VALUES", "WITH")
        if token.key in ("ARRAY", "MAP", "MULTISET", "UNIQUE") and of_query:
            self.refuse(f"{token.key} of a query", token.at)
        if token.key in ("ARRAY", "MAP") and self.peek(1).key == "[":
            return self._collection()
        if token.key in BARE_FUNCTIONS and self.peek(1).key != "(":
            self.take()
            return put_at(FlinkCall(this=token.key, expressions=[]), token.at)
        if self.sees_call():
            return self.call()
        if not self.sees_name():
            self.identifier("an expression")
        return self._column()

    def _column(self) -> exp.Expr:
        at = self.peek().at
        parts = [self.identifier("a column")]
        while self.sees(".") and len(parts) < len(_COLUMN_PARTS):
            self.take()
            if self.sees_any("*"):
                self.fail("the name of a field", hint="* is allowed only in a SELECT list")
            parts.append(self.identifier("the name of a field"))
        if self.sees("(") and len(parts) > 1:
            self.refuse("a function with the name of its database", at)
        named = dict(zip(_COLUMN_PARTS, reversed(parts), strict=False))
        return put_at(exp.Column(**named), at)

    def _parenthesis(self) -> exp.Expr:
        if self.sees_query_in_parentheses():
            return self.subquery()
        start = self.peek()
        inside = self.in_parentheses(self.expression)
        if len(inside) == 1:
            return put_at(exp.Paren(this=inside[0]), start.at)
        return put_at(exp.Tuple(expressions=inside), start.at)

    def _case(self) -> exp.Expr:
        start = self.expect("CASE")
        found = put_at(exp.Case(ifs=[]), start.at)
        if not self.sees("WHEN"):
            found.set("this", self.expression())
        compares = found.args.get("this") is not None
        while (at := self.peek().at) and self.accept("WHEN"):
            # CASE x WHEN 1, 2 THEN y: any of the values
            several = self.comma_separated(self.expression) if compares else [self.expression()]
            self.expect("THEN")
            value = self.expression()
            for condition in several:
                true = value if condition is several[0] else value.copy()
                found.append("ifs", put_at(exp.If(this=condition, true=true), at))
        if not found.args["ifs"]:
            self.fail("WHEN")
        if self.accept("ELSE"):
            found.set("default", self.expression())
        self.expect("END")
        return found

    def _cast(self, node: type[exp.Cast]) -> exp.Expr:
        start = self.take()
        self.expect("(")
        value = self.expression()
        self.expect("AS")
        found = put_at(node(this=value, to=self.type_node()), start.at)
        self.expect(")")
        return found

    def _exists(self) -> exp.Expr:
        start = self.expect("EXISTS")
        return put_at(exp.Exists(this=self.subquery().this), start.at)

    def _collection(self) -> exp.Expr:
        name = self.take()
        found = put_at(FlinkCall(this=name.key, expressions=[]), name.at)
        self.expect("[")
        if not self.sees("]"):
            for value in self.comma_separated(self.expression):
                found.append("expressions", value)
        if not self.accept("]"):
            self.fail("',' or ']'")
        return found

    def is_star(self) -> bool:
        """Return whether the next tokens are `*` or `t.*`."""
        ahead = 0
        while self.sees_name(ahead) and self.peek(ahead + 1).key == ".":
            ahead += 2
        return self.peek(ahead).key == "*" and (ahead > 0 or self.peek().kind is Kind.SYMBOL)


def _over(left: exp.Expr, node: exp.Expr) -> exp.Expr:
    """Set the place of a node to that of its left operand."""
    at: Span | None = place_of(left)
    return put_at(node, at) if at is not None else node


def _with_each(
    left: exp.Expr, node: type[exp.Expression], values: list[exp.Expr], every: bool
) -> exp.Expr:
    """Return `left = ANY (1, 2)` or `left < ALL (1, 2)` as Calcite does, by its values."""
    if (node, every) == (exp.EQ, False):
        return exp.In(this=left, expressions=values)
    if (node, every) == (exp.NEQ, True):
        return exp.Not(this=_over(left, exp.In(this=left, expressions=values)))
    compared = [_over(left, node(this=left.copy(), expression=value)) for value in values]
    join = exp.And if every else exp.Or
    joined = reduce(lambda one, other: _over(left, join(this=one, expression=other)), compared)
    return exp.Paren(this=joined)
