"""A checked job file: `source`, `sink`, `route`, `transform`, `pipeline`.

All errors of a file are collected and raised together, each with its line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.core.errors import Span, raise_all
from streamtable.core.options import Option, Settings
from streamtable.core.text_files import read_text
from streamtable.ingest.file import options as o
from streamtable.ingest.file.columns import ColumnLists, read_chunk_keys, read_columns
from streamtable.ingest.file.document import parse
from streamtable.ingest.file.routes import Route, read_route
from streamtable.ingest.file.rules import check_sink, check_source
from streamtable.ingest.file.sections import SectionReader, unknown
from streamtable.ingest.file.tables import TablePattern, table_pattern
from streamtable.ingest.file.transforms import Transform, read_transform


@dataclass(frozen=True)
class JobFile:
    """A data ingestion job.

    Attributes:
        file: the file name that the user gave.
        source: settings of `source`.
        sink: settings of `sink`.
        pipeline: settings of `pipeline`.
        tables: the tables to copy.
        excluded: the tables to exclude, if any.
        routes: in order.
        transforms: in order; the first transform that matches a table applies.
        columns: the columns to copy.
        chunk_keys: pairs of a table pattern and the column that divides its tables into chunks.
        at: positions of the sections in the file.
    """

    file: str
    source: Settings
    sink: Settings
    pipeline: Settings
    tables: TablePattern
    excluded: TablePattern | None
    routes: tuple[Route, ...]
    transforms: tuple[Transform, ...]
    columns: ColumnLists
    chunk_keys: tuple[tuple[str, str], ...]
    at: Mapping[str, Span]

    def copies(self, table: TableId) -> bool:
        """Return whether the job copies a table with a name."""
        return self.tables.matches(table) and not (self.excluded and self.excluded.matches(table))


def load_job(path: Path, variables: Mapping[str, str]) -> JobFile:
    """Load the job of a file.

    Raises:
        StreamtableError: FILE_UNREADABLE, or the only error of the file.
        Faults: several errors.
    """
    return read_job(read_text(path, "check the path"), str(path), variables)


def read_job(text: str, file: str, variables: Mapping[str, str]) -> JobFile:
    """Read the job of a text; raises the errors of `load_job`."""
    tree = parse(text, file, variables)
    names = [section.name for section in o.SECTIONS]
    faults = [
        unknown("the job file", key, names, at)
        for key, (at, _) in tree.items.items()
        if key not in names
    ]
    reader = SectionReader(tree, faults)
    source = reader.section(o.SOURCE, required=True)
    sink = reader.section(o.SINK, required=True)
    pipeline = reader.section(o.PIPELINE, required=False)
    faults += [*check_source(source), *check_sink(sink)]
    found_routes = [
        reader.kept(lambda entry=entry: read_route(entry))  # type: ignore[misc]
        for entry in reader.entries(o.ROUTE)
    ]
    found_transforms = [
        reader.kept(lambda entry=entry: read_transform(entry))  # type: ignore[misc]
        for entry in reader.entries(o.TRANSFORM)
    ]
    tables, excluded = (_pattern(reader, source, key) for key in (o.TABLES, o.TABLES_EXCLUDE))
    columns = reader.kept(lambda: read_columns(source))
    chunk_keys = reader.kept(lambda: read_chunk_keys(source))
    raise_all(sorted(faults, key=lambda fault: fault.at or tree.at))
    assert tables is not None, "a missing 'tables' was a fault"  # noqa: S101
    assert columns is not None  # noqa: S101 - else it was a fault
    assert chunk_keys is not None  # noqa: S101 - else it was a fault
    return JobFile(
        file,
        source,
        sink,
        pipeline,
        tables,
        excluded,
        tuple(route for route in found_routes if route is not None),
        tuple(transform for transform in found_transforms if transform is not None),
        columns,
        chunk_keys,
        {key: at for key, (at, _) in tree.items.items()},
    )


def _pattern(reader: SectionReader, source: Settings, option: Option[str]) -> TablePattern | None:
    if not source.has(option):
        return None
    return reader.kept(lambda: table_pattern(source[option], option.key, source.at(option)))
