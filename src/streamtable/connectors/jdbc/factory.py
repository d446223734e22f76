"""The factory of `jdbc` tables: WITH options -> `JdbcTable`. It works without Spark."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connectors.jdbc import options as o
from streamtable.connectors.jdbc.databases import DATABASES, Database, database_of
from streamtable.connectors.jdbc.table import (
    Access,
    Cache,
    JdbcTable,
    Partitioning,
    Scanning,
    Writing,
)
from streamtable.connectors.jdbc.urls import secrets_of
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given, Settings
from streamtable.core.secrets import hide
from streamtable.core.table import Schema
from streamtable.core.types import NUMERIC, DataType, Root
from streamtable.formats.types import unsupported


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> JdbcTable:
    """Create a checked `jdbc` table.

    Raises:
        StreamtableError: an error in the options or columns, at its position.
    """
    if (url := given.get(o.URL.key)) is not None:
        for secret in secrets_of(url.text):
            hide(secret)
    settings = o.OPTIONS.read(given, table, at)
    database = _database(settings)
    _check_columns(schema, database)
    return JdbcTable(
        table=table,
        schema=schema,
        access=Access(
            database,
            settings[o.URL],
            settings.get(o.DRIVER) or database.driver,
            settings.get(o.USERNAME),
            settings.get(o.PASSWORD),
            tuple(sorted(settings.passthrough.items())),
            settings[o.RETRY_TIMEOUT],
        ),
        name_there=settings[o.TABLE_NAME],
        scanning=Scanning(
            _partitioning(table, schema, settings),
            settings[o.FETCH_SIZE],
            settings[o.AUTO_COMMIT],
        ),
        cache=_cache(settings),
        lookup_retries=settings[o.LOOKUP_RETRIES],
        writing=Writing(
            max_rows=settings[o.FLUSH_ROWS],
            interval=settings[o.FLUSH_INTERVAL],
            max_retries=settings[o.SINK_RETRIES],
            tasks=settings.get(o.PARALLELISM),
            exactly_once=settings[o.DELIVERY] is o.DeliveryGuarantee.EXACTLY_ONCE,
        ),
        at=at,
    )


def _database(settings: Settings) -> Database:
    found = database_of(settings[o.URL])
    if found is None:
        kind = ":".join(settings[o.URL].split(":")[:2])
        known = ", ".join(d.prefix for d in DATABASES)
        raise StreamtableError(
            Condition.NOT_YET,
            at=settings.at(o.URL),
            what=f"a url of '{kind}:' in connector 'jdbc'",
            hint=f"known: {known}",
        )
    return found


def _check_columns(schema: Schema, database: Database) -> None:
    for column in schema.metadata:
        raise StreamtableError(
            Condition.UNKNOWN_METADATA,
            at=column.at,
            hint="it has no metadata columns",
            connector="jdbc",
            key=column.key,
        )
    for field in schema.physical:
        if not _fits(field.type, database):
            reason = f"Flink's dialect of {database.name} has no such type"
            raise unsupported(field.type, field.name, reason).located(schema.place_of(field.name))


def _fits(kind: DataType, database: Database) -> bool:
    if kind.root is Root.ARRAY and database.arrays and kind.element is not None:
        return kind.element.root in database.types
    return kind.root in database.types


def _partitioning(table: str, schema: Schema, settings: Settings) -> Partitioning | None:
    column = settings.get(o.PARTITION_COLUMN)
    if column is None:
        return None
    types = {f.name: f.type for f in schema.physical}
    if column not in types:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(o.PARTITION_COLUMN),
            reason=f"'{o.PARTITION_COLUMN.key}' names '{column}', which is no column of {table}",
            hint=closest(column, types),
        )
    if types[column].root not in NUMERIC:
        raise StreamtableError(
            Condition.NOT_YET,
            at=settings.at(o.PARTITION_COLUMN),
            what=f"'{o.PARTITION_COLUMN.key}' of type {types[column]}",
            hint="the bounds are whole numbers; name a number column",
        )
    lower, upper = settings.get(o.LOWER_BOUND), settings.get(o.UPPER_BOUND)
    tasks = settings.get(o.PARTITION_NUM)
    assert lower is not None, "a rule requires all four options"  # noqa: S101
    assert upper is not None, "a rule requires all four options"  # noqa: S101
    assert tasks is not None, "a rule requires all four options"  # noqa: S101
    return Partitioning(column, tasks, lower, upper)


def _cache(settings: Settings) -> Cache | None:
    """Return the cache, by the options of both generations."""
    missing = settings[o.CACHE_MISSING]
    if settings[o.CACHE] is o.CacheType.PARTIAL:
        return Cache(
            settings.get(o.CACHE_MAX_ROWS),
            settings.get(o.EXPIRE_WRITE),
            settings.get(o.EXPIRE_ACCESS),
            missing,
        )
    rows, ttl = settings.get(o.OLD_MAX_ROWS), settings.get(o.OLD_TTL)
    # As in Flink, the cache is off without rows or without a lifetime.
    return Cache(rows, ttl, None, missing) if rows and rows > 0 and ttl else None


JDBC = ConnectorFactory(o.OPTIONS, create)
