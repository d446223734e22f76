"""One query of each kind over topics, with restarts.

Random histories are cut into random pieces. A separate run on the same checkpoint processes each
piece, so every cut is a restart. Micro-batches have random sizes. After each piece, the test
compares the folded topic of each query with the batch answer over the folded histories so far. The
tests of the parent folder run many more queries in memory, in less time.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.differential.topics.on_kafka import ALL_DELETED, QUERIES, KafkaJob, histories

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


#: Queries of every run of the suite. `test_crashes` and `test_rescale` cover others in every run.
_QUICK = ("pairs", "unmatched", "shared")


@pytest.mark.parametrize(
    ("seed", "names"),
    [
        (71, _QUICK),
        *(pytest.param(seed, tuple(QUERIES), marks=pytest.mark.soak) for seed in range(71, 80)),
    ],
)
def test_folded_topics_equal_batch_over_restarts(
    seed: int,
    names: tuple[str, ...],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    queries = {name: QUERIES[name] for name in names}
    job = KafkaJob(spark, broker.bootstrap_servers, topic, tmp_path, queries)
    dice = random.Random(seed)
    cut = histories(seed, cuts=2)
    for piece in range(2):
        for name in cut:
            job.feed(name, cut[name][piece])
        job.run(dice.choice([1_000, 70]))
        assert not job.wrong(job.answers()), f"seed {seed}, piece {piece}"
    assert job.state_rows()
    for name in cut:
        job.feed(name, ALL_DELETED)
    job.run(1_000)
    assert not job.wrong(job.answers()), f"seed {seed}, all deleted"
    assert not job.state_rows()
