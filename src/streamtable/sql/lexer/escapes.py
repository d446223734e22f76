"""Escape sequences of the literals `U&'...'` and `E'...'`, with the rules of Flink's parser."""

from __future__ import annotations

import re

#: The content of `E'...'` behind its first quote; a quote in it is doubled or behind a backslash.
C_STYLE = re.compile(r"((?:[^'\\]|\\.|'')*)'", re.DOTALL)

_C_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{1,2})|([0-3][0-7]{0,2})|(.))|''",
    re.DOTALL,
)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unicode_text(written: str, escape: str) -> str:
    r"""Return the text of `U&'...'`, in which `\XXXX` and `\+XXXXXX` are characters.

    Args:
        written: the content, with its escape sequences.
        escape: the character in place of the backslash.

    Raises:
        ValueError: for an invalid sequence.
    """
    mark = re.escape(escape)
    escapes = rf"{mark}(?:([0-9a-fA-F]{{4}})|\+([0-9a-fA-F]{{6}})|({mark})|)"
    return re.sub(escapes, _unicode_character, written)


def _unicode_character(found: re.Match[str]) -> str:
    if found[3]:
        return found[3]
    character = chr(int(found[1] or found[2] or "", 16))
    character.encode()  # fails for half of a surrogate pair
    return character


def c_style_text(written: str) -> str:
    r"""Return the text of `E'...'`, in which `\n`, `\x0A`, `\012` and `\u000A` are a line break.

    Before any other character, a backslash is a character of the text.

    Raises:
        ValueError: for an incomplete `\u` or `\U`, or for no character of Unicode.
    """
    text = _C_ESCAPE.sub(_c_character, written)
    # Two sequences can be the halves of a surrogate pair.
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def _c_character(found: re.Match[str]) -> str:
    if code := found[1] or found[2] or found[3]:
        return chr(int(code, 16))
    if octal := found[4]:
        return chr(int(octal, 8))
    other: str | None = found[5]
    match other:
        case None:
            return "'"
        case "u" | "U":
            message = f"an incomplete \\{other}"
            raise ValueError(message)
        case "\\" | "'" | "x":
            return other
        case _:
            return _CONTROLS.get(other, found[0])
