"""Spark SQL of a plan as text: its conjuncts, its fields, and how it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from streamtable.core.types import quote

#: A string literal, an identifier in backquotes, or another character.
_TOKENS = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)+`|.", re.DOTALL)
#: The same, or a word.
_WORDS = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)+`|\w+|.", re.DOTALL)
_PLAIN = re.compile(r"`([A-Za-z_][A-Za-z0-9_]*)`")


def conjuncts(condition: str) -> tuple[str, ...]:
    """Split a condition of a plan at its outer ANDs, in order.

    The planner puts each operation in parentheses, and writes BETWEEN as two comparisons.
    """
    inner = unwrapped(condition.strip())
    parts = list(_split(inner))
    if len(parts) == 1:
        return (inner,)
    return tuple(found for part in parts for found in conjuncts(part))


def substituted(sql: str, columns: Mapping[str, str]) -> str:
    """Replace fields by Spark SQL; a part of a ROW, after a dot, is no field."""
    named = {quote(name): _operand(text) for name, text in columns.items()}
    previous = ""
    found = []
    for match in _TOKENS.finditer(sql):
        token = match.group()
        found.append(token if previous == "." else named.get(token, token))
        previous = token
    return "".join(found)


def plain(sql: str) -> str:
    """Return Spark SQL without the backquotes of plain names, for messages."""
    tokens = (match.group() for match in _TOKENS.finditer(sql))
    return "".join(_PLAIN.sub(r"\1", t) if t.startswith("`") else t for t in tokens)


def _operand(sql: str) -> str:
    match = _TOKENS.fullmatch(sql)
    return sql if match and sql.startswith("`") else f"({sql})"


def may_fail(sql: str) -> bool:
    """Return whether the planner lets an expression fail for some values, as a CAST does."""
    return "raise_error" in (match.group() for match in _WORDS.finditer(sql))


def unwrapped(text: str) -> str:
    """Remove parentheses around the whole text."""
    while text.startswith("("):
        depth = 0
        closed = len(text)
        for match in _TOKENS.finditer(text):
            depth += {"(": 1, ")": -1}.get(match.group(), 0)
            if depth == 0:
                closed = match.end()
                break
        if closed < len(text) or depth:
            return text
        text = text[1:-1].strip()
    return text


def _split(text: str) -> Iterator[str]:
    """Split at ` AND ` outside of parentheses; a text with BETWEEN or CASE there stays whole."""
    depth = begin = 0
    skip = 0
    places = []
    for match in _TOKENS.finditer(text):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if depth or match.start() < skip:
            continue
        if text.startswith((" BETWEEN ", "CASE "), match.start()):
            yield text
            return
        if text.startswith(" AND ", match.start()):
            skip = match.start() + len(" AND ")
            places.append((match.start(), skip))
    for start, end in places:
        yield text[begin:start]
        begin = end
    yield text[begin:]
