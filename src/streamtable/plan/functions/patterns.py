"""Java's date-time patterns, cut into fields and text, and the texts they match.

`yyyy-MM-dd HH:mm` is read by `DateTimeFormatter` in DATE_FORMAT and TO_TIMESTAMP, and by the
older, lenient `SimpleDateFormat` in TO_DATE, UNIX_TIMESTAMP and FROM_UNIXTIME.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.binding.bound import Bound
from streamtable.plan.functions.kinds import constant_text

#: What TO_TIMESTAMP and its kin read where no pattern is given.
DEFAULT = "yyyy-MM-dd HH:mm:ss"

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
_MONTHS = "January February March April May June July August September October November December"
_SHORT_MONTHS = "|".join(name[:3] for name in _MONTHS.split())


@dataclass(frozen=True)
class FieldToken:
    """A run of one letter, e.g. `yyyy`."""

    letter: str
    width: int


Token = FieldToken | str


def tokens_of(pattern: Bound) -> list[Token]:
    """The tokens of a constant pattern; text as str, neighbouring texts joined.

    Raises:
        StreamtableError: NOT_YET, where the pattern has an unclosed quote.
    """
    text = constant_text(pattern)
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        if match.start() != end:
            break
        end = match.end()
        if match.group(2):
            token: Token = FieldToken(match.group(2), len(match.group()))
        elif match.group(1) is not None:
            token = match.group(1).replace("''", "'") or "'"
        else:
            token = match.group()
        if isinstance(token, str) and found and isinstance(found[-1], str):
            found[-1] += token
        else:
            found.append(token)
    if end != len(text):
        raise unsupported(pattern, "an unclosed quote")
    return found


def pattern_of(tokens: Sequence[Token]) -> str:
    """Tokens as a pattern again, every text in quotes."""
    return "".join(
        "'" + t.replace("'", "''") + "'" if isinstance(t, str) else t.letter * t.width
        for t in tokens
    )


def fields_of(tokens: Sequence[Token]) -> list[FieldToken]:
    """The fields alone."""
    return [token for token in tokens if isinstance(token, FieldToken)]


def unsupported(pattern: Bound, what: str) -> StreamtableError:
    """NOT_YET for a pattern, naming the part."""
    shown = f"{what} in the date pattern '{pattern.constant}'"
    return StreamtableError(Condition.NOT_YET, at=pattern.at, what=shown)


def java_quoted(text: str) -> str:
    """A text for a Java regular expression."""
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text)


def shape_of(tokens: Sequence[Token], pattern: Bound) -> str:
    """What `DateTimeFormatter` reads by these tokens, as a regular expression without groups.

    Raises:
        StreamtableError: NOT_YET, for letters that we do not read.
    """
    pieces = []
    for position, token in enumerate(tokens):
        if isinstance(token, str):
            pieces.append(java_quoted(token))
            continue
        piece = _STRICT.get((token.letter, token.width))
        if token.letter == "S":
            piece = rf"\d{{{token.width}}}"
        followed = position + 1 < len(tokens) and isinstance(tokens[position + 1], FieldToken)
        if piece is None or (followed and token.width == 1):
            raise unsupported(pattern, f"'{token.letter * token.width}'")
        pieces.append(piece)
    return "".join(pieces)


_STRICT = {
    ("y", 4): r"\d{4}",
    ("u", 4): r"\d{4}",
    ("y", 2): r"\d{2}",
    ("M", 1): r"\d{1,2}",
    ("M", 2): r"\d{2}",
    ("M", 3): f"(?:{_SHORT_MONTHS})",
    ("M", 4): f"(?:{_MONTHS.replace(' ', '|')})",
    **{(letter, 1): r"\d{1,2}" for letter in "dHhms"},
    **{(letter, 2): r"\d{2}" for letter in "dHhms"},
    ("a", 1): "(?:AM|PM)",
}


def lenient_regex(tokens: Sequence[Token], pattern: Bound) -> str:
    """What `SimpleDateFormat` reads by these tokens; text after it is not looked at.

    A number takes all digits there are, unless another number follows at once.

    Raises:
        StreamtableError: NOT_YET, for letters that we do not read.
    """
    pieces = []
    for position, token in enumerate(tokens):
        if isinstance(token, str):
            pieces.append(java_quoted(token))
            continue
        widths = (3, 9) if token.letter == "y" else (1, 9 if token.letter == "S" else 2)
        if token.letter not in "yMdHmsS" or not widths[0] <= token.width <= widths[1]:
            raise unsupported(pattern, f"'{token.letter * token.width}'")
        followed = position + 1 < len(tokens) and isinstance(tokens[position + 1], FieldToken)
        pieces.append(rf"(\d{{{token.width}}})" if followed else r"\s*(\d{1,9})")
    return "^" + "".join(pieces)
