"""Fixtures of the whole suite: one real broker, new topics for each test, one Spark session."""

from __future__ import annotations

import os
import re
import signal
import uuid
from typing import TYPE_CHECKING, Protocol

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests import quick_jvm

from streamtable.core.options import Given
from streamtable.core.secrets import forget_secrets
from streamtable.core.settings.session import SessionSettings
from streamtable.devbroker.broker import Broker
from streamtable.devbroker.registry import Registry
from streamtable.jvm.install.installed_spark import installed_spark, shuffles_in_real_time

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


class Topics(Protocol):
    """A function that creates a topic, whose name begins with `prefix`, and returns its name."""

    def __call__(
        self, prefix: str = "t", *, partitions: int = 1, config: dict[str, str] | None = None
    ) -> str: ...


#: Error message of a job with state if the real-time mode of this Spark has no state.
_REFUSED = re.compile(r"NOT_YET: .* real-time mode of Spark \S+ runs only queries without state")


def pytest_configure() -> None:
    """Let commands that tests start obey Ctrl-C and store their compiled modules.

    A shell makes background jobs ignore Ctrl-C, and their child processes inherit this. Without
    stored modules, hundreds of processes would compile four hundred modules each.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need the broker with `kafka`, so that `-m 'not kafka'` needs no broker.

    Skip tests with state in real-time mode if this Spark cannot run them. Put unit tests last:
    other files take minutes, and a process that starts them late keeps the run from ending.
    """
    lacks_state = not shuffles_in_real_time(installed_spark().version)
    for item in items:
        if lacks_state and item.get_closest_marker("real_time_state"):
            item.add_marker(pytest.mark.skip("real-time mode of this Spark has no state"))
        if {"broker", "own_broker"}.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.kafka)
    items.sort(key=lambda item: "unit" in item.path.parts)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a test as skipped, with the error message, if this version of Spark cannot run it."""
    report = yield
    if report.failed and (refused := _REFUSED.search(report.longreprtext)):
        report.outcome = "skipped"
        report.longrepr = (report.location[0], report.location[1] or 0, refused[0])
    return report


def pytest_collection_finish(session: pytest.Session) -> None:
    """Set Java options that start Spark quickly, for this process and its child processes."""
    if any("integration" in item.path.parts for item in session.items):
        os.environ[quick_jvm.VARIABLE] = quick_jvm.options()


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests() -> Iterator[None]:
    """Forget the secrets of a test after it; they are ordinary words in the next test."""
    yield
    forget_secrets()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Start the suite's broker; tests that stop or kill a broker start their own."""
    # By default, the log cleaner looks for work every 15 s, too seldom for a test of compaction.
    quick = {"log.cleaner.backoff.ms": "200"}
    with Broker(tmp_path_factory.mktemp("broker"), config=quick) as running:
        yield running


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """Start a broker for one test, for scripts of the docs, whose topics have fixed names."""
    with Broker(tmp_path / "broker") as running:
        yield running


@pytest.fixture(scope="session")
def registry(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Start the suite's schema registry on its broker, for the first test that needs it."""
    with Registry(tmp_path_factory.mktemp("registry"), broker.bootstrap_servers) as running:
        yield running


@pytest.fixture
def topic(broker: Broker) -> Topics:
    """Return a function that creates an empty topic with a unique name."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})

    def create(
        prefix: str = "t", *, partitions: int = 1, config: dict[str, str] | None = None
    ) -> str:
        name = f"{prefix}-{uuid.uuid4().hex[:12]}"
        new = NewTopic(name, num_partitions=partitions, config=config or {})
        admin.create_topics([new])[name].result(timeout=30)
        return name

    return create


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Start the suite's Spark session as a job does, with two cores and two state partitions."""
    from streamtable.runtime.session.spark import start_spark

    settings = SessionSettings()
    settings.set("parallelism.default", Given("2"))
    settings.set("table.local-time-zone", Given("UTC"))
    with quick_jvm.long_lived():
        session = start_spark(settings.current(), "local[2]")
    # An earlier test may have started Spark with other settings.
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    yield session
    session.stop()
