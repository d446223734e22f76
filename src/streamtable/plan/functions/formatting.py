"""DATE_FORMAT and FROM_UNIXTIME: a timestamp under a constant Java pattern.

Spark's `date_format` works on instants, so that a local time that a zone skips would come out an
hour later. Here the pieces are cut from the text of a TIMESTAMP_NTZ, and only names of months and
weekdays are asked of Spark, by the date.
"""

from __future__ import annotations

from streamtable.plan.binding.bound import Bound, text_literal
from streamtable.plan.functions.patterns import FieldToken, tokens_of, unsupported

#: The text of a TIMESTAMP_NTZ, where each field has its place; the fraction may be missing.
_TEMPLATE = "yyyy-MM-dd HH:mm:ss"
_PLACES = {
    ("y", 4): (1, 4),
    ("u", 4): (1, 4),
    ("y", 2): (3, 2),
    ("M", 2): (6, 2),
    ("d", 2): (9, 2),
    ("H", 2): (12, 2),
    ("m", 2): (15, 2),
    ("s", 2): (18, 2),
}
_NUMBERS = {
    ("y", 1): "year({0})",
    ("M", 1): "month({0})",
    ("d", 1): "day({0})",
    ("H", 1): "hour({0})",
    ("m", 1): "minute({0})",
    ("s", 1): "second({0})",
    ("D", 1): "dayofyear({0})",
    ("Q", 1): "quarter({0})",
    ("h", 1): "pmod(hour({0}) + 11, 12) + 1",
}
_TEXTS = {
    ("h", 2): "lpad(pmod(hour({0}) + 11, 12) + 1, 2, '0')",
    ("D", 3): "lpad(dayofyear({0}), 3, '0')",
    ("a", 1): "if(hour({0}) < 12, 'AM', 'PM')",
    **{("E", width): "date_format(CAST({0} AS DATE), 'EEE')" for width in (1, 2, 3)},
    ("E", 4): "date_format(CAST({0} AS DATE), 'EEEE')",
    ("M", 3): "date_format(CAST({0} AS DATE), 'MMM')",
    ("M", 4): "date_format(CAST({0} AS DATE), 'MMMM')",
}
_MAX_FRACTION = 9
#: Letters that mean something else to `SimpleDateFormat`.
ONLY_IN_FORMATTER = frozenset("uQ")


def formatted(moment: str, pattern: Bound, *, refused: frozenset[str] = frozenset()) -> str:
    """Spark SQL of a TIMESTAMP_NTZ's text.

    Args:
        moment: Spark SQL of the timestamp.
        pattern: a constant.
        refused: letters that this caller's formatter reads otherwise.

    Raises:
        StreamtableError: NOT_YET, for letters that we do not write.
    """
    pieces: list[str | tuple[int, int]] = []
    for token in tokens_of(pattern):
        if isinstance(token, str):
            pieces.extend(_cut_or_text(token, pieces))
            continue
        if token.letter in refused:
            raise unsupported(pattern, f"'{token.letter * token.width}'")
        pieces.append(_piece(token, moment, pattern))
    texts = [_sql(piece, moment) for piece in _merged(pieces)]
    if not texts:
        return f"if({moment} IS NULL, NULL, '')"
    return texts[0] if len(texts) == 1 else f"concat({', '.join(texts)})"


def _cut_or_text(token: str, before: list[str | tuple[int, int]]) -> list[str | tuple[int, int]]:
    """Text that stands at the same place in Spark's text is cut from it with its neighbours."""
    if before and isinstance(before[-1], tuple):
        start = before[-1][0] + before[-1][1]
        if _TEMPLATE[start - 1 : start - 1 + len(token)] == token:
            return [(start, len(token))]
    return [text_literal(token)]


def _piece(token: FieldToken, moment: str, pattern: Bound) -> str | tuple[int, int]:
    key = (token.letter, token.width)
    if key in _PLACES:
        return _PLACES[key]
    if key in _NUMBERS:
        return f"CAST({_NUMBERS[key].format(moment)} AS STRING)"
    if key in _TEXTS:
        return _TEXTS[key].format(moment)
    if token.letter == "S" and token.width <= _MAX_FRACTION:
        fraction = f"substring(CAST({moment} AS STRING), {len(_TEMPLATE) + 2})"
        return f"rpad({fraction}, {token.width}, '0')"
    raise unsupported(pattern, f"'{token.letter * token.width}'")


def _merged(pieces: list[str | tuple[int, int]]) -> list[str | tuple[int, int]]:
    merged: list[str | tuple[int, int]] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if isinstance(piece, tuple) and isinstance(last, tuple) and last[0] + last[1] == piece[0]:
            merged[-1] = (last[0], last[1] + piece[1])
        else:
            merged.append(piece)
    return merged


def _sql(piece: str | tuple[int, int], moment: str) -> str:
    if isinstance(piece, str):
        return piece
    return f"substring(CAST({moment} AS STRING), {piece[0]}, {piece[1]})"
