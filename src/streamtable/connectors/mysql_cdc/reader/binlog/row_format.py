"""Decode row images of one table, as its TABLE_MAP event describes them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pymysqlreplication.constants import FIELD_TYPE
from pymysqlreplication.row_event import TableMapEvent

from streamtable.connectors.mysql_cdc.names import VERSIONED
from streamtable.connectors.mysql_cdc.reader.binlog.column_types import (
    UnreadableTable,
    column_of,
    passing_reader,
    value_reader,
)
from streamtable.connectors.mysql_cdc.reader.model import (
    Column,
    MySqlType,
    Row,
    TableId,
    TableSchema,
)
from streamtable.connectors.mysql_cdc.reader.values.charsets import reported_once
from streamtable.connectors.mysql_cdc.reader.values.types import obstacle

#: The columns of MariaDB's WITH SYSTEM VERSIONING, which no catalog lists.
_PERIOD = ("row_start", "row_end")
#: See `SourceSpec.reads`.
Reads = Callable[[TableId, str, Sequence[str]], bool]


class RowFormat:
    """Reads the rows of one version of a table.

    Args:
        event: the TABLE_MAP event, with full metadata.
        known: the current table, if it still exists. It has facts that the event lacks: a TINYINT
            is a BOOLEAN, a LONGTEXT is JSON, lengths in characters.
        reads: whether to read a column, by table, name and primary key; see `SourceSpec.reads`.

    Raises:
        UnreadableTable: the event lacks names, or a type cannot be read.
    """

    def __init__(self, event: TableMapEvent, known: TableSchema | None, reads: Reads) -> None:
        if event.columns and event.columns[0].name is None:
            reason = (
                "the binlog has no column names; SET GLOBAL binlog_row_metadata = 'FULL', and"
                " start behind that change"
            )
            raise UnreadableTable(reason)
        now = {column.name: column for column in known.columns} if known else {}
        if known and (known.versioned or _was_versioned(event, known)):
            raise UnreadableTable(VERSIONED)
        charsets = iter(event.optional_metadata.charset_collation_list or ())
        nulls = int.from_bytes(event.null_bitmask, "little")
        table, key = TableId(event.schema, event.table), _key(event)
        columns, self._readers = [], []
        for i, mapped in enumerate(event.columns):
            charset = (
                next(charsets, None)
                if event._is_character_column(  # noqa: SLF001
                    mapped.type, dbms=event.dbms
                )
                else None
            )
            current = now.get(mapped.name)
            if not reads(table, mapped.name, key):
                columns.append(current or Column(mapped.name, MySqlType("varbinary")))
                self._readers.append(passing_reader(mapped, current, event.dbms))
                continue
            column = column_of(mapped, charset, current, nullable=bool(nulls >> i & 1))
            if (refused := obstacle(column)) is not None:
                raise UnreadableTable(refused)
            columns.append(column)
            report = reported_once(f"{table}.{column.name}", column.type.charset)
            self._readers.append(value_reader(column, mapped, report))
        self.table = TableSchema(table, tuple(columns), key, known.engine if known else "")
        self._null_bytes = (len(columns) + 7) // 8

    def rows(self, data: bytes, *, pairs: bool) -> Iterator[tuple[int, Row, Row | None]]:
        """Yield the rows of an event.

        Args:
            data: the bytes after the bitmaps of present columns.
            pairs: whether images are pairs, before and after.

        Yields:
            The start of the row in the data, its image, and its second image.

        Raises:
            UnreadableTable: a value cannot be read; the text names its column.
        """
        at, end = 0, len(data)
        while at < end:
            start = at
            first, at = self._image(data, at)
            second = None
            if pairs:
                second, at = self._image(data, at)
            yield start, first, second

    def _image(self, data: bytes, at: int) -> tuple[Row, int]:
        nulls = int.from_bytes(data[at : at + self._null_bytes], "little")
        at += self._null_bytes
        values: list[Any] = []
        add = values.append
        try:
            for read in self._readers:
                if nulls & 1:
                    add(None)
                else:
                    value, at = read(data, at)
                    add(value)
                nulls >>= 1
        except (ValueError, LookupError, struct.error) as error:
            name = self.table.columns[len(values)].name
            reason = f"column {name}: {type(error).__name__}: {error}"
            raise UnreadableTable(reason) from error
        return tuple(values), at


def _was_versioned(event: TableMapEvent, known: TableSchema) -> bool:
    """Return whether a table had the hidden columns of WITH SYSTEM VERSIONING, which it lacks.

    Only MariaDB has them.
    """
    last = event.columns[-2:]
    return (
        event.dbms == "mariadb"
        and tuple(column.name for column in last) == _PERIOD
        and all(column.type == FIELD_TYPE.TIMESTAMP2 and column.fsp == 6 for column in last)
        and known.places.keys().isdisjoint(_PERIOD)
    )


def _key(event: TableMapEvent) -> tuple[str, ...]:
    metadata = event.optional_metadata
    places = metadata.simple_primary_key_list or list(metadata.primary_keys_with_prefix)
    return tuple(event.columns[place].name for place in places)


def complete(bitmap: Sequence[int], columns: int) -> bool:
    """Return whether a bitmap has all columns (`binlog_row_image` = `FULL`)."""
    return int.from_bytes(bytes(bitmap), "little") & (1 << columns) - 1 == (1 << columns) - 1
