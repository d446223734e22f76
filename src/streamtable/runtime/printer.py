"""Printer: shows the result of a query line by line, as Flink's clients do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from streamtable.core.changelog import RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.result_table import ResultTable, received
from streamtable.core.settings.display import (
    CLIENT_MAX_COLUMN_WIDTH,
    MAX_COLUMN_WIDTH,
    RESULT_MODE,
    ResultMode,
)
from streamtable.core.settings.execution import RUNTIME_MODE, RuntimeMode
from streamtable.plan.sink.sink import Collect

#: Takes one line of the result.
Show = Callable[[str], None]


@dataclass
class Printer:
    """Printer of a query's result.

    Attributes:
        changes: whether every change is shown as it arrives; else the final rows are shown at the
            end.
    """

    table: ResultTable
    show: Show
    changes: bool
    rows: Counter[tuple[str | None, ...]] = field(default_factory=Counter)
    count: int = 0

    def begin(self) -> None:
        """Show the head of the table."""
        for line in self.table.head():
            self.show(line)

    def take(self, batch: DataFrame, _number: int) -> None:
        """Process the changes of one batch, in the order in which its tasks emitted them."""
        for row in batch.collect():
            self.add(RowKind(row[0]), tuple(row[1:]))

    def add(self, kind: RowKind, values: tuple[str | None, ...]) -> None:
        """Process one change."""
        if self.changes:
            self.count += 1
            self.show(self.table.row((kind.short, *values)))
        else:
            self.rows[values] += -1 if kind.removes else 1

    def end(self) -> None:
        """Show the final rows, if changes are not shown, and the foot of the table."""
        for values, count in self.rows.items():
            for _ in range(count):
                self.count += 1
                self.show(self.table.row(values))
        self.show(self.table.rule())
        self.show(received(self.count))


def printer_of(plan: Collect, settings: Settings, show: Show, *, bounded: bool) -> Printer:
    """Return the printer of a query in the result mode of the settings.

    Raises:
        StreamtableError: NOT_YET for a mode that cannot show the query.
    """
    mode = settings[RESULT_MODE]
    if mode is ResultMode.TABLE and not bounded:
        raise StreamtableError(
            Condition.NOT_YET,
            at=plan.at,
            what=f"'{RESULT_MODE.key}' = 'table' for an unbounded query",
            hint="SET it to 'tableau', or run with --bounded",
        )
    # In batch mode, Flink's tableau shows no changes.
    batch = settings[RUNTIME_MODE] is RuntimeMode.BATCH
    changes = mode is ResultMode.CHANGELOG or (mode is ResultMode.TABLEAU and not batch)
    table = ResultTable(plan.columns, column_width(settings), changes=changes)
    return Printer(table, show, changes)


def column_width(settings: Settings) -> int:
    """Return the maximum width of a column whose type has no fixed width."""
    widest: int = settings[MAX_COLUMN_WIDTH]
    if not settings.has(MAX_COLUMN_WIDTH):
        widest = settings.get(CLIENT_MAX_COLUMN_WIDTH) or widest
    return widest
