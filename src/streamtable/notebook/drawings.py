"""Drawings: what a notebook shows of the rows of a query, as an HTML table or as a plot."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, NoReturn, Protocol

from streamtable.api.arrow import pandas_frame
from streamtable.api.family import refuse_call
from streamtable.api.query import Change
from streamtable.api.row import python_row
from streamtable.core.result_table import NULL_TEXT
from streamtable.core.tableau import tableau
from streamtable.core.types import NUMERIC, Field

#: A mime bundle, as Jupyter's messages have it.
Bundle = dict[str, str | bytes]

#: Kinds of plots, by the names of pandas.
PLOTS = ("line", "bar", "barh", "area", "scatter")
_INCHES = (7, 3.5)


class Drawing(Protocol):
    """Draws the current rows of a query, or its newest changes.

    Attributes:
        texts: whether `draw` takes values as text, as `Query.texts` yields them.
    """

    texts: ClassVar[bool]

    def draw(self, rows: Sequence[Change], foot: str) -> Bundle:
        """Return the drawing of rows, with a line below it."""


@dataclass(frozen=True)
class TableDrawing:
    """An HTML table, and the same table as text for notebooks without HTML.

    Attributes:
        fields: the columns.
        changes: whether each row begins with its row kind.
    """

    texts: ClassVar[bool] = True
    fields: Sequence[Field]
    changes: bool = False

    def draw(self, rows: Sequence[Change], foot: str) -> Bundle:
        """Return a table of rows."""
        names = [*(["op"] if self.changes else []), *(field.name for field in self.fields)]
        numeric = [
            *([False] if self.changes else []),
            *(f.type.root in NUMERIC for f in self.fields),
        ]
        cells = [
            [*([kind.short] if self.changes else []), *map(_text, values)] for kind, values in rows
        ]
        return {
            "text/html": html_table(names, cells, numeric, foot),
            "text/plain": f"{tableau(names, cells)}\n{foot}",
        }


@dataclass(frozen=True)
class PlotDrawing:
    """A plot of the rows, made by pandas and matplotlib.

    Attributes:
        fields: the columns of the rows.
        kind: one of `PLOTS`.
        x: column of the horizontal axis.
        y: columns of the values.
    """

    texts: ClassVar[bool] = False
    fields: Sequence[Field]
    kind: str
    x: str
    y: Sequence[str]

    def draw(self, rows: Sequence[Change], foot: str) -> Bundle:
        """Return a plot of rows, sorted by the horizontal axis."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=_INCHES, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set_title(foot, fontsize="small", loc="left")
        if rows:
            values = [python_row(row, self.fields) for _, row in rows]
            frame = pandas_frame(values, self.fields, "--plot").sort_values(self.x)
            for name in self.y:
                frame[name] = frame[name].astype(float)
            y = self.y[0] if self.kind == "scatter" else list(self.y)
            frame.plot(kind=self.kind, x=self.x, y=y, ax=axes)
        image = io.BytesIO()
        figure.savefig(image, format="png")
        return {"image/png": image.getvalue(), "text/plain": foot}


def plot_drawing(fields: Sequence[Field], kind: str, x: str | None, y: Sequence[str]) -> Drawing:
    """Return a plot of columns, after a check of their names and types.

    Args:
        fields: the columns of the query.
        kind: one of `PLOTS`.
        x: column of the horizontal axis; None takes the first column.
        y: columns of the values; none takes all numeric columns but `x`.

    Raises:
        StreamtableError: INVALID_CALL for an unknown column, or for values that are no numbers.
    """
    numeric = [field.name for field in fields if field.type.root in NUMERIC]
    names = [field.name for field in fields]
    across = names[0] if x is None else x
    values = list(y) or [name for name in numeric if name != across]
    for name in (across, *values):
        if name not in names:
            _refuse(f"the query has no column `{name}`", f"its columns are {', '.join(names)}")
    if not values or not set(values) <= set(numeric):
        _refuse("the values of a plot are numbers", "name numeric columns with --y")
    if kind == "scatter" and across not in numeric:
        _refuse("a scatter plot needs a numeric column for --x", f"{across} is no number")
    if kind == "scatter" and len(values) > 1:
        _refuse("a scatter plot has one column of values", "name it with --y")
    return PlotDrawing(fields, kind, across, values)


def html_table(
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    numeric: Sequence[bool] = (),
    foot: str = "",
) -> str:
    """Return an HTML table; all texts are escaped.

    Args:
        names: heading of each column.
        rows: cells as text.
        numeric: for each column whether it is right-aligned; empty for none.
        foot: a line below the table.
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        sides = ("right" if right else "left" for right in numeric or [False] * len(cells))
        return "".join(
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )

    body = "".join(f"<tr>{line('td', cells)}</tr>" for cells in rows)
    below = f"<div><small>{escape(foot)}</small></div>" if foot else ""
    return f"<table><thead><tr>{line('th', names)}</tr></thead><tbody>{body}</tbody></table>{below}"


def _text(value: Any) -> str:
    return NULL_TEXT if value is None else str(value)


def _refuse(reason: str, hint: str) -> NoReturn:
    refuse_call("--plot", reason, hint)
