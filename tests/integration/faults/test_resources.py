"""The disk of the checkpoint or the queue of a producer is full: the job ends and says why."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.faults.support import PATIENCE_S, START_S, Job

from streamtable.devbroker.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _mount(*arguments: str) -> bool:
    done = subprocess.run(["mount", *arguments], check=False, capture_output=True)
    return done.returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a separate file system of 300 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=300k", "streamtable-test", str(place)):
        pytest.skip("mounting a small file system is not permitted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_no_room_for_the_checkpoint(small_disk: Path, spark: SparkSession, tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker:
        job = Job(broker.bootstrap_servers, small_disk / "c")
        job.feed(4_000)
        code, _, err = job.start().end(START_S)
        assert code != 0
        assert "No space left on device" in err, err
        assert _mount("-o", "remount,size=100m", str(small_disk))
        job.check(spark)


def test_a_producer_whose_queue_is_full(spark: SparkSession, tmp_path: Path) -> None:
    small = ", 'properties.buffer.memory' = '40000', 'properties.batch.size' = '8000'"
    small += ", 'properties.max.block.ms' = '3000'"
    with Broker(tmp_path / "broker") as broker, Broker(tmp_path / "sinks") as sinks:
        servers, others = broker.bootstrap_servers, sinks.bootstrap_servers
        # An exactly-once sink waits for its transaction before anything is in its queue.
        job = Job(servers, tmp_path / "c", sink_servers=others, more=small, exact=False)
        job.feed(40)
        process = job.start(batch=100_000)
        job.wait(process, 1, START_S)
        assert sinks.pid is not None
        os.kill(sinks.pid, signal.SIGSTOP)
        # The job sees all ids at once: a small first batch would fit into the queue and wait.
        os.killpg(process.process.pid, signal.SIGSTOP)
        time.sleep(1)  # the broker answers what the job asked before, or it would see a part
        job.feed(20_000)
        os.killpg(process.process.pid, signal.SIGCONT)
        code, _, err = process.end(PATIENCE_S)
        assert code != 0
        assert "within the configured max blocking time 3000 ms" in err, err
        os.kill(sinks.pid, signal.SIGCONT)
        job.check(spark)
