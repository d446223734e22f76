"""Error excerpt: the script line of an error, with a caret under the place; secrets masked."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.errors import Span, StreamtableError
from streamtable.core.secrets import MASK, is_secret
from streamtable.sql.lexer.lexer import Lexer
from streamtable.sql.lexer.tokens import Kind, Token

#: Maximum characters of a displayed line, and maximum characters before the caret.
_WIDTH = 120
_LEAD = 60


@dataclass(frozen=True)
class _Line:
    """A line of a script.

    Attributes:
        text: text of the line.
        begin: offset of its first character in the script.
        column: position of the caret in the text, from 0.
    """

    text: str
    begin: int
    column: int


def excerpt(text: str, at: Span) -> str | None:
    """Return two lines: the script's line with its number, and a caret under the column.

    Args:
        text: the whole script.
        at: the place in the script.

    Returns:
        The excerpt; None if the text has no such line, or if the line may contain a secret that
            cannot be located.
    """
    lines = text.split("\n")
    if not 0 < at.line <= len(lines):
        return None
    begin = sum(len(line) + 1 for line in lines[: at.line - 1])
    line = _masked(text, _Line(lines[at.line - 1], begin, at.column - 1))
    if line is None:
        return None
    first = max(0, line.column - _LEAD) if len(line.text) > _WIDTH else 0
    shown = "".join(c if c.isprintable() else " " for c in line.text[first : first + _WIDTH])
    margin = f"{at.line:>5} | "
    caret = " " * (line.column - first) + "^"
    return f"{margin}{shown}".rstrip() + f"\n{'|':>{len(margin) - 1}} {caret}"


def _masked(text: str, line: _Line) -> _Line | None:
    """Mask the values of secret options in a line, and adjust the column."""
    if not is_secret(text):
        return line
    try:
        assigned = _assigned(list(Lexer(text, "", None).tokens()))
    except StreamtableError:
        return None
    column, shown = line.column, line.text
    for key, value in reversed(assigned):
        first = max(0, value.start + 1 - line.begin)
        last = min(len(line.text), value.end - 1 - line.begin)
        if is_secret(key) and first < last:
            shown = shown[:first] + MASK + shown[last:]
            column += len(MASK) - (last - first) if column >= last else 0
    doubtful = _names_a_secret(shown, [key for key, _ in assigned])
    return None if doubtful else _Line(shown, line.begin, column)


def _assigned(tokens: list[Token]) -> list[tuple[str, Token]]:
    """Return keys and values of `'key' = 'value'`."""
    return [
        (key.text, value)
        for key, equals, value in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if (key.kind, equals.key, value.kind) == (Kind.STRING, "=", Kind.STRING)
    ]


def _names_a_secret(line: str, keys: list[str]) -> bool:
    """Return whether the line may assign a secret other than by a masked option."""
    for key in keys:
        line = line.replace(key, "")
    return is_secret(line) and any(sign in line for sign in ("=", "'", ": "))
