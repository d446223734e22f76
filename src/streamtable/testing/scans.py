"""Sources of replayed tables, with rows in the form of a topic's scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import Source, Split
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import Span
from streamtable.core.table import Table
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.testing.replayed import PARTITION, Recorded, Replayed


class ReplayedSource(Source):
    """Reads one replayed table.

    Args:
        table: its name.
        history: the history of the table.
        rows: all its rows, with every column.
    """

    def __init__(self, table: str, history: Replayed | Recorded, rows: DataFrame) -> None:
        self._table = table
        self._history = history
        self._rows = rows

    @property
    def table(self) -> str:
        """The table's name."""
        return self._table

    @property
    def at(self) -> Span | None:
        """None: there is no declaration."""
        return None

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:  # noqa: ARG002
        """Return a streaming DataFrame: row kind, fields, and other wanted columns."""
        columns = [quote(column) for column in (ROW_KIND_COLUMN, *(f.name for f in wanted.fields))]
        if wanted.order:
            columns += [PARTITION, "__offset"]
        if wanted.splits:
            columns += [f"'{self._table}' AS __topic", f"{PARTITION} AS __of_partition"]
        return self._rows.selectExpr(*columns)

    def splits(self, bridge: Bridge) -> Sequence[Split]:  # noqa: ARG002
        """Return one split for each partition of the history."""
        return [f"{self._table}/{number}" for number in range(self._history.partitions)]


@dataclass(frozen=True)
class ReplayedScans:
    """An implementation of `LoweringContext.source_of` for replayed tables.

    Attributes:
        tables: tables by name.
        rows_of: all their rows, with every column, by the same names.
    """

    tables: Mapping[str, Replayed | Recorded]
    rows_of: Mapping[str, DataFrame]

    def __call__(self, table: Table) -> Source:
        """Return the source of a table of the script."""
        return ReplayedSource(table.name, self.tables[table.name], self.rows_of[table.name])
