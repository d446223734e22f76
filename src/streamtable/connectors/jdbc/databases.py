"""The databases of the connector: urls, drivers and types.

Source of the types: *Data Type Mapping* of Flink's JDBC page. SQLite has no dialect in Flink.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.types import Root

_COMMON = frozenset(
    {
        Root.CHAR,
        Root.VARCHAR,
        Root.BOOLEAN,
        Root.BINARY,
        Root.VARBINARY,
        Root.DECIMAL,
        Root.TINYINT,
        Root.SMALLINT,
        Root.INT,
        Root.BIGINT,
        Root.FLOAT,
        Root.DOUBLE,
        Root.DATE,
        Root.TIME,
        Root.TIMESTAMP,
    }
)


@dataclass(frozen=True)
class Database:
    """A kind of database.

    Attributes:
        name: its name in messages.
        prefix: start of its urls.
        dialect: the SQL that the Java side writes.
        driver: class of its usual driver.
        conf: name of the driver's configuration in `ivy.xml`.
        size: download size of the driver.
        types: types that its tables can hold.
        arrays: whether arrays can be read.
    """

    name: str
    prefix: str
    dialect: str
    driver: str
    conf: str
    size: str
    types: frozenset[Root] = _COMMON
    arrays: bool = False


DATABASES = (
    Database(
        "PostgreSQL",
        "jdbc:postgresql:",
        "POSTGRESQL",
        "org.postgresql.Driver",
        "postgresql",
        "1 MB",
        arrays=True,
    ),
    Database("MySQL", "jdbc:mysql:", "MYSQL", "com.mysql.cj.jdbc.Driver", "mysql", "3 MB"),
    Database("MariaDB", "jdbc:mariadb:", "MYSQL", "org.mariadb.jdbc.Driver", "mariadb", "1 MB"),
    Database("SQLite", "jdbc:sqlite:", "SQLITE", "org.sqlite.JDBC", "sqlite", "14 MB"),
)


def database_of(url: str) -> Database | None:
    """Return the database of a url; None for a database that the connector does not support."""
    return next((d for d in DATABASES if url.startswith(d.prefix)), None)
