"""A script and its cut into statements.

`;` ends a statement, except inside a statement set, which runs to its `END`. Strings, backticks
and comments never cut: the lexer has taken them away before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streamtable.core.errors import Span
from streamtable.sql.lexer import Lexer
from streamtable.sql.tokens import Kind, Token

#: How the file of a text that came from no file is named.
NO_FILE = "<string>"

_OPENS_SET = frozenset({"EXECUTE", "BEGIN", "EXPLAIN", "COMPILE"})


@dataclass(frozen=True)
class Script:
    """A text of Flink SQL.

    Attributes:
        text: as written, variables unresolved.
        file: where it came from, as the user named it.
        variables: values of `${name}`; the environment supplies the rest.
    """

    text: str
    file: str = NO_FILE
    variables: Mapping[str, str] = field(default_factory=dict)

    def statements(self) -> Iterator[tuple[Token, ...]]:
        """The tokens of each statement, closed by an END token; empty statements are left out."""
        lexer = Lexer(self.text, self.file, self.variables)
        held: list[Token] = []
        in_set = False
        for token in lexer.tokens():
            if token.key == ";" and (not in_set or _closes_set(held)):
                if held:
                    yield (*held, _end(token.at, token.start))
                held, in_set = [], False
                continue
            held.append(token)
            in_set = in_set or _opens_set(held)
        if held:
            size = len(self.text)
            yield (*held, _end(lexer.span(size), size))

    def source(self, first: Token, last: Token) -> str:
        """What the script says from one token to another, variables resolved."""
        lexer = Lexer(self.text, self.file, self.variables)
        return lexer.expand(self.text[first.start : last.end], first.at)


def _end(at: Span, offset: int) -> Token:
    return Token(Kind.END, "", at, offset, offset)


def _opens_set(held: list[Token]) -> bool:
    return [token.key for token in held[-2:]] == ["STATEMENT", "SET"] and held[0].key in _OPENS_SET


def _closes_set(held: list[Token]) -> bool:
    """Whether the set has come to its END; that of a CASE never follows a `;` or BEGIN."""
    return held[-1].key == "END" and held[-2].key in (";", "BEGIN")
