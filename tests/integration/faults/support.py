"""A job to inject faults into, and the check of its topics afterwards.

The job copies ids into a topic without a key, exactly once if the mode can, and counts them by
group into an upsert table. Ids keep coming during a fault, and small micro-batches keep the job
busy.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from tests.integration.batches import newest
from tests.integration.jobs.committed import ids_in, once, open_partitions
from tests.integration.jobs.support import Cli, write

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE t (id BIGINT, g INT) WITH (
  'connector' = 'kafka', 'topic' = 'ids', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'${reads}
);
CREATE TABLE copied (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'copied',
  'properties.bootstrap.servers' = '${sink_servers}', 'format' = 'json'${copies}${more}
);
CREATE TABLE counted (g INT, n BIGINT, hi BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'counted',
  'properties.bootstrap.servers' = '${sink_servers}',
  'key.format' = 'json', 'value.format' = 'json'${guarantee}${more}
);
INSERT INTO copied SELECT id FROM t;
INSERT INTO counted SELECT g, COUNT(*), MAX(id) FROM t GROUP BY g;
"""
EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'counts'"
)
_COPIES = ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'copies'"
_LETTERS = ", 'scan.dead-letter.topic' = 'letters', 'properties.group.id' = 'readers'"
_PARTITIONS = 3
_GROUPS = 7

#: Seconds after a fault in which a job must make progress; else it hangs.
PATIENCE_S = 150

#: Seconds that a start may take on a busy machine.
START_S = 180


@dataclass
class Job:
    """The script with its checkpoint. No other test uses its brokers.

    Attributes:
        mode: in auto mode, the exactly-once copy stays in micro-batch mode, the counts leave it.
        exact: whether ids are copied exactly once, which real-time mode cannot do.
        guarantee: options of the upsert table's guarantee, if it is not at-least-once.
        more: further options of both sinks.
        letters: whether the input has records that do not parse, for a dead-letter topic, and the
            job commits its offsets to a consumer group.
    """

    servers: str
    checkpoint: Path
    sink_servers: str = ""
    mode: str = "micro-batch"
    exact: bool = True
    guarantee: str = ""
    more: str = ""
    letters: bool = False
    written: int = 0
    bad: int = 0

    def __post_init__(self) -> None:
        self.sink_servers = self.sink_servers or self.servers
        admin = AdminClient({"bootstrap.servers": self.servers})
        for topic in ("ids", "letters") if self.letters else ("ids",):
            admin.create_topics([NewTopic(topic, num_partitions=_PARTITIONS)])[topic].result(30)

    def feed(self, count: int) -> None:
        """Send more ids to the source, and with `letters` a record that does not parse."""
        new = range(self.written, self.written + count)
        produce_json(self.servers, "ids", ({"id": i, "g": i % _GROUPS} for i in new))
        self.written += count
        if self.letters:
            produce(self.servers, "ids", [(None, b"{ %d" % self.bad)])
            self.bad += 1

    @contextmanager
    def feeding(self) -> Iterator[None]:
        """Send ids all the time, also while brokers stop and start."""
        done = threading.Event()

        def feed() -> None:
            while not done.wait(0.1):
                self.feed(50)

        thread = threading.Thread(target=feed)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def start(
        self, *arguments: str, batch: int = 40, master: str | None = None, command: str = "run"
    ) -> Cli:
        """Start an unbounded run; in micro-batch mode on two cores of this machine.

        The other modes take as many threads as they need, unless a master is given.
        """
        if master is None and self.mode == "micro-batch":
            master = "local[2]"
        options = ["--checkpoint", str(self.checkpoint)]
        options += [] if master is None else ["--master", master]
        for setting in (
            f"execution.micro-batch.max-records={batch}",
            f"execution.mode={self.mode}",
            "execution.checkpointing.interval=5 s",
            "parallelism.default=2",
        ):
            options += ["--set", setting]
        for name, value in self._names().items():
            options += ["--var", f"{name}={value}"]
        script = write(self.checkpoint.parent / "job.sql", self._script())
        return Cli.start(command, script, *options, *arguments)

    def wait(self, process: Cli, batches: int = 2, seconds: float = PATIENCE_S) -> None:
        """Wait until both queries have committed a number of new batches.

        Raises:
            AssertionError: the job has ended or hangs.
        """
        before = self._committed()
        deadline = time.monotonic() + seconds
        while any(self._committed()[q] < n + batches for q, n in before.items()):
            assert process.process.poll() is None, process.process.communicate()[1]
            assert time.monotonic() < deadline, f"stands still at {self._committed()}"
            time.sleep(0.05)

    def bounded(self, spark: SparkSession) -> BoundedRun:
        """Return a bounded run of the job on its checkpoint, in this process."""
        return BoundedRun(spark, self._script(), self.checkpoint, self._names())

    def check(self, spark: SparkSession) -> None:
        """Run from the checkpoint to the end of the input, and check the records of the topics."""
        job = self.bounded(spark)
        job({"execution.micro-batch.max-records": "100000"})
        assert open_partitions(self.sink_servers, "copied") == []
        copied = ids_in(self.sink_servers, "copied")
        assert (copied if self.exact else Counter(list(copied))) == once(self.written)
        groups: dict[int, list[int]] = defaultdict(list)
        for i in range(self.written):
            groups[i % _GROUPS].append(i)
        expected = {(g,): {"g": g, "n": len(v), "hi": v[-1]} for g, v in groups.items()}
        assert job.rows("counted") == expected
        if self.letters:
            kept = {int(letter.value()[2:]) for letter in records(self.servers, "letters")}
            assert kept == set(range(self.bad))
            ends = self._ends()
            assert sum(ends.values()) == self.written + self.bad
            assert self._told() == ends

    def _ends(self) -> dict[int, int]:
        """Return the end offsets of the source."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        asked = {TopicPartition("ids", p): OffsetSpec.latest() for p in range(_PARTITIONS)}
        found = admin.list_offsets(asked, request_timeout=30)
        return {place.partition: end.result().offset for place, end in found.items()}

    def _told(self) -> dict[int, int]:
        """Return the committed offsets of the job's consumer group."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        asked = [ConsumerGroupTopicPartitions("readers")]
        found = admin.list_consumer_group_offsets(asked)["readers"].result(30)
        return {place.partition: place.offset for place in found.topic_partitions}

    def _committed(self) -> dict[str, int]:
        """Return the newest committed batch of each query; -1 before the first."""
        return {query: newest(self.checkpoint / query) for query in ("copied", "counted")}

    def _script(self) -> str:
        script = SCRIPT.replace("${copies}", _COPIES if self.exact else "")
        script = script.replace("${reads}", _LETTERS if self.letters else "")
        return script.replace("${guarantee}", self.guarantee).replace("${more}", self.more)

    def _names(self) -> dict[str, str]:
        return {"servers": self.servers, "sink_servers": self.sink_servers}
