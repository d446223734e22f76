"""Fixtures of file systems of Hadoop."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.stores.servers import Store, hdfs, s3

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SERVERS: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {"hdfs": hdfs, "s3a": s3}


@pytest.fixture(scope="session")
def servers(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Iterator[Callable[[str], Store]]:
    """Start the server of a kind at its first use. The server runs until the end of the session.

    Hadoop caches the file system of an address, with its settings, as long as Spark runs. So a
    kind has one server, whatever the order of the tests.
    """
    with ExitStack() as running:

        @cache
        def started(kind: str) -> Store:
            store = running.enter_context(_SERVERS[kind](tmp_path_factory.mktemp(kind)))
            hadoop = spark.sparkContext._jsc.hadoopConfiguration()
            for key, value in store.hadoop.items():
                hadoop.set(key, value)
            return store

        yield started


@pytest.fixture(params=list(_SERVERS))
def server(request: pytest.FixtureRequest, servers: Callable[[str], Store]) -> Store:
    """A server of each kind, which the suite's Spark session can reach, too."""
    return servers(request.param)


@pytest.fixture
def store(server: Store) -> Store:
    """A separate folder for each test, which does not exist yet."""
    return replace(server, root=f"{server.root}/{uuid.uuid4().hex[:8]}")
