r"""Lexer: drops comments (`--`, `//`, `/* */`), resolves `${variables}` and keeps hints.

A variable inside a string or a quoted name becomes part of that text, whatever its value. A value
with a quote therefore cannot end the literal. A variable outside becomes separate tokens, or part
of the word that it touches (`orders_${stage}`). All these tokens have the place of the start of the
word. A `${name}` inside the value of a variable is not resolved.

The value of a SET without quotes is one token: `s3a://bucket/path` has no comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.lexer.escapes import C_STYLE, c_style_text, unicode_text
from streamtable.sql.lexer.tokens import Kind, Token
from streamtable.sql.lexer.variables import value_of

_VARIABLE = re.compile(r"\$\{\s*([^{}\s']*)\s*\}")
_BLANK = re.compile(r"(?:\s+|(?:--|//)[^\n]*|/\*(?!\+).*?\*/)+", re.DOTALL)
_WORD = re.compile(rf"(?:[^\W\d]|{_VARIABLE.pattern})(?:\w|\$(?!\{{)|{_VARIABLE.pattern})*")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SYMBOL = re.compile(r"=>|<>|<=|>=|!=|\|\||/\*\+|.", re.DOTALL)
_UESCAPE = re.compile(r"UESCAPE\b", re.IGNORECASE)
#: Characters that cannot mark an escape in U&'...'.
_NO_ESCAPES = '0123456789abcdefABCDEF+" \t\r\n'
#: The value of a SET, as in Flink up to white space or `;`, or a number and its unit.
_BARE = re.compile(rf"[0-9]+[ \t]+[a-zA-Z]+(?=\s|;|\Z)|(?!['\"`])(?:{_VARIABLE.pattern}|[^;\s])+")
_END = "the end of the script"
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*\Z")


class Lexer:
    """Split a text into tokens, once.

    Args:
        text: the script.
        file: name of the file, for places.
        variables: values of `${name}`; None: variables are not resolved.
    """

    def __init__(self, text: str, file: str, variables: Mapping[str, str] | None) -> None:
        self._text = text
        self._file = file
        self._variables = variables
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._position = 0
        self._in_hint = False
        #: For each quote, the text that is most likely unclosed: its start, and whether a following
        #: word indicates it.
        self._suspects: dict[str, tuple[int, bool]] = {}

    def span(self, offset: int) -> Span:
        """Return the place of a character."""
        line = bisect_right(self._lines, offset)
        return Span(self._file, line, offset - self._lines[line - 1] + 1)

    def tokens(self) -> Iterator[Token]:
        """Yield every token of the text, without an END token."""
        first, before = "", ";"
        while (start := self._skip_blank()) < len(self._text):
            bare = _BARE.match(self._text, start) if (first, before) == ("SET", "=") else None
            for token in self._token(start) if bare is None else self._bare(start, bare[0]):
                yield token
                if before == ";":
                    first = token.key
                elif before == "=":
                    first = ""  # a SET has one value
                before = token.key

    def expand(self, text: str, at: Span) -> str:
        """Replace the variables in a text by their values."""
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
                "use backticks for names and single quotes for strings",
            )
        elif found := _WORD.match(self._text, start):
            yield from self._word(start, found[0])
        elif found := _NUMBER.match(self._text, start):
            self._position = found.end()
            yield self._make(Kind.NUMBER, start, found[0])
        else:
            yield self._symbol(start)

    def _bare(self, start: int, text: str) -> Iterator[Token]:
        self._position = start + len(text)
        yield self._make(Kind.BARE, start, self.expand(text, self.span(start)))

    def _word(self, start: int, text: str) -> Iterator[Token]:
        self._position = start + len(text)
        if "${" in text and self._variables is not None:
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
        elif text.upper() == "E" and self._next() == "'":
            yield self._make(Kind.STRING, start, self._c_style(start))
        elif text.upper() == "U" and self._text.startswith("&'", self._position):
            yield self._make(Kind.STRING, start, self._unicode(start))
        else:
            yield self._make(Kind.WORD, start, text)

    def _c_style(self, start: int) -> str:
        """Return the value of `E'...'`."""
        found = C_STYLE.match(self._text, self._position + 1)
        if found is None:
            raise self._unclosed(start, "'")
        self._position = found.end()
        try:
            return self.expand(c_style_text(found[1]), self.span(start))
        except ValueError:
            expected = r"\uXXXX or \UXXXXXXXX with hexadecimal digits in E'...'"
            raise self._fault(start, expected, "another escape") from None

    def _unicode(self, start: int) -> str:
        """Return the value of `U&'...'`, its parts on later lines, and `UESCAPE '#'`."""
        parts = [self._quoted(self._position + 1, "'")]
        end = self._position
        while self._text.startswith("'", behind := self._skip_blank()):
            if "\n" not in self._text[end:behind]:
                break
            parts.append(self._quoted(behind, "'"))
            end = self._position
        escape = "\\"
        if word := _UESCAPE.match(self._text, behind):
            self._position = word.end()
            escape = self._uescape(self._skip_blank())
            end = self._position
        self._position = end
        try:
            return unicode_text("".join(parts), escape)
        except ValueError:
            expected = f"{escape}XXXX or {escape}+XXXXXX in U&'...'"
            raise self._fault(start, expected, "another escape") from None

    def _uescape(self, start: int) -> str:
        """Return the character after UESCAPE."""
        found = self._quoted(start, "'") if self._text.startswith("'", start) else ""
        if len(found) != 1 or found in _NO_ESCAPES:
            raise self._fault(
                start,
                "one character in quotes after UESCAPE",
                "another text",
                "it cannot be a hexadecimal digit, a blank, '+' or a double quote",
            )
        return found

    def _parts(self, text: str, at: Span) -> Iterator[Token]:
        """Yield the tokens of a variable's value; an error in it is located at the variable."""
        try:
            yield from Lexer(text, self._file, None).tokens()
        except StreamtableError as fault:
            raise StreamtableError(
                fault.condition, at=at, hint="check the variable's value", **fault.values
            ) from None

    def _quoted(self, start: int, quote: str) -> str:
        """Return the content of the quoted text that begins at `start`, and move past its end."""
        begin = end = start + 1
        while True:
            end = self._text.find(quote, end)
            if end < 0:
                raise self._unclosed(start, quote)
            if not self._text.startswith(quote, end + 1):
                break
            end += 2
        self._position = end + 1
        if "\n" in self._text[begin:end]:
            # A closing quote directly before a word is probably an opening one: an earlier quote is
            # missing.
            at_word = self._text[end + 1 : end + 2].isalnum()
            if quote not in self._suspects or (at_word and not self._suspects[quote][1]):
                self._suspects[quote] = (start, at_word)
        # Resolve doubled quotes first: the value of a variable may contain two quotes itself.
        written = self._text[begin:end].replace(quote * 2, quote)
        return self.expand(written, self.span(start))

    def _unclosed(self, start: int, quote: str) -> StreamtableError:
        """Return the error of an unclosed text; the missing quote may be further up."""
        expected = f"{_named(quote)} to end the text that begins here"
        if quote in self._suspects:
            return self._fault(self._suspects[quote][0], expected, "the end of the line")
        return self._fault(start, expected)

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
