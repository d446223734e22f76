"""Discover the tables of a server: names by patterns, columns from `information_schema`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from streamtable.connectors.mysql_cdc.reader.connect import Session, session
from streamtable.connectors.mysql_cdc.reader.model import Column, MySqlType, TableId, TableSchema
from streamtable.connectors.mysql_cdc.reader.settings import MySqlSettings

_SYSTEM = ("information_schema", "mysql", "performance_schema", "sys")

_TABLES = """
    SELECT table_schema, table_name, engine, table_type FROM information_schema.tables
    WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') AND table_schema NOT IN %s
        AND table_schema LIKE %s AND table_name LIKE %s
    ORDER BY table_schema, table_name
"""
_COLUMNS = """
    SELECT table_schema, table_name, column_name, data_type, column_type, is_nullable,
           character_maximum_length, numeric_precision, numeric_scale, datetime_precision,
           character_set_name
    FROM information_schema.columns WHERE table_schema = %s AND table_name LIKE %s
    ORDER BY table_name, ordinal_position
"""
_KEYS = """
    SELECT table_schema, table_name, column_name FROM information_schema.statistics
    WHERE table_schema = %s AND table_name LIKE %s AND index_name = 'PRIMARY'
    ORDER BY table_name, seq_in_index
"""
#: The default display width. MySQL 8 names no width but that of TINYINT(1).
_TINYINT_WIDTH = 4
#: The comment behind a column's type that names its storage format.
_STORED = re.compile(r"/\*(?:M!\d+)? (COMPRESSED|mariadb-5\.3) ?\*/$")
_QUOTED = re.compile(r"'((?:[^'\\]|''|\\.)*)'")


class _Kind(NamedTuple):
    """Engine of a table, and whether it is system-versioned."""

    engine: str
    versioned: bool


class Patterns:
    r"""Regular expressions over `database.table`; each matches the whole name, in any case.

    Args:
        texts: Python's regular expressions; a dot between database and table is `\\.`.

    Raises:
        re.error: a text is not a regular expression.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(texts)
        self._compiled = [re.compile(text, re.IGNORECASE) for text in self.texts]

    def match(self, table: TableId) -> bool:
        """Return whether a pattern matches the table; system tables never match."""
        name = str(table)
        return table.database not in _SYSTEM and any(p.fullmatch(name) for p in self._compiled)


def discover(settings: MySqlSettings, patterns: Sequence[str]) -> list[TableSchema]:
    """Return the tables whose `database.table` matches a pattern, ordered by name.

    Args:
        settings: the server.
        patterns: regular expressions over the whole of `database.table`.

    Returns:
        Columns in the order of the table, with the server's types, and the primary key. Views,
        sequences and system tables are excluded.

    Raises:
        StreamtableError: DATABASE_LOGIN_FAILED, DATABASE_UNREACHABLE or DATABASE_REFUSED.
        re.error: a pattern is not a regular expression.
    """
    with session(settings) as opened:
        return schemas(opened, Patterns(patterns))


def schemas(opened: Session, patterns: Patterns) -> list[TableSchema]:
    """Return the tables as `discover` does, over an open session."""
    there = _tables(opened, "%", "%")
    return _described(opened, {t: kind for t, kind in there.items() if patterns.match(t)})


def schema_of(opened: Session, table: TableId) -> TableSchema | None:
    """Return the current schema of one table; None if the table does not exist."""
    like = tuple(re.sub(r"([\\%_])", r"\\\1", part) for part in table)
    there = _tables(opened, *like)
    found = _described(opened, {t: kind for t, kind in there.items() if t == table}, like[1])
    return found[0] if found else None


def _tables(opened: Session, *like: str) -> dict[TableId, _Kind]:
    """Return the tables whose database and name are LIKE two texts."""
    return {
        TableId(database, table): _Kind(engine or "", table_type == "SYSTEM VERSIONED")
        for database, table, engine, table_type in opened.rows(_TABLES, (_SYSTEM, *like))
    }


def _described(
    opened: Session, tables: Mapping[TableId, _Kind], like: str = "%"
) -> list[TableSchema]:
    columns: dict[TableId, list[Column]] = defaultdict(list)
    keys: dict[TableId, list[str]] = defaultdict(list)
    for database in sorted({table.database for table in tables}):
        for found in opened.rows(_COLUMNS, (database, like)):
            columns[TableId(*found[:2])].append(_column(*found[2:]))
        for db, table, column in opened.rows(_KEYS, (database, like)):
            keys[TableId(db, table)].append(column)
    return [
        TableSchema(t, tuple(columns[t]), tuple(keys[t]), *kind)
        for t, kind in tables.items()
        if columns[t]
    ]


def _column(
    name: str,
    data_type: str,
    column_type: str,
    nullable: str,
    characters: Any,
    precision: Any,
    scale: Any,
    fraction: Any,
    charset: str | None,
) -> Column:
    base, whole = data_type.lower(), column_type
    length: int | None = None
    if base in ("char", "varchar", "binary", "varbinary"):
        length = None if characters is None else int(characters)
    elif base in ("bit", "tinyint"):
        size = re.search(r"\((\d+)\)", whole)
        length = int(size.group(1)) if size else _TINYINT_WIDTH
    is_decimal = base == "decimal"
    stored = _STORED.search(whole)
    kind = MySqlType(
        base,
        length=length,
        precision=int(precision) if is_decimal else None,
        scale=int(scale if is_decimal else fraction or 0)
        if is_decimal or base in ("time", "datetime", "timestamp")
        else None,
        unsigned="unsigned" in whole.lower(),
        charset=charset,
        values=_values(whole) if base in ("enum", "set") else (),
        stored=stored.group(1) if stored else "",
    )
    return Column(name, kind, nullable.upper() == "YES")


def _values(column_type: str) -> tuple[str, ...]:
    """Return the members of `enum('a','b')`."""
    found = _QUOTED.findall(column_type)
    return tuple(re.sub(r"\\(.)", r"\1", text.replace("''", "'")) for text in found)
