r"""Text -> tokens: comments dropped, `${variables}` resolved, hints kept.

A variable inside a string or a backticked name becomes part of that text, whatever it holds, so a
value with a quote cannot end the literal. A variable outside becomes tokens of its own, or part of
the word it touches (`orders_${stage}`); they all stand where the word begins.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.tokens import Kind, Token
from streamtable.sql.variables import value_of

_VARIABLE = re.compile(r"\$\{\s*([^{}\s']*)\s*\}")
_BLANK = re.compile(r"(?:\s+|--[^\n]*|/\*(?!\+).*?\*/)+", re.DOTALL)
_WORD = re.compile(rf"(?:[^\W\d]|{_VARIABLE.pattern})(?:\w|\$(?!\{{)|{_VARIABLE.pattern})*")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SYMBOL = re.compile(r"=>|<>|<=|>=|!=|\|\||/\*\+|.", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:([0-9a-fA-F]{4})|\+([0-9a-fA-F]{6})|(\\)|)")
_END = "the end of the script"
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*\Z")


class Lexer:
    """Reads one text once.

    Args:
        text: the script.
        file: its name, for places.
        variables: values of `${name}`; None leaves variables alone.
    """

    def __init__(self, text: str, file: str, variables: Mapping[str, str] | None) -> None:
        self._text = text
        self._file = file
        self._variables = variables
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._position = 0
        self._in_hint = False

    def span(self, offset: int) -> Span:
        """The place of a character."""
        line = bisect_right(self._lines, offset)
        return Span(self._file, line, offset - self._lines[line - 1] + 1)

    def tokens(self) -> Iterator[Token]:
        """Every token of the text, without an end mark."""
        while (start := self._skip_blank()) < len(self._text):
            yield from self._token(start)

    def expand(self, text: str, at: Span) -> str:
        """Text with its variables replaced by their values."""
        if self._variables is None:
            return text
        known = self._variables
        return _VARIABLE.sub(lambda found: value_of(found[1], known, at), text)

    def _skip_blank(self) -> int:
        found = _BLANK.match(self._text, self._position)
        if found:
            self._position = found.end()
        rest = self._position
        if self._text.startswith("/*", rest) and not self._text.startswith("/*+", rest):
            raise self._fault(rest, "'*/' to end the comment that begins here")
        return rest

    def _token(self, start: int) -> Iterator[Token]:
        first = self._text[start]
        if first == "'":
            yield self._make(Kind.STRING, start, self._quoted(start, "'"))
        elif first == "`":
            name = self._quoted(start, "`")
            if not name:
                raise self._fault(start, "a name between the backticks", "nothing")
            yield self._make(Kind.QUOTED, start, name)
        elif first == '"':
            raise self._fault(
                start,
                "a name or a string",
                "a double quote",
                "names stand in backticks, strings in single quotes",
            )
        elif found := _WORD.match(self._text, start):
            yield from self._word(start, found[0])
        elif found := _NUMBER.match(self._text, start):
            self._position = found.end()
            yield self._make(Kind.NUMBER, start, found[0])
        else:
            yield self._symbol(start)

    def _word(self, start: int, text: str) -> Iterator[Token]:
        self._position = start + len(text)
        if "${" in text:
            at = self.span(start)
            for token in self._parts(self.expand(text, at), at):
                yield Token(token.kind, token.text, at, start, self._position)
        elif text.upper() == "X" and self._next() == "'":
            digits = self._quoted(self._position, "'")
            if not _HEX.match(digits):
                raise self._fault(
                    start, "pairs of hexadecimal digits in X'...'", "other characters"
                )
            yield self._make(Kind.BINARY, start, digits.upper())
        elif text.upper() == "U" and self._text.startswith("&'", self._position):
            escaped = self._quoted(self._position + 1, "'")
            try:
                text = _ESCAPED.sub(_unescape, escaped)
            except ValueError:
                raise self._fault(
                    start, r"\XXXX or \+XXXXXX in U&'...'", "another escape"
                ) from None
            yield self._make(Kind.STRING, start, text)
        else:
            yield self._make(Kind.WORD, start, text)

    def _parts(self, text: str, at: Span) -> Iterator[Token]:
        """Tokens of a variable's value; a fault in it is a fault at the variable."""
        try:
            yield from Lexer(text, self._file, None).tokens()
        except StreamtableError as fault:
            raise StreamtableError(
                fault.condition, at=at, hint="see the variable's value", **fault.values
            ) from None

    def _quoted(self, start: int, quote: str) -> str:
        """The content of a quoted text that begins at `start`; moves behind its end."""
        begin = end = start + 1
        while True:
            end = self._text.find(quote, end)
            if end < 0:
                raise self._fault(start, f"{_named(quote)} to end the text that begins here")
            if not self._text.startswith(quote, end + 1):
                break
            end += 2
        self._position = end + 1
        # Doubled quotes are resolved first: a value may hold two quotes of its own.
        written = self._text[begin:end].replace(quote * 2, quote)
        return self.expand(written, self.span(start))

    def _symbol(self, start: int) -> Token:
        if self._text.startswith("${", start) and self._variables is not None:
            raise self._fault(start, "${name}", "an incomplete variable")
        if self._in_hint and self._text.startswith("*/", start):
            self._in_hint = False
            self._position = start + 2
            return self._make(Kind.SYMBOL, start, "*/")
        found = _SYMBOL.match(self._text, start)
        text = found[0] if found else ""
        self._in_hint = self._in_hint or text == "/*+"
        self._position = start + len(text)
        return self._make(Kind.SYMBOL, start, text)

    def _next(self) -> str:
        return self._text[self._position : self._position + 1]

    def _make(self, kind: Kind, start: int, text: str) -> Token:
        return Token(kind, text, self.span(start), start, self._position)

    def _fault(
        self, start: int, expected: str, found: str = _END, hint: str | None = None
    ) -> StreamtableError:
        return StreamtableError(
            Condition.SYNTAX, at=self.span(start), hint=hint, expected=expected, found=found
        )


def _named(quote: str) -> str:
    return "a single quote" if quote == "'" else "a backtick"


def _unescape(found: re.Match[str]) -> str:
    """The character that an escape stands for; ValueError where it stands for none."""
    if found[3]:
        return found[3]
    character = chr(int(found[1] or found[2] or "", 16))
    character.encode()  # halves of a surrogate pair are no characters
    return character
