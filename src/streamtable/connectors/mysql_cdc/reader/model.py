"""Tables, rows and positions of the reader; no SQL and no Spark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

#: Kinds of changes in Debezium's letters: `r` snapshot row, `c` insert, `u` update, `d` delete.
ChangeKind = Literal["r", "c", "u", "d"]

#: Values of a row in the order of its table's columns. By MySQL type: int, Decimal, float, str,
#: bytes (BIT too, highest byte first), date, datetime without zone (DATETIME), datetime in UTC
#: (TIMESTAMP), timedelta (TIME), a tuple of str (SET), a GeoJSON str (spatial).
Row = tuple[Any, ...]


class TableId(NamedTuple):
    """A table of the server."""

    database: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


@dataclass(frozen=True)
class MySqlType:
    """A column's type on the server.

    Attributes:
        name: in lower case without attributes, e.g. `int`, `varchar`, `set`.
        length: characters of CHAR and VARCHAR, bytes of BINARY and VARBINARY, bits of BIT, the
            display width of TINYINT; None for other types or if unknown.
        precision: digits of DECIMAL.
        scale: fractional digits of DECIMAL, and of the seconds of temporal types.
        unsigned: whether a numeric type is unsigned.
        charset: MySQL's name of the character set, for character types.
        values: the members of ENUM and SET, in order.
        stored: the server's name of a storage format that a binlog repeats and the reader does not
            decode: `COMPRESSED`, or `mariadb-5.3` of temporal types; otherwise empty.
    """

    name: str
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    unsigned: bool = False
    charset: str | None = None
    values: tuple[str, ...] = ()
    stored: str = ""

    def __str__(self) -> str:
        size = ""
        if self.name == "decimal":
            size = f"({self.precision},{self.scale})"
        elif self.length is not None:
            size = f"({self.length})"
        elif self.scale:
            size = f"({self.scale})"
        return f"{self.name}{size}{' unsigned' if self.unsigned else ''}".upper()


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    type: MySqlType
    nullable: bool = True


@dataclass(frozen=True)
class TableSchema:
    """A table's columns at a point in time.

    Attributes:
        primary_key: column names, in the key's order; empty if there is no primary key.
        engine: the storage engine, e.g. `InnoDB`; empty if unknown.
        versioned: whether the table is one of MariaDB's WITH SYSTEM VERSIONING.
    """

    id: TableId
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    engine: str = ""
    versioned: bool = False

    @cached_property
    def places(self) -> dict[str, int]:
        """Each column's position by its name."""
        return {column.name: i for i, column in enumerate(self.columns)}


class Position(NamedTuple):
    """A position between two transactions of the binlog; reading continues after it.

    Attributes:
        file: the binlog's name.
        pos: the byte offset in the binlog.
        gtid: the GTID set up to this position as the server writes it; empty if the server has
            none.
    """

    file: str
    pos: int
    gtid: str = ""

    @property
    def order(self) -> tuple[int, int]:
        """A sort key; it orders the positions of one server."""
        return file_number(self.file), self.pos

    @property
    def ordinal(self) -> int:
        """A number that orders positions and the rows between them."""
        return ordinal(self.file, self.pos)

    def __str__(self) -> str:
        return f"{self.file}:{self.pos}"


def file_number(file: str) -> int:
    """Return the number at the end of a binlog's name, `binlog.000012` -> 12."""
    return int(file.rpartition(".")[2])


def ordinal(file: str, byte: int) -> int:
    """Return the order of a byte among all bytes of a server's binlogs, in 63 bits."""
    return (file_number(file) << 40) + byte


class Change(NamedTuple):
    """A change of one row.

    Attributes:
        table: the table with its columns at the time of the change.
        kind: `r`, `c`, `u` or `d`.
        before: the row before the change; None for `r` and `c`.
        after: the row after the change; None for `d`.
        op_ts: the time of the statement, in epoch milliseconds; 0 for snapshot rows.
        ordinal: a number that increases from change to change in the order of the binlog. A
            snapshot row has the ordinal of the position as of which it was read.
    """

    table: TableSchema
    kind: ChangeKind
    before: Row | None
    after: Row | None
    op_ts: int
    ordinal: int


class SchemaChange(NamedTuple):
    """A DDL statement.

    Attributes:
        kind: `create`, `alter`, `drop`, `rename` or `truncate`; `database` for DROP DATABASE;
            `key` for an ALTER TABLE that adds a primary key; `unlogged` for an ALTER TABLE that
            adds or removes rows, such as DROP PARTITION. The binlog does not have these rows.
        table: the table; for a rename, the old name; for `database`, a table without a name.
        new_name: the new name of a rename by RENAME or ALTER, or the table that gets the rows of an
            `unlogged` change; otherwise None.
        statement: the statement in the binlog.
        op_ts: epoch milliseconds.
        ordinal: as in `Change`.
    """

    kind: str
    table: TableId
    new_name: TableId | None
    statement: str
    op_ts: int
    ordinal: int
