"""Parser layer for hints and option lists: `'key' = 'value'` pairs."""

from __future__ import annotations

from collections.abc import Container

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.sql.expressions.parser import ExpressionParser
from streamtable.sql.lexer.tokens import Kind, Token
from streamtable.sql.nodes import HintNode, HintOption
from streamtable.sql.place import put_at


class HintParser(ExpressionParser):
    """Parse hints and option lists."""

    def options(self) -> dict[str, Given]:
        """Parse `('key' = 'value', ...)`; each option has the place of its key."""
        found: dict[str, Given] = {}
        for key, value in self.in_parentheses(self._option):
            self._check_new(key, found)
            found[key.text] = Given(value.text, key.at)
        return found

    def _option(self) -> tuple[Token, Token]:
        key = self.expect_kind(Kind.STRING, "an option as 'key' = 'value'")
        self.expect("=")
        return key, self.expect_kind(Kind.STRING, "the option's value in quotes")

    def _hint_option(self) -> tuple[Token, Token]:
        """Parse an option whose key may be an unquoted name."""
        if self.peek().kind is Kind.STRING:
            return self._option()
        key = self.peek()
        self.identifier("'key' = 'value'")
        self.expect("=")
        return key, self.expect_kind(Kind.STRING, "the option's value in quotes")

    def _check_new(self, key: Token, known: Container[str]) -> None:
        if key.text in known:
            raise StreamtableError(Condition.DUPLICATE_OPTION, at=key.at, option=key.text)

    def hints(self) -> list[HintNode]:
        """Parse `/*+ OPTIONS('k' = 'v'), BROADCAST(t) */`, if present."""
        found: list[HintNode] = []
        while self.accept("/*+"):
            found.append(self._hint())
            while not self.accept("*/"):
                self.accept(",")
                found.append(self._hint())
        return found

    def _hint(self) -> HintNode:
        at = self.peek().at
        name = self.identifier("a hint such as OPTIONS('key' = 'value')").name.upper()
        hint = put_at(HintNode(this=name, expressions=[]), at)
        if self.sees("(", ")"):
            self.accept("(", ")")
        elif self.sees("("):
            for part in self.in_parentheses(lambda: self._hint_part(hint)):
                hint.append("expressions", part)
        return hint

    def _hint_part(self, hint: HintNode) -> exp.Expr:
        if self.peek().kind is not Kind.STRING and self.peek(1).key != "=":
            return self.identifier("'key' = 'value' or a name")
        key, value = self._hint_option()
        self._check_new(key, hint.options)
        literal = put_at(exp.Literal.string(value.text), value.at)
        return put_at(HintOption(this=key.text, expression=literal), key.at)
