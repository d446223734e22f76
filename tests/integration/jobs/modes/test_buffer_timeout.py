"""Rows of real-time mode may wait for others longer while nothing comes to any query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import Counters
from streamtable.jvm.streaming.running_queries import begin_buffer_timeout, end_buffer_timeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

_USUAL, _QUIET = 2, 10


def test_a_commit_decides_it_for_the_next_batch(
    spark: SparkSession, timeout: Callable[[], int], tmp_path: Path
) -> None:
    bridge = Bridge(spark)
    one, other = bridge.counters(), bridge.counters()
    with running(spark, tmp_path / "one", one) as commit_one:
        assert timeout() == _USUAL
        commit_one()
        assert timeout() == _QUIET

        with running(spark, tmp_path / "other", other) as commit_other:
            assert timeout() == _USUAL, "the new query has not been quiet yet"
            other.java.add("recordsIn", 1)
            commit_other()
            commit_one()
            assert timeout() == _USUAL
            commit_other()
            assert timeout() == _QUIET

            one.java.add("recordsIn", 3)
            commit_one()
            assert timeout() == _USUAL
    assert timeout() == _USUAL


@pytest.fixture
def timeout(spark: SparkSession) -> Callable[[], int]:
    """What tasks that begin now go by, in milliseconds."""
    context = spark.sparkContext._jsc
    key = "spark.shuffle.streaming.networkBufferMaxWaitTimeMs"
    return lambda: int(context.getConf().get(key))


@contextmanager
def running(spark: SparkSession, folder: Path, reads: Counters) -> Iterator[Callable[[], None]]:
    """A query whose batches commit when they are told to."""
    source, checkpoint = folder / "in", str(folder / "c")
    source.mkdir(parents=True)
    writer = spark.readStream.text(str(source)).writeStream.format("noop")
    bridge = Bridge(spark)
    begin_buffer_timeout(bridge, checkpoint, [reads], _QUIET)
    query = writer.option("checkpointLocation", checkpoint).start()

    def commit() -> None:
        count = len(list(source.iterdir()))
        (source / f"{count}.txt").write_text("a\n", encoding="utf-8")
        query.processAllAvailable()

    try:
        yield commit
    finally:
        query.stop()
        end_buffer_timeout(bridge, checkpoint)
