"""A job of four queries over two topics: stateless, an aggregate, a join, windows by event time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.batches import newest, reaches
from tests.integration.event_time.support import millis
from tests.integration.faults.inputs import JOINED, LATE_MS, WINDOW_MS, Inputs
from tests.integration.jobs.committed import open_partitions
from tests.integration.jobs.support import Cli, write

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS, PRICES = "events", "prices"
_SCRIPT = f"""
CREATE TABLE events (
  id BIGINT, k INT, v INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '{LATE_MS // 1_000}' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '{EVENTS}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json',
  'scan.fail-on-data-loss' = '${{fail}}'
);
CREATE TABLE prices (k INT, price INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{PRICES}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json',
  'scan.fail-on-data-loss' = '${{fail}}'
);
CREATE TABLE copied (id BIGINT, k INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${{out}}-copied',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json'%(copied)s
);
CREATE TABLE windows (s TIMESTAMP(3), k INT, n BIGINT, total BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${{out}}-windows',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json'%(windows)s
);
CREATE TABLE totals (k INT, n BIGINT, total BIGINT, hi BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{out}}-totals',
  'properties.bootstrap.servers' = '${{servers}}',
  'key.format' = 'json', 'value.format' = 'json'%(totals)s
);
CREATE TABLE joined (id BIGINT, k INT, price INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{out}}-joined',
  'properties.bootstrap.servers' = '${{servers}}',
  'key.format' = 'json', 'value.format' = 'json'%(joined)s
);
INSERT INTO copied SELECT id, k, v FROM events;
INSERT INTO windows SELECT window_start, k, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{WINDOW_MS // 1_000}' SECOND))
GROUP BY window_start, window_end, k;
INSERT INTO totals SELECT k, COUNT(*), SUM(v), MAX(id) FROM events GROUP BY k;
INSERT INTO joined SELECT e.id, e.k, p.price FROM events AS e
LEFT JOIN prices AS p ON e.k = p.k WHERE MOD(e.id, {JOINED}) = 0;
"""
_EXACT = (
    ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${out}-QUERY'"
)
_APPENDED, _FOLDED = ("copied", "windows"), ("totals", "joined")
QUERIES = (*_APPENDED, *_FOLDED)


@dataclass
class MixedJob:
    """The job with its checkpoint and sinks. The job can start again after it was killed.

    Attributes:
        directory: directory of the checkpoint and of the logs of the runs.
        servers: bootstrap servers of all topics.
        name: prefix of the names of the sink topics.
        exact: whether the sinks are exactly-once, which only micro-batch mode supports.
        mode: mode of the last run.
        fail: whether the last run fails if unread records were deleted.
    """

    directory: Path
    servers: str
    name: str
    exact: bool
    mode: str = ""
    fail: bool = False
    _runs: int = 0
    _before: Sequence[int] = ()
    _process: subprocess.Popen[str] | None = None

    def start(self, mode: str, batch: int, *, fail: bool) -> None:
        """Start a run in a mode, with a maximum of records per micro-batch.

        Args:
            mode: execution mode.
            batch: maximum of records per micro-batch.
            fail: whether the run fails if unread records were deleted.
        """
        self.mode = mode
        self._runs += 1
        self.fail = fail
        self._before = self._committed()
        options = ["--checkpoint", str(self._checkpoint)]
        options += ["--master", "local[2]"] if mode == "micro-batch" else []
        for setting in (
            f"execution.mode={mode}",
            f"execution.micro-batch.max-records={batch}",
            "execution.checkpointing.interval=5 s",
            "parallelism.default=1",
        ):
            options += ["--set", setting]
        for name, value in self._variables().items():
            options += ["--var", f"{name}={value}"]
        self._process = Cli.start(
            "run", write(self.directory / "job.sql", self._script), *options, log=self._log
        ).process

    @property
    def told(self) -> str:
        """The output of the last run so far."""
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""

    def kill(self) -> None:
        """Kill the run and its JVM (`kill -9`)."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def ended(self, seconds: float) -> int | None:
        """Return the exit code of the run, or None if the run does not end within this time."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def runs(self) -> bool:
        """Return whether the run has not ended."""
        assert self._process is not None
        return self._process.poll() is None

    def has_worked(self) -> bool:
        """Return whether every query has committed a batch in this run."""
        return all(now > old for now, old in zip(self._committed(), self._before, strict=True))

    def knows(self, topic: str, ends: Mapping[int, int]) -> bool:
        """Return whether every query that reads the topic has committed up to these offsets."""
        readers = QUERIES if topic == EVENTS else ("joined",)
        return all(reaches(self._checkpoint / query, topic, ends) for query in readers)

    def drain(self, spark: SparkSession) -> None:
        """Run the job to the end of the input, which ends every window."""
        job = self._bounded(spark)
        job({"execution.micro-batch.max-records": "100000"}, drain=True)

    def wrong(self, spark: SparkSession, inputs: Inputs, *, ended: bool) -> list[str]:
        """Return the differences of the sink topics from the expected rows, one line each."""
        job = self._bounded(spark)
        expected: dict[str, Any] = {
            "copied": inputs.copied(),
            "windows": inputs.windows(ended=ended),
            "totals": inputs.totals(),
            "joined": inputs.joined(),
        }
        found = []
        for name in QUERIES:
            try:
                rows = self._appended(name) if name in _APPENDED else job.rows(name)
            except StreamtableError as error:
                # A job creates its topics once it has checked everything else.
                assert error.condition is Condition.TOPIC_MISSING
                found.append(f"{name}: has no topic")
                continue
            if isinstance(rows, Counter):
                often = {row: n for row, n in rows.items() if n > 1} if self.exact else {}
                found += [f"{name}: more than once: {often}"] if often else []
                rows = set(rows)
            if rows != expected[name]:
                found.append(f"{name}: {_difference(rows, expected[name])}")
        return found

    def open_transactions(self) -> dict[str, list[int]]:
        """Return the partitions of sink topics in which a transaction is open."""
        topics = [f"{self.name}-{query}" for query in QUERIES]
        left = {topic: open_partitions(self.servers, topic) for topic in topics}
        return {topic: partitions for topic, partitions in left.items() if partitions}

    def _appended(self, name: str) -> Counter[tuple[Any, ...]]:
        rows = (json.loads(r.value()) for r in records(self.servers, f"{self.name}-{name}"))
        if name == "copied":
            return Counter((r["id"], r["k"], r["v"]) for r in rows)
        return Counter((millis(r["s"]), r["k"], r["n"], r["total"]) for r in rows)

    def _committed(self) -> list[int]:
        return [newest(self._checkpoint / query) for query in QUERIES]

    def _bounded(self, spark: SparkSession) -> BoundedRun:
        return BoundedRun(spark, self._script, self._checkpoint, self._variables())

    def _variables(self) -> Mapping[str, str]:
        return {"servers": self.servers, "out": self.name, "fail": str(self.fail).lower()}

    @property
    def _script(self) -> str:
        return _SCRIPT % {q: _EXACT.replace("QUERY", q) if self.exact else "" for q in QUERIES}

    @property
    def _checkpoint(self) -> Path:
        return self.directory / self.name

    @property
    def _log(self) -> Path:
        return self.directory / f"{self.name}-{self._runs}.log"


def _difference(rows: Any, expected: Any) -> str:
    """Return a text with the number of unexpected and of missing rows, and the first of them."""
    if isinstance(rows, Mapping):
        rows, expected = (
            {tuple(sorted(r.items())) for r in side.values()} for side in (rows, expected)
        )
    more, less = (sorted(side, key=str) for side in (rows - expected, expected - rows))
    return f"{len(more)} of {len(rows)} too many {more[:3]}, {len(less)} missing {less[:3]}"
