"""The factory of `mysql-cdc` tables: checked options, columns and key.

It works without Spark and without a driver for MySQL.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.dataset import Dataset
from streamtable.connectors.mysql_cdc import options as o
from streamtable.connectors.mysql_cdc import server_options as s
from streamtable.connectors.mysql_cdc.names import BinaryMode, StartupMode
from streamtable.core import types
from streamtable.core.changelog import APPEND, RETRACT, ChangelogMode
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given, Option
from streamtable.core.table import MetadataColumn, Schema
from streamtable.core.types import DataType, Field, Root

if TYPE_CHECKING:
    from streamtable.connectors.mysql_cdc.source import MySqlSource

NAME = "mysql-cdc"

#: Metadata keys; source: *Available Metadata* of Flink CDC's page.
METADATA: dict[str, DataType] = {
    "table_name": types.STRING.with_nullable(False),
    "database_name": types.STRING.with_nullable(False),
    "op_ts": types.timestamp_ltz(3).with_nullable(False),
    "row_kind": types.STRING.with_nullable(False),
}
_NO_COLUMNS = frozenset(
    {
        *(Root.INTERVAL_YEAR_MONTH, Root.INTERVAL_DAY_TIME, Root.BITMAP),
        *(Root.MAP, Root.MULTISET, Root.ROW),
    }
)


@dataclass(frozen=True)
class Access:
    """Connection settings of a table's server.

    Attributes:
        password: the password; no text shows it.
        jdbc: pairs of a property and its value.
    """

    hostname: str
    port: int
    username: str
    password: str = dataclasses.field(repr=False)
    server_ids: tuple[int, int] | None
    time_zone: str | None
    timeout: timedelta
    retries: int
    jdbc: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Start:
    """Start position of a first run."""

    mode: StartupMode
    file: str | None
    pos: int | None
    gtid: str | None
    timestamp_ms: int | None


@dataclass(frozen=True, kw_only=True)
class MySqlTable:
    """A table over one or several tables of a server, read as a changelog.

    Attributes:
        name: the connector's name.
        table: the table's name, for messages.
        database_pattern: `database-name`.
        table_pattern: `table-name`.
        chunk_key: the column that divides the snapshot into chunks; None for the first column of
            the key.
        new_tables: whether a restart may add tables.
        append_only: whether every change is an insert.
        binary: the text encoding of bytes.
        at: the position of the declaration.
    """

    name: str = NAME
    table: str
    schema: Schema
    access: Access
    start: Start
    database_pattern: str
    table_pattern: str
    chunk_size: int
    fetch_size: int
    chunk_key: str | None
    new_tables: bool
    append_only: bool
    binary: BinaryMode
    at: Span | None = None

    @property
    def pattern(self) -> str:
        """The regular expression over `database.table`."""
        return rf"{self.database_pattern}\.{self.table_pattern}"

    def datasets(self) -> Sequence[Dataset]:
        """Return the tables of the server, as one dataset if the names are patterns."""
        namespace = f"mysql://{self.access.hostname}:{self.access.port}"
        return (Dataset(namespace, f"{self.database_pattern}.{self.table_pattern}"),)

    @property
    def reads(self) -> ChangelogMode:
        """Every row kind, including update-before."""
        return APPEND if self.append_only else RETRACT

    @property
    def has_snapshot(self) -> bool:
        """Whether a first run begins with a snapshot."""
        return self.start.mode.has_snapshot

    @property
    def writes(self) -> ChangelogMode:
        """No row kind: the table cannot be written."""
        return APPEND

    @property
    def writable_metadata(self) -> tuple[str, ...]:
        """No key: no metadata key is writable."""
        return ()

    def metadata_type(self, key: str) -> DataType:
        """Return the type of a metadata key."""
        return METADATA[key]

    def check_source(self) -> None:
        """Accept every table: all such tables can be read."""

    def check_sink(self) -> None:
        """Raise NOT_WRITABLE."""
        raise StreamtableError(
            Condition.NOT_WRITABLE, at=self.at, table=self.table, connector=self.name
        )

    def describe(self) -> str:
        """Return connector and tables."""
        return f"{self.name}, {self.database_pattern}.{self.table_pattern}"

    def fingerprint(self) -> dict[str, object]:
        """Return columns and tables; without patterns if a restart may add tables."""
        columns = [f"{f.name} {f.type}" for f in self.schema.physical]
        tables = {} if self.new_tables else {"tables": self.pattern}
        return {"connector": self.name, "columns": columns, **tables}

    def source(self) -> MySqlSource:
        """Return the source of the table.

        Raises:
            StreamtableError: PLUGIN_FAILED if the drivers for MySQL are not installed.
        """
        try:
            from streamtable.connectors.mysql_cdc.source import MySqlSource
        except ImportError as error:
            raise StreamtableError(
                Condition.PLUGIN_FAILED,
                at=self.at,
                hint="pip install 'streamtable[mysql]'",
                kind="connector",
                name=self.name,
                reason=str(error),
            ) from None
        return MySqlSource(self)


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> MySqlTable:
    """Create a checked `mysql-cdc` table.

    Raises:
        StreamtableError: an error in the options, columns or key, at its position.
    """
    o.refuse_foreign(dict(given), table)
    settings = o.OPTIONS.read(given, table, at)
    _check_columns(table, schema, at)
    for option in (o.DATABASE, o.TABLE):
        _check_pattern(option, settings.given[option.key])
    return MySqlTable(
        table=table,
        schema=schema,
        access=Access(
            settings[s.HOSTNAME],
            settings[s.PORT],
            settings[s.USERNAME],
            settings[s.PASSWORD],
            settings.get(s.SERVER_ID),
            settings.get(s.TIME_ZONE),
            settings[s.CONNECT_TIMEOUT],
            settings[s.MAX_RETRIES],
            tuple(sorted(settings.passthrough.items())),
        ),
        start=Start(
            o.startup_mode(settings),
            settings.get(s.STARTUP_FILE),
            settings.get(s.STARTUP_POS),
            settings.get(s.STARTUP_GTID),
            settings.get(s.STARTUP_TIMESTAMP),
        ),
        database_pattern=settings[o.DATABASE],
        table_pattern=settings[o.TABLE],
        chunk_size=settings[s.CHUNK_SIZE],
        fetch_size=settings[s.FETCH_SIZE],
        chunk_key=settings.get(o.CHUNK_KEY),
        new_tables=settings[o.NEW_TABLES],
        append_only=settings[o.APPEND_ONLY],
        binary=settings[o.BINARY_MODE],
        at=at,
    )


def _check_columns(table: str, schema: Schema, at: Span | None) -> None:
    if not schema.primary_key:
        raise StreamtableError(
            Condition.PRIMARY_KEY_REQUIRED,
            at=at,
            hint="add PRIMARY KEY (column, ...) NOT ENFORCED to its columns",
            table=table,
            owner=f"connector '{NAME}'",
        )
    for column in schema.metadata:
        _check_metadata(column)
    for field in schema.physical:
        _check_type(field, schema.place_of(field.name) or at)


def _check_metadata(column: MetadataColumn) -> None:
    if column.key not in METADATA:
        raise StreamtableError(
            Condition.UNKNOWN_METADATA,
            at=column.at,
            hint=closest(column.key, METADATA) or "known: " + ", ".join(METADATA),
            connector=NAME,
            key=column.key,
        )


def _check_type(column: Field, at: Span | None) -> None:
    kind = column.type
    texts = kind.element is not None and kind.element.root in types.CHARACTER
    if kind.root in _NO_COLUMNS or (kind.root is Root.ARRAY and not texts):
        raise StreamtableError(
            Condition.UNSUPPORTED_TYPE,
            at=at,
            hint="a SET is ARRAY<STRING>, JSON and spatial types are STRING",
            found=kind,
            reason=f"no type of MySQL becomes it (column {column.name})",
        )


def _check_pattern(option: Option[str], given: Given) -> None:
    try:
        re.compile(given.text)
    except re.error as error:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=given.at,
            option=option.key,
            value=given.text,
            expected=f"a regular expression ({error})",
        ) from None


MYSQL_CDC = ConnectorFactory(o.OPTIONS, create)
