"""Tokens: what the lexer makes of a script, each with the place of its first character."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from streamtable.core.errors import Span


class Kind(Enum):
    """What a token is; the value is how a message names it."""

    WORD = "word"
    QUOTED = "quoted name"
    STRING = "a string"
    BINARY = "a binary string"
    NUMBER = "number"
    SYMBOL = "symbol"
    END = "the end of the statement"


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: what it is.
        text: the name, number or symbol as written; the value of a string, quotes resolved.
        at: place of its first character.
        start: offset of its first character in the script.
        end: offset behind its last character.
        key: what the grammar compares: keywords in upper case, symbols, else empty.
    """

    kind: Kind
    text: str
    at: Span
    start: int
    end: int
    key: str = field(init=False)

    def __post_init__(self) -> None:
        key = ""
        if self.kind is Kind.WORD:
            key = self.text.upper()
        elif self.kind is Kind.SYMBOL:
            key = self.text
        object.__setattr__(self, "key", key)

    def described(self) -> str:
        """As messages show it; the content of strings stays out, it may be a secret."""
        match self.kind:
            case Kind.WORD | Kind.NUMBER | Kind.SYMBOL:
                return f"'{self.text}'"
            case Kind.QUOTED:
                return f"`{self.text}`"
            case _:
                return str(self.kind.value)
