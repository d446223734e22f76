"""Parser layer for calls; every function call becomes a `FlinkCall`."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from streamtable.sql.expressions.windows import WindowParser
from streamtable.sql.lexer.tokens import Kind, Token
from streamtable.sql.lexer.words import RESERVED, RESERVED_FUNCTIONS, UNITS
from streamtable.sql.nodes import FlinkCall, TableArgument
from streamtable.sql.place import put_at

_TRIM_SIDES = ("BOTH", "LEADING", "TRAILING")


class CallParser(WindowParser):
    """Parse calls: plain calls, calls with a special syntax, and the clauses after a call."""

    def sees_call(self) -> bool:
        """Return whether the next tokens are a function's name and its parenthesis."""
        token = self.peek()
        if self.peek(1).key != "(":
            return False
        if token.kind is Kind.QUOTED:
            return True
        usable = token.key not in RESERVED or token.key in RESERVED_FUNCTIONS
        return token.kind is Kind.WORD and usable

    def call(self) -> exp.Expr:
        """Parse `NAME(...)` with FILTER, WITHIN GROUP, IGNORE NULLS and OVER."""
        name = self.take()
        found = self._read_call(name)
        if self.accept("WITHIN", "GROUP"):
            self.expect("(")
            found.set("order", self.order_by())
            self.expect(")")
        if self.accept("FILTER"):
            self.expect("(")
            self.expect("WHERE")
            found.set("filter", self.expression())
            self.expect(")")
        if self.sees("IGNORE", "NULLS") or self.sees("RESPECT", "NULLS"):
            found.set("nulls", self.take().key)
            self.expect("NULLS")
        if self.sees("OVER"):
            return self.over(found)
        return found

    def _read_call(self, name: Token) -> FlinkCall:
        found = put_at(FlinkCall(this=name.text.upper(), expressions=[]), name.at)
        opening = self.expect("(")
        reader = self._special(name.key)
        if reader is not None:
            reader(found)
        elif not self.sees(")"):
            self._plain_arguments(found)
        self.close(opening)
        return found

    def _special(self, name: str) -> Callable[[FlinkCall], None] | None:
        readers: dict[str, Callable[[FlinkCall], None]] = {
            "EXTRACT": self._extract,
            "POSITION": self._position,
            "TRIM": self._trim,
            "SUBSTRING": self._substring,
            "OVERLAY": self._overlay,
            "TIMESTAMPADD": self._with_unit,
            "TIMESTAMPDIFF": self._with_unit,
            "FLOOR": self._to_unit,
            "CEIL": self._to_unit,
            "CEILING": self._to_unit,
        }
        return readers.get(name) or self.json_reader(name)

    def _plain_arguments(self, call: FlinkCall) -> None:
        if self.sees("*"):
            call.append("expressions", put_at(exp.Star(), self.take().at))
            return
        if self.accept("DISTINCT"):
            call.set("distinct", True)
        else:
            self.accept("ALL")
        for argument in self.comma_separated(self._argument):
            call.append("expressions", argument)

    def _argument(self) -> exp.Expr:
        if self.sees("MODEL") and self.sees_name(1):
            self.refuse("a MODEL as an argument")
        if self.sees_name() and self.peek(1).key == "=>":
            at = self.peek().at
            name = self.identifier("the name of an argument")
            self.expect("=>")
            value = self._table_argument() if self.sees("TABLE") else self.expression()
            return put_at(exp.Kwarg(this=name, expression=value), at)
        return self._table_argument() if self.sees("TABLE") else self.expression()

    def _table_argument(self) -> TableArgument:
        start = self.expect("TABLE")
        of: exp.Expr = self.subquery() if self.sees("(") else self.table_name()
        found = put_at(TableArgument(this=of), start.at)
        if self.accept("PARTITION", "BY"):
            if self.sees("("):
                found.set("partition_by", self.in_parentheses(self.expression))
            else:
                # A comma here would separate arguments of the call.
                found.set("partition_by", [self.expression()])
        if self.sees("ORDER"):
            found.set("order", self.order_of_argument())
        return found

    def _add(self, call: FlinkCall, *arguments: exp.Expr) -> None:
        for argument in arguments:
            call.append("expressions", argument)

    def _extract(self, call: FlinkCall) -> None:
        unit = self._unit()
        self.expect("FROM")
        self._add(call, unit, self.expression())

    def _position(self, call: FlinkCall) -> None:
        sought = self.operand()
        self.expect("IN")
        self._add(call, sought, self.operand())

    def _trim(self, call: FlinkCall) -> None:
        at = self.peek().at
        side = "BOTH"
        written = self.sees_any(*_TRIM_SIDES)
        if written:
            side = self.take().key
        if written and self.accept("FROM"):
            what: exp.Expr = put_at(exp.Literal.string(" "), at)
        else:
            what = self.expression()
            if not written and not self.sees("FROM"):
                self._add(call, what)
                return
            self.expect("FROM")
        self._add(call, put_at(exp.Var(this=side), at), what, self.expression())

    def _substring(self, call: FlinkCall) -> None:
        self._add(call, self.expression())
        if self.accept("FROM"):
            self._add(call, self.expression())
            if self.accept("FOR"):
                self._add(call, self.expression())
            return
        while self.accept(","):
            self._add(call, self.expression())

    def _overlay(self, call: FlinkCall) -> None:
        self._add(call, self.expression())
        self.expect("PLACING")
        self._add(call, self.expression())
        self.expect("FROM")
        self._add(call, self.expression())
        if self.accept("FOR"):
            self._add(call, self.expression())

    def _with_unit(self, call: FlinkCall) -> None:
        self._add(call, self._unit())
        while self.accept(","):
            self._add(call, self.expression())

    def _to_unit(self, call: FlinkCall) -> None:
        if self.sees(")"):
            return
        self._add(call, *self.comma_separated(self.expression))
        if self.accept("TO"):
            self._add(call, self._unit())

    def _unit(self) -> exp.Var:
        token = self.peek()
        if token.key not in UNITS:
            self.fail("a unit such as SECOND, MINUTE, HOUR, DAY, MONTH or YEAR")
        self.take()
        return put_at(exp.Var(this=token.key.removeprefix("SQL_TSI_")), token.at)
