"""Types of columns in TABLE_MAP events, and the readers of their values."""

from __future__ import annotations

from pymysqlreplication.column import Column as MapColumn
from pymysqlreplication.constants import CHARSET, FIELD_TYPE

from streamtable.connectors.mysql_cdc.reader.binlog.binary_values import Read, reader
from streamtable.connectors.mysql_cdc.reader.binlog.table_columns import (
    BLOB_COMPRESSED,
    VARCHAR_COMPRESSED,
    VECTOR,
)
from streamtable.connectors.mysql_cdc.reader.model import Column, MySqlType
from streamtable.connectors.mysql_cdc.reader.values.charsets import CODECS, Report
from streamtable.connectors.mysql_cdc.reader.values.types import SPATIAL, TEXTS

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
_BLOBS = (FIELD_TYPE.BLOB, FIELD_TYPE.GEOMETRY, FIELD_TYPE.JSON, BLOB_COMPRESSED, VECTOR)
_STRINGS = (FIELD_TYPE.STRING, FIELD_TYPE.VARCHAR, VARCHAR_COMPRESSED)
#: Bytes of old temporal values by their fractional digits. MySQL has them without digits only.
_OLD_WIDTHS = {
    FIELD_TYPE.TIME: (3, 4, 4, 5, 5, 5, 6),
    FIELD_TYPE.DATETIME: (8, 6, 6, 7, 7, 7, 8),
    FIELD_TYPE.TIMESTAMP: (4, 5, 5, 6, 6, 7, 7),
}
_OF_SIZE = {1: "tiny", 2: "", 3: "medium", 4: "long"}
_BINARY = 63
#: Types that the current schema may have for a different type in the binlog.
_SAME = {
    "geometry": SPATIAL,
    **{text: frozenset({text, "json"}) for text in TEXTS},
    "binary": frozenset({"binary", "uuid", "inet4", "inet6"}),
}


class UnreadableTable(Exception):  # noqa: N818 - becomes a StreamtableError with its place
    """A table map that does not suffice to read rows, or a value without a meaning.

    The text has the reason and the remedy.
    """


def column_of(
    mapped: MapColumn, charset_id: int | None, now: Column | None, *, nullable: bool
) -> Column:
    """Return a column that is read.

    Args:
        mapped: the column in the event.
        charset_id: the collation's number; None for types without characters.
        now: the current column of this name, if any. It has facts that the event lacks.
        nullable: whether it may be NULL.

    Raises:
        UnreadableTable: the type cannot be read.
    """
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


def value_reader(column: Column, mapped: MapColumn, report: Report) -> Read:
    """Return the reader of a column's values; `report` is called for undecodable text."""
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


def passing_reader(mapped: MapColumn, now: Column | None, dbms: str) -> Read:
    """Return the reader of a column that is left out: it passes over the bytes of a value."""
    if mapped.type in _OLD_WIDTHS:
        width = _OLD_WIDTHS[mapped.type][_old_digits(mapped, now, dbms)]
        return lambda _, at: (None, at + width)
    if mapped.type in (FIELD_TYPE.ENUM, FIELD_TYPE.SET, FIELD_TYPE.BIT):
        kind = MySqlType("bit")
    elif mapped.type in (*_BLOBS, *_STRINGS):
        kind = MySqlType("varbinary")
    else:
        kind = _type(mapped, None, None)
    read = value_reader(Column(mapped.name, kind), mapped, lambda _: None)
    return lambda data, at: (None, read(data, at)[1])


def _old_digits(mapped: MapColumn, now: Column | None, dbms: str) -> int:
    """Return the fractional digits of an old temporal column, which the event lacks."""
    if now is not None and now.type.stored:
        return now.type.scale or 0
    if dbms == "mariadb":
        reason = (
            f"column {mapped.name} was left out, and had the format of MariaDB 5.3 in an unknown"
            " length; start behind the ALTER TABLE that changed it"
        )
        raise UnreadableTable(reason)
    return 0
