"""Rows of topics and partitions that appear while a job runs are not late for windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from tests.integration.event_time.support import SOURCE, TUMBLED, Event, millis, run_apart, send

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.session import Session, fixed_settings
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_HOUR = 3_600_000
_SETTINGS = {"execution.checkpointing.interval": "5 s"}


def _windows(job: BoundedRun) -> dict[int, int]:
    """Return the row count of each window that has fired, by its start in milliseconds."""
    try:
        return {millis(row["s"]): row["n"] for row in job.rows("tumbled").values()}
    except StreamtableError as error:
        assert error.condition is Condition.TOPIC_MISSING
        return {}


@dataclass
class _Steps:
    """Run each step after the windows of the step before have fired.

    Attributes:
        steps: actions, with the windows that must have fired afterwards.
    """

    job: BoundedRun
    steps: list[tuple[Callable[[], None], Mapping[int, int]]]
    _expected: Mapping[int, int] = field(default_factory=dict)

    def done(self) -> bool:
        """Whether the windows of the last step have fired.

        If the windows of an earlier step have fired, start the next step.
        """
        if _windows(self.job) != self._expected:
            return False
        if not self.steps:
            return True
        step, self._expected = self.steps.pop(0)
        step()
        return False


def _each(first: int, last: int, partitions: tuple[int, ...]) -> list[Event]:
    """Return events of each second from `first` until before `last`, one in each partition."""
    return [Event(ms, 1, 1, p) for ms in range(first, last, 1_000) for p in partitions]


@pytest.mark.parametrize(
    "mode",
    ["micro-batch", *(pytest.param(m, marks=pytest.mark.soak) for m in ("real-time", "auto"))],
)
def test_added_partitions_have_no_late_rows(
    mode: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """New partitions that are an hour behind the old partitions have no late rows."""
    source = topic("events", partitions=2)
    servers = broker.bootstrap_servers
    names = {"source": source, "servers": servers}
    job = BoundedRun(spark, SOURCE + TUMBLED, tmp_path / "job", names)

    def begin() -> None:
        send(servers, source, _each(0, 33_000, (0, 1)))

    def grow() -> None:
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_partitions([NewPartitions(source, 4)])[source].result(30)
        # In order of time: the new partitions have records before the records of the next hour.
        send(servers, source, _each(31_000, 63_000, (2, 3)))
        send(servers, source, [Event(_HOUR, 1, 1, 0), Event(_HOUR, 1, 1, 1)])

    def go_on() -> None:
        send(servers, source, _each(63_000, 103_000, (2, 3)))

    def end() -> None:
        send(servers, source, [Event(_HOUR + 20_000, 1, 1, p) for p in range(4)])

    first = dict.fromkeys((0, 10_000, 20_000), 20)
    grown = {**first, 30_000: 6 + 18, 40_000: 20, 50_000: 20}
    later = {**grown, **dict.fromkeys((60_000, 70_000, 80_000, 90_000), 20)}
    # The rest of the last new window, and the rows of the old partitions an hour later.
    over = {**later, 100_000: 6, _HOUR: 2}
    steps = _Steps(job, [(begin, first), (grow, grown), (go_on, later), (end, over)])
    settings = {**_SETTINGS, "execution.mode": mode}
    if mode == "micro-batch":
        job.until(steps.done, settings)
        told = "\n".join(job.notices)
    else:
        told = run_apart(job, steps.done, settings, master="local[8]")
    assert "watermark had passed" not in told


def test_topics_of_a_pattern(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Windows fire, also windows of a topic that is created while the job runs."""
    source = topic("events", partitions=2)
    servers = broker.bootstrap_servers
    script = (SOURCE + TUMBLED).replace(
        "'topic' = '${source}',", "'topic-pattern' = '${source}_\\d',"
    )
    names = {"source": source, "servers": servers}
    job = BoundedRun(spark, script, tmp_path / "job", names)
    admin = AdminClient({"bootstrap.servers": servers})

    def create(name: str) -> None:
        admin.create_topics([NewTopic(name, 2)])[name].result(30)

    def begin() -> None:
        send(servers, f"{source}_1", _each(0, 33_000, (0, 1)))

    def appear() -> None:
        create(f"{source}_2")
        send(servers, f"{source}_2", _each(31_000, 63_000, (0, 1)))
        send(servers, f"{source}_1", [Event(_HOUR, 1, 1, 0), Event(_HOUR, 1, 1, 1)])

    def end() -> None:
        send(servers, f"{source}_2", [*_each(63_000, 83_000, (0, 1)), Event(_HOUR, 1, 1, 0)])
        send(servers, f"{source}_2", [Event(_HOUR, 1, 1, 1)])

    create(f"{source}_1")
    first = dict.fromkeys((0, 10_000, 20_000), 20)
    grown = {**first, 30_000: 6 + 18, 40_000: 20, 50_000: 20}
    over = {**grown, 60_000: 20, 70_000: 20, 80_000: 6}
    steps = _Steps(job, [(begin, first), (appear, grown), (end, over)])
    job.until(steps.done, {**_SETTINGS, "execution.mode": "micro-batch"})
    assert not any("watermark had passed" in line for line in job.notices)


def test_the_plan_does_not_grow_with_partitions(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    plans = set()
    for partitions in (2, 120):
        source = topic("events", partitions=partitions)
        session = Session(settings=fixed_settings({}))
        names = {"source": source, "servers": broker.bootstrap_servers}
        session.load(SOURCE + TUMBLED, "test.sql", names)
        settings = fixed_settings({}).current()
        context = LoweringContext(spark, Bridge(spark), settings, directory=tmp_path, query="q")
        with closing(context.watermarks):
            rows = lower(session.plans[0].input, context)
        with set_for_a_while(spark, {"spark.sql.maxPlanStringLength": "100000"}):
            plan = rows._jdf.queryExecution().analyzed().toString()
        plans.add((plan.count("EventTimeWatermark"), len(plan.splitlines())))
    assert len(plans) == 1
    assert plans.pop()[0] == 1
