"""One MariaDB for the tests of ingestion jobs, and a database for each test."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from tests.integration.ingest.support import Shop
from tests.mariadb import MariaDb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from streamtable.devbroker.broker import Broker


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """Start the server of the suite. Tests that stop or configure the server restore it."""
    with MariaDb(tmp_path_factory.mktemp("mariadb")) as running:
        yield running


@pytest.fixture
def shop(mariadb: MariaDb, broker: Broker, tmp_path: Path) -> Iterator[Shop]:
    """Create a database for a job to copy, and drop it after the test."""
    name = f"shop_{uuid.uuid4().hex[:8]}"
    mariadb.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield Shop(mariadb, name, broker.bootstrap_servers, tmp_path)
    mariadb.run(f"DROP DATABASE {name}")
