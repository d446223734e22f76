"""WITH options of a `print` table; source: Flink's *Print SQL Connector* page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.tables import SinkTable
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.option_kinds import BOOLEAN, TEXT, integer
from streamtable.core.options import Given, Option, OptionSet
from streamtable.core.table import Schema
from streamtable.core.types import Root

if TYPE_CHECKING:
    from streamtable.connectors.print.sink import PrintSink

CONNECTOR = Option("connector", TEXT, required=True, doc="`print`.")
IDENTIFIER = Option("print-identifier", TEXT, default="", doc="Prefix of each line, before a `>`.")
STANDARD_ERROR = Option(
    "standard-error",
    BOOLEAN,
    default=False,
    doc="Whether rows go to standard error instead of standard output.",
)
PARALLELISM = Option(
    "sink.parallelism", integer(minimum=1), doc="Number of tasks that print. Default: the query's."
)

OPTIONS = OptionSet("connector 'print'", (CONNECTOR, IDENTIFIER, STANDARD_ERROR, PARALLELISM))


@dataclass(frozen=True, kw_only=True)
class PrintTable(SinkTable):
    """A table that prints its rows.

    Attributes:
        identifier: the prefix of each line; empty for none.
        standard_error: whether lines go to standard error.
        parallelism: the highest number of printing tasks; None for the query's parallelism.
    """

    identifier: str = ""
    standard_error: bool = False
    parallelism: int | None = None

    def sink(self) -> PrintSink:
        """Return the sink of the table."""
        from streamtable.connectors.print.sink import PrintSink  # a plan needs no Spark

        return PrintSink(self)


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> PrintTable:
    """Create a checked `print` table.

    Raises:
        StreamtableError: an error in the options, at its position; NOT_YET for a nested BITMAP.
    """
    settings = OPTIONS.read(given, table, at)
    for field in schema.persisted:
        if field.type.root is not Root.BITMAP and field.type.holds(Root.BITMAP):
            raise StreamtableError(
                Condition.NOT_YET,
                at=schema.place_of(field.name),
                what=f"printing column {field.name}, which is {field.type}",
                hint="print BITMAP_TO_STRING(...) of its bitmaps",
            )
    return PrintTable(
        name="print",
        table=table,
        schema=schema,
        identifier=settings[IDENTIFIER],
        standard_error=settings[STANDARD_ERROR],
        parallelism=settings.get(PARALLELISM),
        at=at,
    )


PRINT = ConnectorFactory(OPTIONS, create, partitioned=True)
