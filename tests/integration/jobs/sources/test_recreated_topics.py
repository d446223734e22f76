"""A job notices when a topic that it reads is deleted and created again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.jobs.committed import ids_in
from tests.integration.jobs.support import PATIENCE_S, Cli, write

from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json',
  'scan.fail-on-data-loss' = '${fail}'
);
CREATE TABLE o (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
INSERT INTO o SELECT id FROM t;
"""
MODES = ("micro-batch", "real-time", "auto")
_LATER = {"fewer": 3, "more": 30}
_QUICK = (("micro-batch", "more"), ("real-time", "fewer"))
_ENDS = [
    pytest.param(
        *(mode, records),
        id=f"{mode}-{name}",
        marks=[] if (mode, name) in _QUICK else [pytest.mark.soak],
    )
    for mode in MODES
    for name, records in _LATER.items()
]


class Reading:
    """A job that has copied ten ids from its topic."""

    def __init__(self, broker: Broker, source: str, folder: Path, mode: str, *, fail: bool) -> None:
        self.servers, self.source = broker.bootstrap_servers, source
        self._log = folder / "log"
        self.send(0, 10)
        arguments = ["run", write(folder / "job.sql", SCRIPT), "--checkpoint", str(folder / "c")]
        for name, value in {
            "source": source,
            "servers": self.servers,
            "fail": str(fail).lower(),
        }.items():
            arguments += ["--var", f"{name}={value}"]
        for setting in (f"execution.mode={mode}", "execution.checkpointing.interval=5 s"):
            arguments += ["--set", setting]
        self._process = Cli.start(*arguments, log=self._log).process
        self.until(lambda: self.has(range(10)), "the first ids are copied")
        if mode == "auto":
            self.until(lambda: "switches to real-time mode" in self.told, "it is in real-time mode")

    def send(self, start: int, end: int) -> None:
        produce_json(self.servers, self.source, [{"id": i} for i in range(start, end)])

    def create_anew(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.delete_topics([self.source])[self.source].result(30)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                admin.create_topics([NewTopic(self.source, 1)])[self.source].result(30)
            except KafkaException:  # the deletion is still under way
                assert time.monotonic() < deadline
                time.sleep(0.2)
            else:
                return

    @property
    def told(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def has(self, ids: range) -> bool:
        admin = AdminClient({"bootstrap.servers": self.servers})
        if f"{self.source}-out" not in admin.list_topics(timeout=30).topics:
            return False
        return set(ids) <= set(ids_in(self.servers, f"{self.source}-out"))

    def runs(self) -> bool:
        return self._process.poll() is None

    def until(self, done: object, what: str, *, running: bool = True) -> None:
        assert callable(done)
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            assert not running or self.runs(), self.told
            assert time.monotonic() < deadline, f"{what}: never. {self.told}"
            time.sleep(0.3)

    def exit_code(self) -> int:
        return self._process.wait(PATIENCE_S)


@pytest.mark.parametrize(("mode", "later"), _ENDS)
def test_a_recreated_topic_ends_the_job(
    mode: str, later: int, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The job ends, whether the new topic has fewer records than were read, or more.

    With more records, the offsets do not show that the topic is new.
    """
    job = Reading(broker, topic("s"), tmp_path, mode, fail=True)
    job.create_anew()
    job.send(100, 100 + later)
    job.until(lambda: not job.runs(), "it ends", running=False)
    assert job.exit_code() != 0
    assert f"topic '{job.source}' was deleted and created again" in job.told
    assert "--checkpoint" in job.told


@pytest.mark.parametrize(
    "mode",
    [*(pytest.param(mode, marks=pytest.mark.soak) for mode in MODES if mode != "auto"), "auto"],
)
def test_a_recreated_topic_is_reported_and_the_job_continues(
    mode: str, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job = Reading(broker, topic("s"), tmp_path, mode, fail=False)
    job.create_anew()
    job.send(100, 105)
    job.until(lambda: "was deleted and created again" in job.told, "it is told")
    job.send(105, 130)
    job.until(lambda: job.has(range(110, 130)), "it goes on")
