"""`kill -9` at random moments with a checkpoint on HDFS or S3: the results are complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.differential.topics.test_kills import QUERIES, WAITING, check_kills

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.integration.stores.servers import Store

    from streamtable.devbroker.broker import Broker


@pytest.mark.soak
@pytest.mark.parametrize(
    ("seed", "modes", "queries"),
    [
        pytest.param(601, ("micro-batch",), tuple(QUERIES), id="micro-batch"),
        pytest.param(602, ("micro-batch", "real-time", "auto"), WAITING[:3], id="all-modes"),
    ],
)
def test_kills(
    seed: int,
    modes: Sequence[str],
    queries: Sequence[str],
    spark: SparkSession,
    store: Store,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    arguments = [*store.arguments(), "--set", "execution.checkpointing.lease=6 s"]
    where = (tmp_path, store.root, arguments)
    check_kills(seed, modes, queries, spark, broker, topic, *where)
