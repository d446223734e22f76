"""Token cursor: lookahead, matching and errors for the tokens of one statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.lexer.tokens import Kind, Token
from streamtable.sql.lexer.words import RESERVED
from streamtable.sql.place import put_at

T = TypeVar("T")

#: Maximum nesting; Flink has no limit. It prevents a RecursionError on malicious input.
_DEEPEST = 60
_MOST_PARTS = 3  # catalog, database, table
#: Keywords that begin a clause after a list in parentheses.
_AFTER_LISTS = frozenset(
    {
        "WITH",
        "AS",
        "COMMENT",
        "PARTITIONED",
        "DISTRIBUTED",
        "LIKE",
        "FROM",
        "WHERE",
        "GROUP",
        "HAVING",
    }
    | {"ORDER", "UNION", "SELECT", "INSERT", "VALUES", "ON", "JOIN"}
)


class Cursor:
    """A position in the tokens of a statement; base class of the parser layers.

    Attributes:
        notices: messages about the statement for the user, one line each, with a place.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._depth = 0
        self.notices: list[str] = []

    # Lookahead and matching

    def peek(self, ahead: int = 0) -> Token:
        """Return a token without consuming it; an END token follows the last one."""
        return self._tokens[min(self._index + ahead, len(self._tokens) - 1)]

    @property
    def last(self) -> Token:
        """The last consumed token."""
        return self._tokens[max(self._index - 1, 0)]

    def take(self) -> Token:
        """Consume the next token."""
        token = self.peek()
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def sees(self, *keys: str) -> bool:
        """Return whether the next tokens are these keywords or symbols."""
        return all(self.peek(ahead).key == key for ahead, key in enumerate(keys))

    def sees_any(self, *keys: str) -> bool:
        """Return whether the next token is one of these keywords or symbols."""
        return self.peek().key in keys

    def accept(self, *keys: str) -> Token | None:
        """Consume these keywords or symbols if they are next; return the first one, or None."""
        if not self.sees(*keys):
            return None
        first = self.peek()
        self._index += len(keys)
        return first

    def expect(self, *keys: str) -> Token:
        """Consume these keywords or symbols, or raise SYNTAX; return the first of them."""
        first = self.peek()
        for key in keys:
            if not self.accept(key):
                self.fail(key if key.isidentifier() else f"'{key}'")
        return first

    def expect_kind(self, kind: Kind, expected: str) -> Token:
        """Consume a token of one kind."""
        if self.peek().kind is not kind:
            self.fail(expected)
        return self.take()

    def text(self, expected: str) -> str:
        """Consume a string literal and return its value."""
        return self.expect_kind(Kind.STRING, expected).text

    def whole_number(self, expected: str) -> int:
        """Consume a number without a fraction."""
        token = self.peek()
        if token.kind is not Kind.NUMBER or not token.text.isdecimal():
            self.fail(expected)
        return int(self.take().text)

    def comma_separated(self, read: Callable[[], T]) -> list[T]:
        """Parse one or more items, separated by commas."""
        found = [read()]
        while self.accept(","):
            found.append(read())
        return found

    def in_parentheses(self, read: Callable[[], T]) -> list[T]:
        """Parse one or more items in parentheses."""
        opening = self.expect("(")
        found = self.comma_separated(read)
        self.close(opening)
        return found

    def close(self, opening: Token) -> None:
        """Consume the `)` after a list.

        Args:
            opening: the `(` before the list. The error names its place if another clause follows.
        """
        if self.accept(")"):
            return
        token, hint = self.peek(), None
        if token.kind is Kind.END or token.key in _AFTER_LISTS:
            hint = f"the '(' at {opening.at.line}:{opening.at.column} has no ')'"
        self.fail("',' or ')'", hint)

    # Names

    def sees_name(self, ahead: int = 0) -> bool:
        """Return whether a token is a name: in backticks, or a word that is not reserved."""
        token = self.peek(ahead)
        return token.kind is Kind.QUOTED or (token.kind is Kind.WORD and token.key not in RESERVED)

    def identifier(self, expected: str) -> exp.Identifier:
        """Consume a name."""
        if not self.sees_name():
            reserved = self.peek().kind is Kind.WORD
            self.fail(expected, hint="a keyword needs backticks to be a name" if reserved else None)
        token = self.take()
        return put_at(exp.Identifier(this=token.text, quoted=token.kind is Kind.QUOTED), token.at)

    def path(self, expected: str) -> list[exp.Identifier]:
        """Consume a table's name of one to three parts."""
        parts = [self.identifier(expected)]
        while self.accept("."):
            if len(parts) == _MOST_PARTS:
                self.fail("a name of at most three parts")
            parts.append(self.identifier(f"{expected} after the '.'"))
        return parts

    # Errors

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        """Raise SYNTAX at the next token."""
        token = self.peek()
        if hint is None and token.key == ":" and self.peek(1).key == ":":
            hint = "Flink SQL has no '::'; write CAST(value AS type)"
        raise StreamtableError(
            Condition.SYNTAX, at=token.at, hint=hint, expected=expected, found=token.described()
        )

    def refuse(self, what: str, at: Span | None = None, hint: str | None = None) -> NoReturn:
        """Raise NOT_YET, by default at the next token."""
        raise StreamtableError(Condition.NOT_YET, at=at or self.peek().at, what=what, hint=hint)

    @property
    def is_outermost(self) -> bool:
        """Return whether the parser is outside all nested constructs."""
        return self._depth == 0

    def nested(self, read: Callable[[], T]) -> T:
        """Parse a construct that can contain itself."""
        if self._depth >= _DEEPEST:
            self.fail(f"nesting of at most {_DEEPEST} levels")
        self._depth += 1
        found = read()
        self._depth -= 1
        return found
