"""After `kill -9` and a restart on the same checkpoint, the folded topic is right."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import (
    PAGEVIEWS,
    PATIENCE_S,
    Cli,
    page_views,
    recount,
    write,
)

from streamtable.connectors.kafka.inspect.folded import FoldedTopic
from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session, fixed_settings
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.connectors.kafka.table import KafkaTable
    from streamtable.devbroker.broker import Broker


def _sink(names: dict[str, str]) -> KafkaTable:
    session = Session(settings=fixed_settings({}))
    session.load(PAGEVIEWS, "job.sql", names)
    found: Any = session.catalog.find(("pageviews_per_region",), None)
    table: KafkaTable = found.connector
    return table


def _wait_for_records(table: KafkaTable, count: int, process: Cli) -> None:
    """Wait until the topic of the sink has `count` records, so that the job is in mid-flight."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        assert process.process.poll() is None, "the job ended by itself"
        try:
            with FoldedTopic(table) as topic:
                topic.catch_up()
                if topic.records >= count:
                    return
        except StreamtableError as error:
            # The job creates its topic after all other checks.
            assert error.condition is Condition.TOPIC_MISSING
        time.sleep(0.2)
    message = f"the job wrote fewer than {count} records in {PATIENCE_S} s"
    raise AssertionError(message)


@pytest.mark.parametrize("seed", [21])
def test_the_sink_topic_is_correct_after_two_kills(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    source = topic("pageviews", partitions=2)
    names = {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}
    views = list(page_views(seed, count=6_000))
    script = write(tmp_path / "job.sql", PAGEVIEWS)
    arguments = ["run", script, "--checkpoint", str(tmp_path / "checkpoint")]
    arguments += ["--master", "local[2]", "--set", "execution.micro-batch.max-records=50"]
    for name, value in names.items():
        arguments += ["--var", f"{name}={value}"]

    feeding = threading.Thread(target=produce_json, args=(broker.bootstrap_servers, source, views))
    feeding.start()
    written = 0
    for _ in range(2):
        process = Cli.start(*arguments)
        written += dice.randrange(20, 60)
        _wait_for_records(_sink(names), written, process)
        time.sleep(dice.random() / 2)
        process.kill()
    feeding.join()

    job = BoundedRun(spark, PAGEVIEWS, tmp_path / "checkpoint", names)
    job({"execution.micro-batch.max-records": "5000"})
    assert job.rows("pageviews_per_region") == recount(views)
