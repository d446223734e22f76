"""The factory of `filesystem` tables: WITH options -> `FilesystemTable`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.format import LineFormat
from streamtable.connectors.filesystem.commit_options import POLICY, partition_commit
from streamtable.connectors.filesystem.options import (
    COMPACTION,
    DEFAULT_PARTITION,
    FORMAT,
    MONITOR_INTERVAL,
    OPTIONS,
    PARALLELISM,
    PARQUET,
    PATH,
    PATTERN,
    SHUFFLE,
)
from streamtable.connectors.filesystem.table import (
    METADATA,
    FilesystemTable,
    Lines,
    Parquet,
    Writing,
)
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given, Settings
from streamtable.core.table import Schema
from streamtable.core.types import CHARACTER, INTEGERS, INTERVALS, Field, Root
from streamtable.formats.registry import find_format
from streamtable.formats.types import unsupported, walk

#: Flink's types of partition columns.
_PARTITION_TYPES = frozenset(
    {*CHARACTER, *INTEGERS, Root.BOOLEAN, Root.FLOAT, Root.DOUBLE, Root.DATE, Root.TIMESTAMP}
)
#: Keys of options that apply only to partitioned tables.
_OF_PARTITIONS = (DEFAULT_PARTITION, SHUFFLE, POLICY)


def create(
    table: str, schema: Schema, given: Mapping[str, Given], at: Span | None
) -> FilesystemTable:
    """Create a checked `filesystem` table.

    Raises:
        StreamtableError: an error in the options or columns, at its position.
    """
    format_ = _line_format(table, given)
    prefix = f"{format_.identifier}." if format_ else None
    declared = format_.options.under(prefix).options if format_ and prefix else ()
    options = replace(OPTIONS, options=(*OPTIONS.options, *declared))
    settings = options.read(given, table, at)
    content: Lines | Parquet
    if format_ is None or prefix is None:
        content = Parquet({o.key: given[o.key].text for o in PARQUET if o.key in given})
    else:
        own = {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
        content = Lines(format_, format_.options.read(own, table, at, prefix=prefix))
    _check_metadata(schema)
    _check_partitions(table, schema, settings)
    found = FilesystemTable(
        table=table,
        schema=schema,
        path=settings[PATH],
        content=content,
        interval=settings.get(MONITOR_INTERVAL),
        pattern=settings.get(PATTERN),
        default_partition=settings[DEFAULT_PARTITION],
        writing=Writing(
            tasks=settings.get(PARALLELISM),
            by_partition=settings[SHUFFLE],
            compacts=settings[COMPACTION],
            commit=partition_commit(settings),
        ),
        at=at,
    )
    for field in found.data:
        try:
            _check_type(content, field)
        except StreamtableError as error:
            raise error.located(schema.place_of(field.name)) from error
    return found


def _line_format(table: str, given: Mapping[str, Given]) -> LineFormat | None:
    """Return the format of lines; None for parquet, or if the script names no format."""
    named = given.get(FORMAT.key)
    if named is None or named.text == "parquet":
        return None
    found = find_format(named.text, table, named.at)
    if isinstance(found, LineFormat) and found.is_line:
        return found
    raise StreamtableError(
        Condition.NOT_YET,
        at=named.at,
        what=f"format '{named.text}' in files",
        hint="files are of csv, json or parquet, or of a format whose records are lines of text",
    )


def _check_metadata(schema: Schema) -> None:
    for column in schema.metadata:
        if column.key not in METADATA:
            raise StreamtableError(
                Condition.UNKNOWN_METADATA,
                at=column.at,
                hint=closest(column.key, METADATA) or "known: " + ", ".join(METADATA),
                connector="filesystem",
                key=column.key,
            )


def _check_partitions(table: str, schema: Schema, settings: Settings) -> None:
    for field in schema.physical:
        if field.name in schema.partition_keys and field.type.root not in _PARTITION_TYPES:
            reason = "the name of a directory cannot hold it"
            raise unsupported(field.type, field.name, reason).located(schema.place_of(field.name))
    for option in _OF_PARTITIONS:
        if settings.has(option) and not schema.partition_keys:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(option),
                reason=f"table {table} sets '{option.key}' and has no PARTITIONED BY",
            )


def _check_type(content: Lines | Parquet, field: Field) -> None:
    if isinstance(content, Lines):
        content.format.decoder((field,), content.settings)
        return
    walk(
        (field,),
        lambda kind: (
            f"parquet files of Spark hold no {kind.root.value}"
            if kind.root in {*INTERVALS, Root.TIME, Root.BITMAP, Root.NULL}
            else None
        ),
    )


FILESYSTEM = ConnectorFactory(OPTIONS, create, partitioned=True)
