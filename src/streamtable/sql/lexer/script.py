"""Split a script into statements.

`;` ends a statement, except inside a statement set, which ends at `END`. Semicolons in strings,
quoted names and comments do not count: the lexer has already processed these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streamtable.core.errors import Span
from streamtable.core.text_files import read_text
from streamtable.sql.lexer.lexer import Lexer
from streamtable.sql.lexer.tokens import Kind, Token

#: File name of a script that is not from a file.
NO_FILE = "<string>"

_OPENS_SET = frozenset({"EXECUTE", "BEGIN", "EXPLAIN", "COMPILE"})


def read_script(file: Path) -> str:
    """Return the text of a script; FILE_UNREADABLE if it cannot be read."""
    return read_text(file, "give the path of a SQL script")


@dataclass(frozen=True)
class Script:
    """A script in Flink SQL.

    Attributes:
        text: the text as written, variables unresolved.
        file: name of the file, as the user passed it.
        variables: values of `${name}`; the environment supplies the rest.
    """

    text: str
    file: str = NO_FILE
    variables: Mapping[str, str] = field(default_factory=dict)

    def statements(self) -> Iterator[tuple[Token, ...]]:
        """Yield the tokens of each statement, with an END token; empty statements are omitted."""
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
        """Return the text of the script from one token to another, variables resolved."""
        lexer = Lexer(self.text, self.file, self.variables)
        return lexer.expand(self.text[first.start : last.end], first.at)


def _end(at: Span, offset: int) -> Token:
    return Token(Kind.END, "", at, offset, offset)


def _opens_set(held: list[Token]) -> bool:
    return [token.key for token in held[-2:]] == ["STATEMENT", "SET"] and held[0].key in _OPENS_SET


def _closes_set(held: list[Token]) -> bool:
    """Return whether END closes the statement set; the END of a CASE never follows `;` or BEGIN."""
    return held[-1].key == "END" and held[-2].key in (";", "BEGIN")
