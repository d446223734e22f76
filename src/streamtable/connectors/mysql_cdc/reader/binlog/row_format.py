"""Decode row images of one table, as its TABLE_MAP event describes them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pymysqlreplication.column import Column as MapColumn
from pymysqlreplication.constants import CHARSET, FIELD_TYPE
from pymysqlreplication.row_event import TableMapEvent

from streamtable.connectors.mysql_cdc.names import VERSIONED
from streamtable.connectors.mysql_cdc.reader.binlog.binary_values import Read, reader
from streamtable.connectors.mysql_cdc.reader.model import (
    Column,
    MySqlType,
    Row,
    TableId,
    TableSchema,
)
from streamtable.connectors.mysql_cdc.reader.values.charsets import CODECS, Report, reported_once
from streamtable.connectors.mysql_cdc.reader.values.types import SPATIAL, TEXTS, obstacle

_PLAIN = {
    FIELD_TYPE.TINY: "tinyint",
    FIELD_TYPE.SHORT: "smallint",
    FIELD_TYPE.INT24: "mediumint",
    FIELD_TYPE.LONG: "int",
    FIELD_TYPE.LONGLONG: "bigint",
    FIELD_TYPE.FLOAT: "float",
    FIELD_TYPE.DOUBLE: "double",
    FIELD_TYPE.DATE: "date",
    FIELD_TYPE.YEAR: "year",
    FIELD_TYPE.JSON: "json",
    FIELD_TYPE.GEOMETRY: "geometry",
}
_TEMPORAL = {
    FIELD_TYPE.TIME2: "time",
    FIELD_TYPE.DATETIME2: "datetime",
    FIELD_TYPE.TIMESTAMP2: "timestamp",
}
_BLOBS = (FIELD_TYPE.BLOB, FIELD_TYPE.GEOMETRY, FIELD_TYPE.JSON)
_STRINGS = (FIELD_TYPE.STRING, FIELD_TYPE.VARCHAR)
_OF_SIZE = {1: "tiny", 2: "", 3: "medium", 4: "long"}
_BINARY = 63
#: The columns of MariaDB's WITH SYSTEM VERSIONING, which no catalog lists.
_PERIOD = ("row_start", "row_end")

#: Types that the current schema may have for a different type in the binlog.
_SAME = {
    "geometry": SPATIAL,
    **{text: frozenset({text, "json"}) for text in TEXTS},
    "binary": frozenset({"binary", "uuid", "inet4", "inet6"}),
}
#: See `SourceSpec.reads`.
Reads = Callable[[TableId, str, Sequence[str]], bool]


class UnreadableTable(Exception):  # noqa: N818 - becomes a StreamtableError with its place
    """A table map that does not suffice to read rows, or a value without a meaning.

    The text has the reason and the remedy.
    """


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
                self._readers.append(_passing(mapped))
                continue
            column = _column(mapped, charset, current, nullable=bool(nulls >> i & 1))
            if (refused := obstacle(column)) is not None:
                raise UnreadableTable(refused)
            columns.append(column)
            report = reported_once(f"{table}.{column.name}", column.type.charset)
            self._readers.append(_reader(column, mapped, report))
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


def _column(
    mapped: MapColumn, charset_id: int | None, now: Column | None, *, nullable: bool
) -> Column:
    found = _type(mapped, charset_id, now)
    if now is not None and _alike(found, now.type):
        kept = now.type
        found = MySqlType(
            kept.name,
            length=kept.length,
            precision=found.precision,
            scale=found.scale,
            unsigned=found.unsigned,
            charset=found.charset or kept.charset,
            values=found.values,
        )
    return Column(mapped.name, found, nullable)


def _alike(found: MySqlType, now: MySqlType) -> bool:
    return now.name in _SAME.get(found.name, (found.name,))


def _type(mapped: MapColumn, charset_id: int | None, now: Column | None) -> MySqlType:
    kind = mapped.type
    if kind in _PLAIN:
        return MySqlType(_PLAIN[kind], unsigned=bool(mapped.unsigned))
    if kind in _TEMPORAL:
        return MySqlType(_TEMPORAL[kind], scale=mapped.fsp)
    if kind == FIELD_TYPE.NEWDECIMAL:
        return MySqlType(
            "decimal",
            precision=mapped.precision,
            scale=mapped.decimals,
            unsigned=bool(mapped.unsigned),
        )
    if kind == FIELD_TYPE.BIT:
        return MySqlType("bit", length=mapped.bits)
    if kind in (FIELD_TYPE.ENUM, FIELD_TYPE.SET):
        return _members(mapped, now)
    is_bytes = charset_id == _BINARY
    charset = None if is_bytes else _charset(mapped.name, charset_id, now)
    if kind == FIELD_TYPE.BLOB:
        name = _OF_SIZE[mapped.length_size] + ("blob" if is_bytes else "text")
        return MySqlType(name, charset=charset)
    if kind == FIELD_TYPE.STRING:
        length = mapped.max_length if is_bytes else None
        return MySqlType("binary" if is_bytes else "char", length=length, charset=charset)
    if kind == FIELD_TYPE.VARCHAR:
        length = mapped.max_length if is_bytes else None
        return MySqlType("varbinary" if is_bytes else "varchar", length=length, charset=charset)
    reason = (
        f"column {mapped.name} has the internal type {kind}, which cannot be read from a binlog;"
        " ALTER TABLE ... FORCE rewrites old temporal columns, a COMPRESSED column has to go"
    )
    raise UnreadableTable(reason)


def _members(mapped: MapColumn, now: Column | None) -> MySqlType:
    """Return ENUM or SET; members that the library cannot decode come from the current schema."""
    name = "enum" if mapped.type == FIELD_TYPE.ENUM else "set"
    values = tuple(mapped.enum_values[1:] if name == "enum" else mapped.set_values)
    if any(not value for value in values):
        known = now.type.values if now is not None and now.type.name == name else ()
        if len(known) != len(values) or any(
            v not in ("", k) for v, k in zip(values, known, strict=True)
        ):
            reason = f"members of {mapped.name} are not in UTF-8"
            raise UnreadableTable(reason)
        values = known
    return MySqlType(name, values=values)


def _charset(name: str, charset_id: int | None, now: Column | None) -> str:
    found = CHARSET.charset_by_id(str(charset_id), "mysql") if charset_id is not None else None
    charset = (found.collation or "").partition("_")[0] if found else ""
    if charset not in CODECS and now is not None and now.type.charset:
        charset = now.type.charset  # collations unknown to the library, such as MariaDB's new ones
    if charset not in CODECS:
        reason = (
            f"column {name} has a character set that cannot be decoded (collation {charset_id});"
            " ALTER TABLE ... CONVERT TO CHARACTER SET utf8mb4"
        )
        raise UnreadableTable(reason)
    return charset


def _reader(column: Column, mapped: MapColumn, report: Report) -> Read:
    kind = mapped.type
    if kind in (FIELD_TYPE.ENUM, FIELD_TYPE.SET):
        size = mapped.size
    elif kind == FIELD_TYPE.BIT:
        size = mapped.bytes
    elif kind in _BLOBS:
        size = mapped.length_size
    elif kind == FIELD_TYPE.STRING and column.type.name == "binary":
        size = mapped.max_length
    elif kind in _STRINGS:
        size = 2 if mapped.max_length > 255 else 1
    else:
        size = 0
    if column.type.name == "json" and kind != FIELD_TYPE.JSON:
        text = MySqlType("longtext", charset=column.type.charset)
        return reader(Column(column.name, text, column.nullable), size, report)
    return reader(column, size, report)


def _passing(mapped: MapColumn) -> Read:
    """Return the reader of a column that is left out: it passes over the bytes of a value."""
    if mapped.type in (FIELD_TYPE.ENUM, FIELD_TYPE.SET, FIELD_TYPE.BIT):
        kind = MySqlType("bit")
    elif mapped.type in (*_BLOBS, *_STRINGS):
        kind = MySqlType("varbinary")
    else:
        kind = _type(mapped, None, None)
    read = _reader(Column(mapped.name, kind), mapped, lambda _: None)
    return lambda data, at: (None, read(data, at)[1])


def complete(bitmap: Sequence[int], columns: int) -> bool:
    """Return whether a bitmap has all columns (`binlog_row_image` = `FULL`)."""
    return int.from_bytes(bytes(bitmap), "little") & (1 << columns) - 1 == (1 << columns) - 1
