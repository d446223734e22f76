"""Fixtures of file systems of Hadoop."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.stores.servers import Store, hdfs, s3

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SERVERS: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {"hdfs": hdfs, "s3a": s3}


@pytest.fixture(scope="session", params=list(_SERVERS))
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Iterator[Store]:
    """A server of each kind, which the suite's Spark session can reach, too."""
    with _SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as store:
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        for key, value in store.hadoop.items():
            hadoop.set(key, value)
        yield store


@pytest.fixture
def store(server: Store) -> Store:
    """A folder of its own for each test, which does not exist yet."""
    return replace(server, root=f"{server.root}/{uuid.uuid4().hex[:8]}")
