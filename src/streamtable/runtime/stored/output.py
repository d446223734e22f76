"""Rows of a read as lines: a table, JSON or CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.core.options import Settings
from streamtable.core.result_table import ResultTable, received
from streamtable.core.types import Field, quote
from streamtable.formats.registry import find_format
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import Explain, JavaError, job_fault
from streamtable.runtime.printer import column_width
from streamtable.runtime.stored.read import Stored


class Output(Enum):
    """Format of the lines."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def write_rows(
    stored: Stored,
    output: Output,
    settings: Settings,
    bridge: Bridge,
    show: Callable[[str], None],
    name: str,
    explain: Explain,
) -> None:
    """Show the rows line by line, as Spark returns them.

    Args:
        stored: the read.
        output: the format. JSON is one object per line, as the format `json` writes it. CSV has a
            line with the names; NULL is empty.
        settings: the session's settings; they limit the widths of a table.
        bridge: the JVM side.
        show: takes one line.
        name: the table, for errors.
        explain: translates exceptions of the source.

    Raises:
        StreamtableError: an error of the read, such as RECORD_UNREADABLE.
    """
    rows = _fetched(_lines_of(stored, output, bridge), name, explain)
    if output is Output.JSON:
        for row in rows:
            show(row[0])
        return
    if output is Output.CSV:
        show(",".join(_cell(field.name) for field in stored.fields))
        for row in rows:
            show(",".join(map(_cell, row)))
        return
    _show_table(stored.fields, rows, column_width(settings), show)


def _show_table(
    fields: Sequence[Field], rows: Iterator[Row], widest: int, show: Callable[[str], None]
) -> None:
    table = ResultTable(fields, widest, changes=False)
    for line in table.head():
        show(line)
    count = 0
    for row in rows:
        count += 1
        show(table.row(row))
    show(table.rule())
    show(received(count))


def _lines_of(stored: Stored, output: Output, bridge: Bridge) -> DataFrame:
    if output is not Output.JSON:
        columns = [f"{sql} AS __{place}" for place, sql in enumerate(stored.texts)]
        return stored.frame.selectExpr(*columns)
    json = find_format("json", "the output", None)
    codec = json.encoder(stored.fields, json.options.read({}, "the output"))
    row = F.struct(*(F.col(quote(field.name)) for field in stored.fields))
    return stored.frame.select(F.decode(bridge.encode(codec, row), "UTF-8"))


def _fetched(frame: DataFrame, name: str, explain: Explain) -> Iterator[Row]:
    """Yield the rows; only one partition of the result is in memory at a time."""
    try:
        yield from frame.toLocalIterator()
    except (PySparkException, JavaError) as error:
        raise job_fault(name, str(error), [explain]) from error


def _cell(text: str | None) -> str:
    """Return a cell of a CSV line (RFC 4180); an empty text is quoted, NULL is not."""
    if text is None:
        return ""
    plain = text and not any(character in text for character in ',"\r\n')
    return text if plain else '"' + text.replace('"', '""') + '"'
