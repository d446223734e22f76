"""Rows as a table of text, framed as Flink's clients print it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def tableau(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their headings, every cell set to the right, and how many they are.

    Args:
        headings: one per column.
        rows: cells as text.

    Returns:
        Lines without a final line break; `Empty set` where there is no row.
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
    """Columns that a terminal gives a text: wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, size: int) -> str:
    """The text set to the right of so many columns."""
    return " " * (size - width(text)) + text
