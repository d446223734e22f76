"""Inject faults into a job of `mixed_job`, one after the other, while rows come all the time."""

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
#: Number of partitions of both topics at the start, and the maximum later.
PARTITIONS, _MOST_PARTITIONS = 2, 4
_NO_SLOTS = "real-time mode runs"


@dataclass
class History:
    """A sequence of jobs, their brokers and inputs, and a record of their faults.

    Attributes:
        guarantees: delivery guarantees, which jobs use in turn.
        modes: modes, which runs use in turn; an exactly-once job is always in micro-batch mode.
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
        """Start a job with its own checkpoint and sinks, over all records of the topics."""
        exact = self.guarantees[self._jobs % len(self.guarantees)] == EXACTLY_ONCE
        self._jobs += 1
        servers = self.brokers.bootstrap_servers
        self._job = MixedJob(self.directory, servers, f"job-{self._jobs}", exact)
        self._start()

    def end(self) -> None:
        """Run the job to the end of the input, which ends all windows, and check its rows."""
        with self.inputs.held():
            self._die()
            self._job.drain(self.spark)
            wrong = self._job.wrong(self.spark, self.inputs, ended=True)
            assert not wrong, self.failure(f"at the end: {wrong}")
            assert not self._job.open_transactions(), self.failure("a transaction is open")
        self._tell(f"{self._job.name} has ended, all right")

    def driver_dies(self) -> None:
        """Kill the driver at a random moment. Rows keep coming until the next start."""
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
        """Kill the driver and a node. The next start finds the node missing."""
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
        """Add a partition. Hold the input until the job reads it: else its rows would be late."""
        count = self.inputs.partitions + 1
        if count > _MOST_PARTITIONS:
            return
        self._tell(f"events grow to {count} partitions")
        with self.inputs.held():
            self.brokers.grow(EVENTS, count)
            self.inputs.has_partitions(count)
            self._wait(self._read_all, "the new partition is not read")

    def prices_grow(self) -> None:
        """Add a partition of prices, after the job has read all prices.

        A key may move to another partition, and Kafka has no order between partitions. So the job
        reads all old prices before, and the topic is truncated for jobs that begin later.
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
        """Create a topic again: the job fails and names the topic, at once or at its next start.

        The job has read all of the old topic before. Without `scan.fail-on-data-loss`, the job
        would skip records with a warning, and its expected rows would be unknown.
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
        """Hold the input until every query has committed and every sink has the expected rows."""
        with self.inputs.held():
            self._wait(self._read_all, "not all is committed")
            wrong: list[str] = []

            def right() -> bool:
                wrong[:] = self._job.wrong(self.spark, self.inputs, ended=False)
                return not wrong

            self._wait(right, lambda: f"wrong: {wrong}")
        self._tell("all right")

    def failure(self, what: str) -> str:
        """Return the message with all faults before and the last output of the job."""
        return "\n".join([what, *self.told, "the job said:", self._job.told[-4_000:]])

    def _start(self, *, fail: bool | None = None) -> None:
        mode = MICRO_BATCH if self._job.exact else self.modes[self._runs % len(self.modes)]
        self._runs += 1
        # Reading all events again takes at most some dozens of micro-batches.
        batch = self.dice.choice([50, 500, 5_000]) + self.inputs.events // 50
        fail = self.dice.random() < 0.5 if fail is None else fail
        self._job.start(mode, batch, fail=fail)
        self._tell(f"{self._job.name} starts in {mode}, of {batch} records a batch; fail: {fail}")

    def _work(self) -> None:
        """Let the job run for some seconds, mostly after the first batch of this run."""
        if self.dice.random() < 0.7:
            self._wait(self._job.has_worked, "no batch is committed")
        time.sleep(self.dice.random() * 5)

    def _die(self) -> None:
        self._look()
        self._tell("the driver dies")
        self._job.kill()

    def _look(self) -> None:
        """Check that the job runs. Restart a job in real-time mode that lacks slots for a topic."""
        if self._job.runs():
            return
        outgrown = self._job.mode == "real-time" and _NO_SLOTS in self._job.told
        assert outgrown, self.failure("the job has ended by itself")
        self._tell("real-time mode lacks slots")
        self._start(fail=self._job.fail)

    def _ends_by_name(self, topic: str) -> None:
        """Check that the job fails and names the topic, and that the next start fails, too."""
        code = self._job.ended(START_S)
        said = self._job.told
        by_name = f"'{topic}' was deleted and created again"
        assert code and by_name in said, self.failure("the failure does not name the topic")
        self._start(fail=True)
        assert self._job.ended(START_S), self.failure("the next start goes on")
        assert by_name in self._job.told, self.failure("the next failure does not name the topic")
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
