"""Databases of the tests, with one interface."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tests.postgresql import PASSWORD, USER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mariadb import MariaDb
    from tests.postgresql import PostgreSql

Rows = list[tuple[str | None, ...]]


class Store(Protocol):
    """A database that tables connect to."""

    def options(self, table: str, *more: str) -> str:
        """Return the WITH clause of a table."""

    def run(self, *statements: str) -> Rows:
        """Run statements and return the rows of the last statement as text."""


def _with(url: str, table: str, login: bool, more: tuple[str, ...]) -> str:
    given = ["'connector' = 'jdbc'", f"'url' = '{url}'", f"'table-name' = '{table}'"]
    if login:
        given += [f"'username' = '{USER}'", f"'password' = '{PASSWORD}'"]
    return f"WITH ({', '.join([*given, *more])})"


@dataclass
class PostgresStore:
    server: PostgreSql

    def options(self, table: str, *more: str) -> str:
        return _with(self.server.url, table, True, more)

    def run(self, *statements: str) -> Rows:
        return self.server.run(*(f"SET ROLE {USER}; {s}" for s in statements))


@dataclass
class MariaStore:
    server: MariaDb
    database: str

    @property
    def url(self) -> str:
        return f"jdbc:mariadb://127.0.0.1:{self.server.port}/{self.database}"

    def options(self, table: str, *more: str) -> str:
        return _with(self.url, table, True, more)

    def run(self, *statements: str) -> Rows:
        connection = self.server.connect(self.database)
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                return _texts(cursor.fetchall())
        finally:
            connection.close()


@dataclass
class SqliteStore:
    file: Path

    def options(self, table: str, *more: str) -> str:
        return _with(f"jdbc:sqlite:{self.file}", table, False, more)

    def run(self, *statements: str) -> Rows:
        with sqlite3.connect(self.file, timeout=30) as connection:
            for statement in statements:
                found = connection.execute(statement).fetchall()
        connection.close()
        return _texts(found)


def _texts(rows: object) -> Rows:
    assert isinstance(rows, list | tuple)
    return [tuple(None if v is None else str(v) for v in row) for row in rows]
