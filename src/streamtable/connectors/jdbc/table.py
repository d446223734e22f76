"""`JdbcTable`: a table of a database with checked options."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamtable.connector_api.dataset import Dataset
from streamtable.connectors.jdbc.databases import Database
from streamtable.connectors.jdbc.urls import shown_url
from streamtable.core.changelog import APPEND, UPSERT, ChangelogMode
from streamtable.core.errors import Span
from streamtable.core.table import Schema
from streamtable.core.types import DataType, Root
from streamtable.formats.types import unsupported

if TYPE_CHECKING:
    from streamtable.connectors.jdbc.lookup import JdbcLookup
    from streamtable.connectors.jdbc.sink import JdbcSink
    from streamtable.connectors.jdbc.source import JdbcSource


@dataclass(frozen=True)
class Access:
    """Connection settings of a table's database.

    Attributes:
        driver: the class of the driver.
        properties: pairs of a property of the driver and its value.
        timeout: the longest wait when a connection is checked.
    """

    database: Database
    url: str = dataclasses.field(repr=False)
    driver: str
    username: str | None
    password: str | None = dataclasses.field(repr=False)
    properties: tuple[tuple[str, str], ...] = dataclasses.field(repr=False)
    timeout: timedelta

    @property
    def shown_url(self) -> str:
        """The url without its logins and properties, which may hold a password."""
        return shown_url(self.url)


@dataclass(frozen=True)
class Partitioning:
    """Division of a scan into tasks; both bounds are inclusive."""

    column: str
    tasks: int
    lower: int
    upper: int


@dataclass(frozen=True)
class Scanning:
    """Settings of scans."""

    partitioning: Partitioning | None
    fetch_size: int
    auto_commit: bool


@dataclass(frozen=True)
class Cache:
    """Settings of the lookup cache; None: no limit."""

    max_rows: int | None
    expire_after_write: timedelta | None
    expire_after_access: timedelta | None
    missing_keys: bool


@dataclass(frozen=True)
class Writing:
    """Settings of the sink.

    Attributes:
        max_rows: rows of a flush; 0 for no limit.
        interval: the longest time that a row is buffered; 0 for no limit.
        tasks: the highest number of writing tasks; None for the query's parallelism.
    """

    max_rows: int
    interval: timedelta
    max_retries: int
    tasks: int | None
    exactly_once: bool


@dataclass(frozen=True, kw_only=True)
class JdbcTable:
    """A table of a database.

    Attributes:
        table: its name in the script, for messages.
        name_there: its name in the database.
        cache: the lookup cache; None for none.
        lookup_retries: how often a failed lookup is repeated.
    """

    table: str
    schema: Schema
    access: Access
    name_there: str
    scanning: Scanning
    cache: Cache | None
    lookup_retries: int
    writing: Writing
    at: Span | None = None
    name: str = "jdbc"
    reads: ChangelogMode = APPEND
    writable_metadata: tuple[str, ...] = ()

    @property
    def writes(self) -> ChangelogMode:
        """Upserts and deletes if the table has a primary key, else inserts."""
        return UPSERT if self.schema.primary_key else APPEND

    def datasets(self) -> Sequence[Dataset]:
        """Return the table in its database."""
        address = urlsplit(self.access.shown_url.removeprefix("jdbc:"))
        system = address.scheme.replace("postgresql", "postgres")
        path = [part for part in address.path.split("/") if part]
        # A file of SQLite has no server.
        host, database = (address.netloc, path) if address.netloc else (address.path, [])
        return (Dataset(f"{system}://{host}", ".".join([*database, self.name_there])),)

    def metadata_type(self, key: str) -> DataType:
        """Raise an error: the table has no metadata columns."""
        raise KeyError(key)

    def check_source(self) -> None:
        """Accept every table: all tables can be scanned."""

    def check_lookup(self, keys: Sequence[str]) -> None:
        """Accept all columns: a database finds rows by any column."""

    def describe_lookup(self) -> str:
        """Return the cache in words."""
        if self.cache is None:
            return "no cache"
        limit = self.cache.max_rows
        return "partial cache" if limit is None else f"partial cache of {limit} keys"

    def check_sink(self) -> None:
        """Refuse arrays, as Flink does.

        Raises:
            StreamtableError: UNSUPPORTED_TYPE, at the column.
        """
        for field in self.schema.physical:
            if field.type.root is Root.ARRAY:
                reason = "the connector reads arrays and does not write them"
                place = self.schema.place_of(field.name)
                raise unsupported(field.type, field.name, reason).located(place)

    def describe(self) -> str:
        """Return connector, database and table."""
        return f"{self.name}, {self.access.database.name}, {self.name_there}"

    def fingerprint(self) -> dict[str, object]:
        """Return the table and its columns; the address of the database may change."""
        return {
            "connector": self.name,
            "table": self.name_there,
            "columns": [f"{field.name} {field.type}" for field in self.schema.physical],
        }

    def source(self) -> JdbcSource:
        """Return the source of the table."""
        from streamtable.connectors.jdbc.source import JdbcSource  # needs Spark

        return JdbcSource(self)

    def lookup(self) -> JdbcLookup:
        """Return the lookup of the table."""
        from streamtable.connectors.jdbc.lookup import JdbcLookup  # needs Spark

        return JdbcLookup(self)

    def sink(self) -> JdbcSink:
        """Return the sink of the table."""
        from streamtable.connectors.jdbc.sink import JdbcSink  # needs Spark

        return JdbcSink(self)
