"""Components of the demo: Kafka and Spark, started in parallel and stopped together."""

from __future__ import annotations

import _thread
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.settings.session import SessionSettings
from streamtable.devbroker.broker import Broker
from streamtable.jvm.install.class_archive import archive, recording
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The source topic of the script.
TOPIC = "pageviews"
_PARTITIONS = 2
_SCRIPT = "pageviews.sql"

#: Takes one line for the user.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """Broker with the source topic, Spark session, and the planned script.

    Attributes:
        servers: the broker's `host:port`.
        checkpoint: checkpoint directory of the job; deleted with the stage.
    """

    servers: str
    session: Session
    spark: SparkSession
    checkpoint: Path

    @property
    def result(self) -> KafkaTable:
        """The table that the script writes."""
        table = self.session.plans[0].table.connector
        assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
        return table


@contextmanager
def stage(tell: Tell, fill: Callable[[str], None]) -> Iterator[Stage]:
    """Start all components, and remove all processes and files at the end.

    The first demo of an installation also stores Spark's classes for later starts.

    Args:
        tell: receives progress messages.
        fill: called with the broker's `host:port` after the source topic has been created, while
            Spark starts.

    Raises:
        StreamtableError: DEV_BROKER_FAILED, JAVA_MISSING, RESOURCE_UNAVAILABLE, or errors of
            `fill`; SPARK_MISSING or SPARK_VERSION before the components start.
    """
    check_machine()

    def end_spark() -> None:
        from streamtable.runtime.session.spark import end_jvm

        tell(f"storing Spark's classes in {archive().parent}, for quicker starts ...")
        end_jvm()

    with ExitStack() as stack:
        stack.enter_context(recording(end_spark))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="streamtable-demo-")))
        begun = time.monotonic()

        def start_kafka() -> tuple[str, Session]:
            tell("starting Kafka ...")
            broker = stack.enter_context(Broker(folder / "kafka"))
            tell(f"Kafka runs at {broker.bootstrap_servers} ({time.monotonic() - begun:.1f} s)")
            _create_topic(broker.bootstrap_servers)
            fill(broker.bootstrap_servers)
            return broker.bootstrap_servers, _planned(broker.bootstrap_servers)

        with ThreadPoolExecutor(1) as pool:
            kafka = pool.submit(start_kafka)
            tell("starting Spark ...")
            # Imported here, after the start of Kafka: the import alone takes more than a second.
            from streamtable.runtime.session.spark import start_spark, stop_spark

            # Slots for real-time mode: one task per source partition and one per state partition.
            room = _PARTITIONS + (os.cpu_count() or 1)
            spark = start_spark(SessionSettings().current(), f"local[{room}]")
            stack.callback(stop_spark, spark)
            tell(f"Spark runs ({time.monotonic() - begun:.1f} s)")
            servers, session = kafka.result()
        yield Stage(servers, session, spark, folder / "checkpoint")


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run `work` in a thread as long as the block runs.

    The event that `work` gets is set when the block ends. If `work` fails before the end of the
    block, the main thread is interrupted as by Ctrl-C. In any case the block raises the failure.
    """
    stop = threading.Event()
    failures: list[Exception] = []

    def run() -> None:
        try:
            work(stop)
        except Exception as error:
            failures.append(error)
            if not stop.is_set():
                _thread.interrupt_main()

    thread = threading.Thread(target=run)
    try:
        thread.start()
        yield
    finally:
        stop.set()
        thread.join()
        if failures:
            raise failures[0]


def _planned(servers: str) -> Session:
    """Load the packaged script for this broker."""
    session = Session()
    text = files("streamtable.demo").joinpath(_SCRIPT).read_text(encoding="utf-8")
    session.load(text, _SCRIPT, {"bootstrap_servers": servers})
    return session


def _create_topic(servers: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    new = NewTopic(TOPIC, num_partitions=_PARTITIONS, replication_factor=1)
    admin.create_topics([new])[TOPIC].result(timeout=30)
