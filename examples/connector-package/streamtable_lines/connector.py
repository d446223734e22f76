"""The connector `lines`: the lines of the text files in a directory, each a record of a format.

This module declares options and checks them. It must not import Spark: scripts are validated
without it. The source is in a module of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.format import Format
from streamtable.connector_api.tables import SourceTable
from streamtable.core.errors import Span
from streamtable.core.option_kinds import NOT_EMPTY, TEXT
from streamtable.core.options import Given, Option, OptionSet, Settings
from streamtable.core.table import Schema
from streamtable.formats.registry import find_format

if TYPE_CHECKING:
    from streamtable_lines.source import LinesSource

CONNECTOR = Option("connector", TEXT, required=True, doc="`lines`.")
DIRECTORY = Option("directory", NOT_EMPTY, required=True, doc="Where the files are.")
FORMAT = Option("format", NOT_EMPTY, required=True, doc="What a line is.")

OPTIONS = OptionSet("connector 'lines'", (CONNECTOR, DIRECTORY, FORMAT))


@dataclass(frozen=True, kw_only=True)
class LinesTable(SourceTable):
    """A table that can be read only: `SourceTable` refuses to write it, and metadata columns.

    Attributes:
        directory: where the files are.
        format: what a line is.
        settings: the options of the format.
    """

    directory: str
    format: Format
    settings: Settings

    def source(self) -> LinesSource:
        """The reading end."""
        from streamtable_lines.source import LinesSource  # planning needs no Spark

        return LinesSource(self)


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> LinesTable:
    """A table from its WITH clause.

    Raises:
        StreamtableError: an option is missing, unknown or invalid.
    """
    named = given.get(FORMAT.key, Given("csv"))
    format_ = find_format(named.text, table, named.at)
    prefix = f"{format_.identifier}."
    options = replace(OPTIONS, options=(*OPTIONS.options, *format_.options.under(prefix).options))
    settings = options.read(given, table, at)
    own = {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
    return LinesTable(
        name="lines",
        table=table,
        schema=schema,
        at=at,
        directory=settings[DIRECTORY],
        format=format_,
        settings=format_.options.read(own, table, at),
    )


LINES = ConnectorFactory(OPTIONS, create)
