"""Fixtures of the whole suite: one real broker, topics nobody else uses, one Spark session."""

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
    """Creates a topic whose name begins with `prefix`; gives its name."""

    def __call__(
        self, prefix: str = "t", *, partitions: int = 1, config: dict[str, str] | None = None
    ) -> str: ...


#: The words with which a job is refused where Spark's real-time mode has no state.
_REFUSED = re.compile(r"NOT_YET: .* real-time mode of Spark \S+ runs only queries without state")


def pytest_configure() -> None:
    """Commands that tests start obey Ctrl-C, although a shell lets background jobs ignore it.

    They store their compiled modules: hundreds of processes would compile four hundred each.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs the broker is marked `kafka`, so that `-m 'not kafka'` runs without it.

    Files that take minutes come first, so that no process waits long for the others.
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
    """A test whose job is refused by name on this version of Spark is skipped, with the words."""
    report = yield
    if report.failed and (refused := _REFUSED.search(report.longreprtext)):
        report.outcome = "skipped"
        report.longrepr = (report.location[0], report.location[1] or 0, refused[0])
    return report


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spark starts quickly, in this process and in those that it starts."""
    if any("integration" in item.path.parts for item in session.items):
        os.environ[quick_jvm.VARIABLE] = quick_jvm.options()


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests() -> Iterator[None]:
    """What one test calls a secret is an ordinary word in the next."""
    yield
    forget_secrets()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The suite's broker; tests that stop or kill one start their own."""
    # The cleaner looks for work every 15 s otherwise, far too seldom to watch it.
    quick = {"log.cleaner.backoff.ms": "200"}
    with Broker(tmp_path_factory.mktemp("broker"), config=quick) as running:
        yield running


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker of one test, for scripts whose topics have the names that a page gives them."""
    with Broker(tmp_path / "broker") as running:
        yield running


@pytest.fixture(scope="session")
def registry(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """The suite's schema registry, on its broker; started by the first test that asks for it."""
    with Registry(tmp_path_factory.mktemp("registry"), broker.bootstrap_servers) as running:
        yield running


@pytest.fixture
def topic(broker: Broker) -> Topics:
    """A factory of topics that exist, empty, under names of their own."""
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
    """The suite's Spark session, set up as a job sets it up; two cores, two state partitions."""
    from streamtable.runtime.session.spark import start_spark

    settings = SessionSettings()
    settings.set("parallelism.default", Given("2"))
    settings.set("table.local-time-zone", Given("UTC"))
    with quick_jvm.long_lived():
        session = start_spark(settings.current(), "local[2]")
    # Where a test has started Spark before, with other settings.
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    yield session
    session.stop()
