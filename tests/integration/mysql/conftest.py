"""One MariaDB for the tests of connector mysql-cdc, and databases nobody else uses."""

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
    """The suite's server; tests that stop one or set it otherwise start their own."""
    with MariaDb(tmp_path_factory.mktemp("mariadb")) as running:
        yield running


@pytest.fixture
def database(mariadb: MariaDb) -> Iterator[str]:
    """A database that exists and is empty."""
    name = f"db_{uuid.uuid4().hex[:10]}"
    mariadb.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield name
    mariadb.run(f"DROP DATABASE {name}")


@pytest.fixture
def settings(mariadb: MariaDb) -> MySqlSettings:
    """The reader's user at the suite's server."""
    return MySqlSettings("127.0.0.1", USER, PASSWORD, port=mariadb.port)
