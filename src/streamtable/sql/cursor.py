"""The way through one statement's tokens: looking ahead, taking, failing; names and places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.place import put_at
from streamtable.sql.tokens import Kind, Token
from streamtable.sql.words import RESERVED

T = TypeVar("T")

#: Flink has no such bound; it keeps hostile nesting from ending in a RecursionError.
_DEEPEST = 60
_MOST_PARTS = 3  # catalog, database, table


class Cursor:
    """A position in a statement's tokens; the layers of the parser build on it."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._depth = 0

    # Looking and taking

    def peek(self, ahead: int = 0) -> Token:
        """A token without taking it; the END token stands behind the last."""
        return self._tokens[min(self._index + ahead, len(self._tokens) - 1)]

    @property
    def last(self) -> Token:
        """The token taken last."""
        return self._tokens[max(self._index - 1, 0)]

    def take(self) -> Token:
        """The next token."""
        token = self.peek()
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def sees(self, *keys: str) -> bool:
        """Whether these keywords or symbols come next."""
        return all(self.peek(ahead).key == key for ahead, key in enumerate(keys))

    def sees_any(self, *keys: str) -> bool:
        """Whether one of these keywords or symbols comes next."""
        return self.peek().key in keys

    def accept(self, *keys: str) -> Token | None:
        """Takes these keywords or symbols if they come next; the first of them, else None."""
        if not self.sees(*keys):
            return None
        first = self.peek()
        self._index += len(keys)
        return first

    def expect(self, *keys: str) -> Token:
        """Takes these keywords or symbols; anything else is a fault. The first of them."""
        first = self.peek()
        for key in keys:
            if not self.accept(key):
                self.fail(key if key.isidentifier() else f"'{key}'")
        return first

    def expect_kind(self, kind: Kind, expected: str) -> Token:
        """Takes a token of one kind."""
        if self.peek().kind is not kind:
            self.fail(expected)
        return self.take()

    def text(self, expected: str) -> str:
        """Takes a string literal; its value."""
        return self.expect_kind(Kind.STRING, expected).text

    def whole_number(self, expected: str) -> int:
        """Takes a number without fraction."""
        token = self.peek()
        if token.kind is not Kind.NUMBER or not token.text.isdecimal():
            self.fail(expected)
        return int(self.take().text)

    def comma_separated(self, read: Callable[[], T]) -> list[T]:
        """One or more, with commas between."""
        found = [read()]
        while self.accept(","):
            found.append(read())
        return found

    def in_parentheses(self, read: Callable[[], T]) -> list[T]:
        """`( one, or more )`."""
        self.expect("(")
        found = self.comma_separated(read)
        self.close()
        return found

    def close(self) -> None:
        """The `)` behind a list."""
        if not self.accept(")"):
            self.fail("',' or ')'")

    # Names and places

    def sees_name(self, ahead: int = 0) -> bool:
        """Whether a name can stand here: backticks, or a word the grammar does not need."""
        token = self.peek(ahead)
        return token.kind is Kind.QUOTED or (token.kind is Kind.WORD and token.key not in RESERVED)

    def identifier(self, expected: str) -> exp.Identifier:
        """Takes a name."""
        if not self.sees_name():
            reserved = self.peek().kind is Kind.WORD
            self.fail(expected, hint="a keyword needs backticks to be a name" if reserved else None)
        token = self.take()
        return put_at(exp.Identifier(this=token.text, quoted=token.kind is Kind.QUOTED), token.at)

    def path(self, expected: str) -> list[exp.Identifier]:
        """Takes a table's name of one to three parts."""
        parts = [self.identifier(expected)]
        while self.accept("."):
            if len(parts) == _MOST_PARTS:
                self.fail("a name of at most three parts")
            parts.append(self.identifier(f"{expected} behind the '.'"))
        return parts

    # Faults

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        """SYNTAX at the next token."""
        token = self.peek()
        raise StreamtableError(
            Condition.SYNTAX, at=token.at, hint=hint, expected=expected, found=token.described()
        )

    def refuse(self, what: str, at: Span | None = None) -> NoReturn:
        """NOT_YET, at the next token unless told otherwise."""
        raise StreamtableError(Condition.NOT_YET, at=at or self.peek().at, what=what)

    def nested(self, read: Callable[[], T]) -> T:
        """Reads something that can hold itself."""
        if self._depth >= _DEEPEST:
            self.fail(f"nesting of at most {_DEEPEST} levels")
        self._depth += 1
        found = read()
        self._depth -= 1
        return found
