"""Answer: the rows that a statement such as SHOW, DESCRIBE or EXPLAIN returns at once."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.tableau import tableau


@dataclass(frozen=True)
class Answer:
    """Rows of text.

    Attributes:
        columns: headings.
        rows: cells in the order of the columns.
        plain: whether the answer is one text, which is printed without a frame.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    plain: bool = False

    def __str__(self) -> str:
        """Return the answer as Flink's clients print it."""
        if self.plain:
            return "\n".join(cell for row in self.rows for cell in row)
        return tableau(self.columns, self.rows)


def text_answer(text: str) -> Answer:
    """Return one text as an answer; Flink names its column `result`."""
    return Answer(("result",), ((text,),), plain=True)
