"""Answers stay exact if a checkpoint directory is moved or copied between two runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.differential.topics.on_kafka import QUERIES, KafkaJob, histories

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


@pytest.mark.parametrize("copied", [False, True])
def test_a_moved_or_copied_checkpoint_continues(
    copied: bool, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    queries = {name: QUERIES[name] for name in ("groups", "first")}
    job = KafkaJob(spark, broker.bootstrap_servers, topic, tmp_path / "a", queries)
    cut = histories(9, cuts=2)
    for piece in range(2):
        for name in cut:
            job.feed(name, cut[name][piece])
        job.run(1_000)
        if piece == 0:
            shutil.copytree(tmp_path / "a", tmp_path / "b")
            shutil.rmtree(tmp_path / "a" / "checkpoint" / "groups" / "state")
            if not copied:
                shutil.rmtree(tmp_path / "a")
            job.move(tmp_path / "b")
    assert not job.wrong(job.answers())
