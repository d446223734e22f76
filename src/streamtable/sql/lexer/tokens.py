"""Tokens of a script, each with the place of its first character."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from streamtable.core.errors import Span


class Kind(Enum):
    """Kind of a token; the value is its name in messages."""

    WORD = "word"
    QUOTED = "quoted name"
    STRING = "a string"
    BINARY = "a binary string"
    NUMBER = "number"
    SYMBOL = "symbol"
    BARE = "a value without quotes"
    END = "the end of the statement"


@dataclass(frozen=True, slots=True)
class Token:
    """A token.

    Attributes:
        kind: kind of the token.
        text: name, number or symbol as written; for a string, its value with quotes resolved.
        at: place of its first character.
        start: offset of its first character in the script.
        end: offset after its last character.
        key: value that the grammar compares: keyword in upper case, symbol, else empty.
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
        """The token in messages; the content of strings is omitted, because it may be a secret."""
        match self.kind:
            case Kind.WORD | Kind.NUMBER | Kind.SYMBOL:
                return f"'{self.text}'"
            case Kind.QUOTED:
                return f"`{self.text}`"
            case _:
                return str(self.kind.value)
