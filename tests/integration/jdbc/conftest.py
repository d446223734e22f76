"""Empty databases for the tests of connector jdbc: PostgreSQL, MariaDB and SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.jdbc.stores import MariaStore, PostgresStore, SqliteStore
from tests.mariadb import MariaDb
from tests.postgresql import PASSWORD, USER, PostgreSql

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def _postgresql() -> Iterator[PostgreSql]:
    with PostgreSql() as running:
        yield running


@pytest.fixture(scope="session")
def _mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    with MariaDb(tmp_path_factory.mktemp("mariadb")) as running:
        running.run(f"CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'")
        running.run(f"GRANT ALL ON shop.* TO {USER}@'%'")
        yield running


@pytest.fixture
def postgres(_postgresql: PostgreSql) -> PostgresStore:
    """Return PostgreSQL with an empty schema. Tests may restart the server."""
    _postgresql.run("DROP SCHEMA public CASCADE", f"CREATE SCHEMA public AUTHORIZATION {USER}")
    return PostgresStore(_postgresql)


@pytest.fixture
def maria(_mariadb: MariaDb) -> MariaStore:
    """Return MariaDB with an empty database."""
    _mariadb.run("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop CHARACTER SET utf8mb4")
    return MariaStore(_mariadb, "shop")


@pytest.fixture
def sqlite(tmp_path: Path) -> SqliteStore:
    """Return an empty SQLite file."""
    return SqliteStore(tmp_path / "shop.db")
