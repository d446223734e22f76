"""Print rows as a text table, framed as in Flink's clients."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def tableau(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format rows under their headings, right-aligned, with the number of rows.

    Args:
        headings: one per column.
        rows: cells as text.

    Returns:
        Lines without a final line break; `Empty set` if there are no rows.
    """
    if not rows:
        return "Empty set"
    lines = [headings, *rows]
    widths = [max(map(width, cells)) for cells in zip(*lines, strict=True)]
    rule = "+" + "+".join("-" * (size + 2) for size in widths) + "+"
    framed = [
        "|"
        + "|".join(f" {padded(cell, size)} " for cell, size in zip(line, widths, strict=True))
        + "|"
        for line in lines
    ]
    count = f"{len(rows)} row{'' if len(rows) == 1 else 's'} in set"
    return "\n".join([rule, framed[0], rule, *framed[1:], rule, count])


def width(text: str) -> int:
    """Return the number of terminal columns of a string; wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, size: int) -> str:
    """Right-align a text in a number of columns."""
    return " " * (size - width(text)) + text
