"""What happens to a job of `mixed_job`, one fault after the other, while rows come all the time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.faults.brokers import Brokers
from tests.integration.faults.inputs import Inputs
from tests.integration.faults.mixed_job import EVENTS, PRICES, MixedJob
from tests.integration.faults.support import PATIENCE_S, START_S

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MICRO_BATCH = "micro-batch"
AT_LEAST_ONCE, EXACTLY_ONCE = "at-least-once", "exactly-once"
#: Those that both topics begin with, and the most that there will be.
PARTITIONS, _MOST_PARTITIONS = 2, 4
_NO_SLOTS = "real-time mode runs"


@dataclass
class History:
    """Jobs one after the other, their brokers and inputs; what has happened to them.

    Attributes:
        guarantees: jobs take turns with them.
        modes: runs take turns with them; one that writes exactly once is in micro-batches.
    """

    brokers: Brokers
    inputs: Inputs
    spark: SparkSession
    directory: Path
    dice: random.Random
    guarantees: Sequence[str]
    modes: Sequence[str]
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._begun = time.monotonic()
        self._jobs = self._runs = 0
        self._prices = PARTITIONS
        self.begin()

    def begin(self) -> None:
        """A job with a checkpoint and sinks of its own, over all that the topics hold."""
        exact = self.guarantees[self._jobs % len(self.guarantees)] == EXACTLY_ONCE
        self._jobs += 1
        servers = self.brokers.bootstrap_servers
        self._job = MixedJob(self.directory, servers, f"job-{self._jobs}", exact)
        self._start()

    def end(self) -> None:
        """The job goes on to the end of the input, which ends all windows."""
        with self.inputs.held():
            self._die()
            self._job.drain(self.spark)
            wrong = self._job.wrong(self.spark, self.inputs, ended=True)
            assert not wrong, self.failure(f"at the end: {wrong}")
            assert not self._job.open_transactions(), self.failure("a transaction is open")
        self._tell(f"{self._job.name} has ended, all right")

    def driver_dies(self) -> None:
        """At any moment; rows go on coming until the next start."""
        self._work()
        self._die()
        time.sleep(self.dice.random() * 3)
        self._start()

    def broker_dies(self) -> None:
        self._work()
        node = self.dice.choice(self.brokers.nodes)
        self._tell(f"a node dies: {node.directory.name}")
        self.brokers.kill([node], self.dice.random() * 6)

    def brokers_die(self) -> None:
        self._work()
        self._tell("all nodes die")
        self.brokers.kill(self.brokers.nodes, self.dice.random() * 6)

    def driver_and_broker_die(self) -> None:
        """The next start finds a node missing."""
        self._work()
        self._die()
        node = self.dice.choice(self.brokers.nodes)
        node.kill()
        self._start()
        self.brokers.kill([node], self.dice.random() * 10)

    def replicas_move(self) -> None:
        self._tell("replicas move")
        sinks = [t for t in self.brokers.topics() if t.startswith(self._job.name)]
        self.brokers.move([EVENTS, PRICES, *sinks], self.dice)

    def events_grow(self) -> None:
        """Nothing else comes until the new partitions are known: else their rows would be late."""
        count = self.inputs.partitions + 1
        if count > _MOST_PARTITIONS:
            return
        self._tell(f"events grow to {count} partitions")
        with self.inputs.held():
            self.brokers.grow(EVENTS, count)
            self.inputs.has_partitions(count)
            self._wait(self._read_all, "the new partition is not read")

    def prices_grow(self) -> None:
        """A key may move to another partition, and between partitions Kafka knows no order.

        So all former versions are read before it, and removed for the jobs that begin later.
        """
        if self._prices >= _MOST_PARTITIONS - 1:
            return
        with self.inputs.held():
            self.settle()
            self._prices += 1
            self._tell(f"prices grow to {self._prices} partitions")
            self.brokers.grow(PRICES, self._prices)
            self.brokers.truncate(PRICES)
            self.inputs.send_prices_again()

    def topic_is_made_anew(self) -> None:
        """The job ends by name, whether it runs meanwhile or starts again after it.

        All of the former topic is read before. A job that would go on leaves records out and says
        so; its right answer is not known, so it is told to end.
        """
        topic, away = self.dice.choice([EVENTS, PRICES]), self.dice.random() < 0.5
        with self.inputs.held():
            self.settle()
            if not self._job.fail:
                self._die()
                self._start(fail=True)
                self.settle()
            if away:
                self._die()
            partitions = self.dice.randint(PARTITIONS, _MOST_PARTITIONS - 1)
            self._tell(f"{topic} are made anew, of {partitions} partitions")
            self.brokers.delete(topic)
            self.brokers.create(topic, partitions)
            self.inputs.is_anew(events=topic == EVENTS, partitions=partitions)
            if topic == PRICES:
                self._prices = partitions
            if away:
                self._start(fail=True)
            self._ends_by_name(topic)
            self.begin()

    def settle(self) -> None:
        """Holds what comes until every sink has the whole answer and every query has committed."""
        with self.inputs.held():
            self._wait(self._read_all, "not all is committed")
            wrong: list[str] = []

            def right() -> bool:
                wrong[:] = self._job.wrong(self.spark, self.inputs, ended=False)
                return not wrong

            self._wait(right, lambda: f"wrong: {wrong}")
        self._tell("all right")

    def failure(self, what: str) -> str:
        """With all that has happened before."""
        return "\n".join([what, *self.told, "the job said:", self._job.told[-4_000:]])

    def _start(self, *, fail: bool | None = None) -> None:
        mode = MICRO_BATCH if self._job.exact else self.modes[self._runs % len(self.modes)]
        self._runs += 1
        # However much there is to be read again, it does not take more than some dozens.
        batch = self.dice.choice([50, 500, 5_000]) + self.inputs.events // 50
        fail = self.dice.random() < 0.5 if fail is None else fail
        self._job.start(mode, batch, fail=fail)
        self._tell(f"{self._job.name} starts in {mode}, of {batch} records a batch; fail: {fail}")

    def _work(self) -> None:
        """For some seconds, most of the time after a first batch of this run."""
        if self.dice.random() < 0.7:
            self._wait(self._job.has_worked, "no batch is committed")
        time.sleep(self.dice.random() * 5)

    def _die(self) -> None:
        self._look()
        self._tell("the driver dies")
        self._job.kill()

    def _look(self) -> None:
        """The job goes on, but in real-time mode where a topic has outgrown its slots."""
        if self._job.runs():
            return
        outgrown = self._job.mode == "real-time" and _NO_SLOTS in self._job.told
        assert outgrown, self.failure("the job has ended by itself")
        self._tell("real-time mode lacks slots")
        self._start(fail=self._job.fail)

    def _ends_by_name(self, topic: str) -> None:
        """At once, and again at the next start."""
        code = self._job.ended(START_S)
        said = self._job.told
        by_name = code and f"'{topic}' was deleted and created again" in said
        assert by_name, self.failure("it is not told that the topic is another one")
        self._start(fail=True)
        assert self._job.ended(START_S), self.failure("the next start goes on")
        self._tell("ended by name")

    def _read_all(self) -> bool:
        return all(self._job.knows(topic, self.brokers.ends(topic)) for topic in (EVENTS, PRICES))

    def _wait(self, holds: Callable[[], bool], what: str | Callable[[], str]) -> None:
        deadline = time.monotonic() + START_S + PATIENCE_S
        while not holds():
            self._look()
            if time.monotonic() > deadline:
                raise AssertionError(self.failure(what if isinstance(what, str) else what()))
            time.sleep(0.5)

    def _tell(self, what: str) -> None:
        self.told.append(f"{time.monotonic() - self._begun:7.1f} s: {what}")
        (self.directory / "history.log").write_text("\n".join(self.told) + "\n")
