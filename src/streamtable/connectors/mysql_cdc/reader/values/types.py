"""Mapping of MySQL types to SQL types; source: *Data Type Mapping* of Flink CDC's MySQL page."""

from __future__ import annotations

from streamtable.connectors.mysql_cdc.reader.model import Column, MySqlType
from streamtable.connectors.mysql_cdc.reader.values.charsets import CODECS
from streamtable.core import types as sql
from streamtable.core.types import DataType, Root

SPATIAL = frozenset(
    {
        "geometry",
        "point",
        "linestring",
        "polygon",
        "multipoint",
        "multilinestring",
        "multipolygon",
        "geometrycollection",
        "geomcollection",
    }
)
TEXTS = frozenset({"tinytext", "text", "mediumtext", "longtext"})
BLOBS = frozenset({"tinyblob", "blob", "mediumblob", "longblob"})

_SIGNED = {
    "tinyint": sql.TINYINT,
    "smallint": sql.SMALLINT,
    "mediumint": sql.INT,
    "int": sql.INT,
    "bigint": sql.BIGINT,
}
_UNSIGNED = {
    "tinyint": sql.SMALLINT,
    "smallint": sql.INT,
    "mediumint": sql.BIGINT,
    "int": sql.BIGINT,
    "bigint": sql.decimal(20, 0),
}
_PLAIN = {
    "float": sql.FLOAT,
    "double": sql.DOUBLE,
    "date": sql.DATE,
    "year": sql.INT,
    "enum": sql.STRING,
    "json": sql.STRING,
    "set": sql.array(sql.STRING),
    **dict.fromkeys(SPATIAL, sql.STRING),
    **dict.fromkeys(TEXTS, sql.STRING),
    **dict.fromkeys(BLOBS, sql.BYTES),
}


def obstacle(column: Column) -> str | None:
    """Return why values of a column cannot be read from snapshot and binlog; None if they can."""
    kind = column.type
    if kind.name not in _KNOWN:
        return f"column {column.name} is {kind}, which has no SQL type"
    if kind.charset and kind.charset.lower() not in CODECS:
        return (
            f"column {column.name} has the character set {kind.charset}, which cannot be decoded;"
            " ALTER TABLE ... CONVERT TO CHARACTER SET utf8mb4"
        )
    return None


def binlog_obstacle(column: Column) -> str | None:
    """Return why values of a column cannot be read from a binlog; None if they can."""
    if not column.type.stored:
        return None
    remedy = "MODIFY without COMPRESSED" if column.type.stored == "COMPRESSED" else "FORCE"
    return (
        f"column {column.name} is stored in the format {column.type.stored}, which cannot be read"
        f" from a binlog; ALTER TABLE ... {remedy} changes it, or leave out the column"
    )


def value_kind(kind: MySqlType) -> str:
    """Return a name that types have in common whose values are compared in the same way.

    The values of text also depend on its collation.
    """
    return _KINDS.get(kind.name, kind.name)


def sql_type(column: Column) -> DataType:
    """Return the SQL type of a column.

    Raises:
        KeyError: the server's type has no SQL type (see `obstacle`).
    """
    return _of(column.type).with_nullable(column.nullable)


def _of(kind: MySqlType) -> DataType:
    if kind.name in _SIGNED:
        if kind.name == "tinyint" and kind.length == 1 and not kind.unsigned:
            return sql.BOOLEAN
        return (_UNSIGNED if kind.unsigned else _SIGNED)[kind.name]
    if kind.name in _PLAIN:
        return _PLAIN[kind.name]
    length = kind.length
    match kind.name:
        case "decimal":
            precision = kind.precision or 10
            fits = precision <= sql.MAX_DECIMAL_PRECISION
            return sql.decimal(precision, kind.scale or 0) if fits else sql.STRING
        case "bit":
            return sql.BOOLEAN if length == 1 else _binary(Root.BINARY, ((length or 1) + 7) // 8)
        case "time":
            return sql.time(kind.scale or 0)
        case "datetime" | "timestamp":
            return sql.timestamp(kind.scale or 0)
        case "char":
            return sql.char(length) if length else sql.STRING
        case "varchar":
            return sql.varchar(length) if length else sql.STRING
        case "binary":
            return _binary(Root.BINARY, length) if length else sql.BYTES
        case "varbinary":
            return _binary(Root.VARBINARY, length) if length else sql.BYTES
    raise KeyError(kind.name)


def _binary(root: Root, length: int) -> DataType:
    return DataType(root, precision=length)


_KINDS = {
    **dict.fromkeys((*_SIGNED, "decimal", "year", "float", "double"), "number"),
    **dict.fromkeys(("char", "varchar", "enum", *TEXTS), "text"),
    **dict.fromkeys(("binary", "varbinary", *BLOBS), "bytes"),
}
_KNOWN = frozenset(
    {
        *_SIGNED,
        *_PLAIN,
        "decimal",
        "bit",
        "time",
        "datetime",
        "timestamp",
        "char",
        "varchar",
        "binary",
        "varbinary",
    }
)
