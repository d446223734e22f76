"""One MariaDB for the tests of connector mysql-cdc, and a database for each test."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from tests.mariadb import PASSWORD, USER, MariaDb

from streamtable.connectors.mysql_cdc.reader import MySqlSettings

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """Start the server of the suite. Most tests that stop or configure a server start their own."""
    with MariaDb(tmp_path_factory.mktemp("mariadb")) as running:
        yield running


@pytest.fixture
def database(mariadb: MariaDb) -> Iterator[str]:
    """Create an empty database, and drop it after the test."""
    name = f"db_{uuid.uuid4().hex[:10]}"
    mariadb.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield name
    mariadb.run(f"DROP DATABASE {name}")


@pytest.fixture
def settings(mariadb: MariaDb) -> MySqlSettings:
    """Return the settings of the reader's user at the server of the suite."""
    return MySqlSettings("127.0.0.1", USER, PASSWORD, port=mariadb.port)
