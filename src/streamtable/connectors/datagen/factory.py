"""WITH options of a `datagen` table; source: Flink's *DataGen SQL Connector* page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.tables import SourceTable
from streamtable.connectors.datagen.fields import FIELD_OPTIONS, FieldOptions, check, rows_of
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.option_kinds import TEXT, integer, long_integer
from streamtable.core.options import Given, Option, OptionSet
from streamtable.core.table import Schema

if TYPE_CHECKING:
    from streamtable.connectors.datagen.source import DatagenSource

CONNECTOR = Option("connector", TEXT, required=True, doc="`datagen`.")
ROWS_PER_SECOND = Option(
    "rows-per-second", long_integer(minimum=1), default=10_000, doc="Rows per second."
)
NUMBER_OF_ROWS = Option(
    "number-of-rows",
    long_integer(minimum=0),
    doc="Total number of rows. By default the table is unbounded, unless a sequence ends.",
)
PARALLELISM = Option(
    "scan.parallelism",
    integer(minimum=1),
    doc="Number of tasks that generate rows. Default: one per core.",
)

#: Prefix of the options of a column, such as `fields.<column>.kind`.
_FIELDS = "fields."

OPTIONS = OptionSet(
    "connector 'datagen'",
    (CONNECTOR, ROWS_PER_SECOND, NUMBER_OF_ROWS, PARALLELISM),
    family=_FIELDS,
)


@dataclass(frozen=True, kw_only=True)
class DatagenTable(SourceTable):
    """A table of generated rows.

    Attributes:
        rows_per_second: the rate of all tasks together.
        rows: the number of rows; None if unbounded.
        tasks: the number of generating tasks; None for one per core.
        columns: the options of each column, by its name.
    """

    rows_per_second: int
    rows: int | None
    tasks: int | None
    columns: Mapping[str, FieldOptions]

    def source(self) -> DatagenSource:
        """Return the source of the table."""
        from streamtable.connectors.datagen.source import DatagenSource  # a plan needs no Spark

        return DatagenSource(self)


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> DatagenTable:
    """Create a checked `datagen` table.

    Raises:
        StreamtableError: an error in the options, at its position.
    """
    settings = OPTIONS.read(given, table, at)
    fields = schema.physical
    known = [f"{_FIELDS}{f.name}.{o.key}" for f in fields for o in FIELD_OPTIONS]
    for key, value in given.items():
        if key.startswith(_FIELDS) and key not in known:
            raise StreamtableError(
                Condition.UNKNOWN_OPTION,
                at=value.at,
                hint=closest(key, known),
                table=table,
                option=key,
                owner="connector 'datagen'",
            )
    columns = {field.name: FieldOptions.read(field.name, given) for field in fields}
    for field in fields:
        check(table, field, columns[field.name], at)
    ends = [rows_of(options) for options in columns.values()]
    ends.append(settings.get(NUMBER_OF_ROWS))
    return DatagenTable(
        name="datagen",
        table=table,
        schema=schema,
        rows_per_second=settings[ROWS_PER_SECOND],
        rows=min((end for end in ends if end is not None), default=None),
        tasks=settings.get(PARALLELISM),
        columns=columns,
        at=at,
    )


DATAGEN = ConnectorFactory(OPTIONS, create)
