"""The changes of a query as Flink's clients print them: columns as wide as their types ask for.

Source of the widths: Flink's `TableauStyle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamtable.core.tableau import padded, width
from streamtable.core.types import DataType, Field, Root

#: How a NULL is shown.
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
    """Lines of a table whose rows are not known yet when it begins.

    Args:
        columns: names and types of the result.
        widest: how many terminal columns a value may take whose type does not limit it.
        changes: whether rows begin with their kind.
    """

    def __init__(self, columns: Sequence[Field], widest: int, *, changes: bool) -> None:
        self._names = [*(["op"] if changes else []), *(c.name for c in columns)]
        self._widths = [2] if changes else []
        self._widths += [max(len(c.name), _width_of(c.type, widest)) for c in columns]

    def head(self) -> Iterator[str]:
        """The lines above the first row."""
        yield self.rule()
        yield self.row(self._names)
        yield self.rule()

    def row(self, cells: Sequence[str | None]) -> str:
        """One row; what is too wide for its column is cut."""
        shown = (
            _fitted(NULL_TEXT if cell is None else cell, size)
            for cell, size in zip(cells, self._widths, strict=True)
        )
        return "|" + "".join(f" {cell} |" for cell in shown)

    def rule(self) -> str:
        """A line of the frame."""
        return "+" + "".join(f"-{'-' * size}-+" for size in self._widths)


def received(count: int) -> str:
    """The line below the last row."""
    return f"Received a total of {count} {'rows' if count > 1 else 'row'}"


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
            return 19 + (0 if digits == 0 else 4 if digits <= 3 else 7)
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
