"""Print the changes of a query like Flink's clients; column widths depend on the types.

Source of the widths: Flink's `TableauStyle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamtable.core.tableau import padded, width
from streamtable.core.types import DataType, Field, Root

#: Text of a NULL.
NULL_TEXT = "<NULL>"
_CUT = "..."
_WIDTHS = {
    Root.TINYINT: 4,
    Root.SMALLINT: 6,
    Root.INT: 11,
    Root.BIGINT: 20,
    Root.BOOLEAN: 5,
    Root.DATE: 10,
}


class ResultTable:
    """Text table that is printed row by row, before all rows are known.

    Args:
        columns: names and types of the result.
        widest: maximum width, in terminal columns, of values whose type sets no limit.
        changes: whether rows begin with their row kind.
    """

    def __init__(self, columns: Sequence[Field], widest: int, *, changes: bool) -> None:
        self._names = [*(["op"] if changes else []), *(c.name for c in columns)]
        self._widths = [2] if changes else []
        self._widths += [max(len(c.name), _width_of(c.type, widest)) for c in columns]

    def head(self) -> Iterator[str]:
        """Yield the lines above the first row."""
        yield self.rule()
        yield self.row(self._names)
        yield self.rule()

    def row(self, cells: Sequence[str | None]) -> str:
        """Format one row; values wider than their column are cut."""
        shown = (
            _fitted(NULL_TEXT if cell is None else cell, size)
            for cell, size in zip(cells, self._widths, strict=True)
        )
        return "|" + "".join(f" {cell} |" for cell in shown)

    def rule(self) -> str:
        """Return a horizontal line of the frame."""
        return "+" + "".join(f"-{'-' * size}-+" for size in self._widths)


def received(count: int) -> str:
    """Return the line below the last row."""
    return f"Received a total of {count} {'rows' if count > 1 else 'row'}"


#: (maximum digits of a second, characters of the fraction)
_FRACTIONS = ((0, 0), (3, 4), (6, 7), (9, 10))


def _width_of(kind: DataType, widest: int) -> int:
    return max(_natural_width(kind, widest), len(NULL_TEXT))


def _natural_width(kind: DataType, widest: int) -> int:
    digits = kind.precision or 0
    match kind.root:
        case Root.DECIMAL:
            return digits + 2
        case Root.TIME:
            return digits + 9 if digits else 8
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return 19 + next(shown for most, shown in _FRACTIONS if digits <= most)
        case _:
            return _WIDTHS.get(kind.root, widest)


def _fitted(text: str, size: int) -> str:
    if width(text) <= size:
        return padded(text, size)
    kept = ""
    for character in text:
        if width(kept + character) > size - len(_CUT):
            break
        kept += character
    return padded(kept, size - len(_CUT)) + _CUT
