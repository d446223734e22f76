"""Spark SQL of a plan as text: its conjuncts, its fields, and how it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from streamtable.core.types import APPROXIMATE, INTEGERS, DataType, Root, quote

#: A string literal, an identifier in backquotes, or another character.
_TOKENS = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)+`|.", re.DOTALL)
#: The same, or a word.
_WORDS = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)+`|\w+|.", re.DOTALL)
#: A string literal, or the cast of a field or a number to a number.
_CASTS = re.compile(
    r"'(?:[^'\\]|\\.)*'|CAST\((?P<operand>`[^`]+`|-?\d+(?:\.\d+)?) AS"
    r" (?P<target>TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\))\)"
)
#: Numbers, from the narrowest.
_WIDER = (*INTEGERS, Root.DECIMAL, *APPROXIMATE)
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


def shown(sql: str, types: Mapping[str, DataType]) -> str:
    """Return a condition for messages, also without the planner's casts to wider numbers.

    Args:
        sql: the condition.
        types: types of its fields, by name.
    """

    def without_cast(found: re.Match[str]) -> str:
        operand, target = found.group("operand"), found.group("target")
        if target is None or (operand.startswith("`") and not _widens(operand, target, types)):
            return found.group()
        return operand

    return plain(_CASTS.sub(without_cast, sql))


def _widens(operand: str, target: str, types: Mapping[str, DataType]) -> bool:
    kind = types.get(operand.strip("`"))
    root, _, digits = target.partition("(")
    if kind is None or kind.root not in _WIDER:
        return False
    places = (_WIDER.index(kind.root), _WIDER.index(Root(root)))
    if kind.root is not Root.DECIMAL or places[0] != places[1]:
        return places[0] < places[1]
    precision, scale = map(int, digits.rstrip(")").split(","))
    own = ((kind.precision or 0) - (kind.scale or 0), kind.scale or 0)
    return own[0] <= precision - scale and own[1] <= scale


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
