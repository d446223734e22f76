"""Scripts of the upgrade tests: one topic of events, and sinks whose rows are easy to recount."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from streamtable.cli.main import cli
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.upgrade import upgrade_job
from streamtable.session import Session, fixed_settings
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

#: Delivery guarantees of the sinks. `at-least-once` is a soak test, because other tests use it too.
GUARANTEES = ("exactly-once", pytest.param("at-least-once", marks=pytest.mark.soak))

_TABLES = """
CREATE TABLE t (id INT, g INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE copies (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${out}-copies',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json' ${delivery}
);
CREATE TABLE counts (g INT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}-counts',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json' ${delivery}
);
CREATE TABLE sums (g INT, n BIGINT, s BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}-sums',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json' ${delivery}
);
"""
_EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${out}-txn'"
)

COPY = "INSERT INTO copies SELECT id FROM t;"
COUNTS = "INSERT INTO counts SELECT g, COUNT(*) FROM t GROUP BY g;"
SUMS = "INSERT INTO sums SELECT g, COUNT(*), SUM(v) FROM t GROUP BY g;"
FILTERED = SUMS.replace(" GROUP", " WHERE g <> 4 AND v > 3 GROUP")


#: Continues with the state of `SUMS`.
DOUBLED = "INSERT INTO sums SELECT g, COUNT(*), COUNT(*) * 2 FROM t GROUP BY g;"


class LossOfPower(BaseException):
    """Simulated loss of power. No code handles this exception."""


@contextmanager
def power_lost(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, *, afterwards: bool, calls: int = 1
) -> Iterator[None]:
    """Raise `LossOfPower` at the `calls`-th call of a function, before or after the call itself."""
    real, left = getattr(owner, name), iter(range(calls - 1))

    def call(*arguments: Any, **named: Any) -> Any:
        if next(left, None) is not None:
            return real(*arguments, **named)
        if afterwards:
            real(*arguments, **named)
        raise LossOfPower

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, call)
        yield


def events(start: int, end: int) -> list[dict[str, int]]:
    """Return events with the ids from `start` to below `end`, in five groups."""
    return [{"id": i, "g": i % 5, "v": i * i % 17} for i in range(start, end)]


class Jobs:
    """Runs of scripts, one after the other, on one checkpoint and one source topic."""

    def __init__(
        self, spark: SparkSession, servers: str, source: str, checkpoint: Path | str, guarantee: str
    ) -> None:
        self.spark, self.servers, self.source = spark, servers, source
        self.checkpoint = checkpoint
        delivery = _EXACTLY_ONCE if guarantee == "exactly-once" else ""
        self.tables = _TABLES.replace("${delivery}", delivery)
        self.names = {"source": source, "out": source, "servers": servers}

    def script(self, *inserts: str) -> str:
        """Return the text of a script. Its variables are in `names`."""
        return "\n".join([self.tables, *inserts])

    def run(self, *inserts: str) -> list[str]:
        """Run a script over the input so far and return the notices of the job."""
        job = self.job(*inserts)
        job()
        return job.notices

    def upgrade(
        self, *inserts: str, plan: bool = False, from_now: bool = False, rollback: bool = False
    ) -> list[str]:
        """Upgrade the checkpoint to a script and return the printed lines."""
        session = Session(settings=fixed_settings({}))
        session.load(self.script(*inserts), "new.sql", self.names)
        said: list[str] = []
        options = UpgradeOptions(str(self.checkpoint), plan, from_now, rollback=rollback)
        settings = session.settings.current()
        upgrade_job(session.plans, settings, options, said.append, said.append, spark=self.spark)
        return said

    def prove(self, file: Path, table: str, *inserts: str) -> str:
        """Run `streamtable prove` for a table and return its output."""
        file.write_text(self.script(*inserts))
        given = [f"--var={name}={value}" for name, value in self.names.items()]
        place = ["--checkpoint", str(self.checkpoint), "--table", table]
        return CliRunner().invoke(cli, ["prove", str(file), *given, *place]).output

    def job(self, *inserts: str) -> BoundedRun:
        return BoundedRun(self.spark, self.script(*inserts), self.checkpoint, self.names)

    def create(self, topic: str, config: dict[str, str] | None = None) -> None:
        """Create a topic of one partition."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.create_topics([NewTopic(topic, 1, config=config or {})])[topic].result(30)

    def send(self, rows: Iterable[Mapping[str, Any]]) -> None:
        produce_json(self.servers, self.source, rows)

    def written(self, table: str) -> list[tuple[Any, Any]]:
        """Return the key and value of each committed record of a sink's topic, as JSON values."""
        found = records(self.servers, f"{self.names['out']}-{table}")
        return [
            tuple(None if x is None else json.loads(x) for x in (r.key(), r.value()))  # type: ignore[misc]
            for r in found
        ]

    def copied(self) -> Counter[int]:
        """Return how often each id occurs in the topic of `copies`."""
        return Counter(value["id"] for _, value in self.written("copies"))

    def folded(self, table: str) -> dict[Any, dict[str, Any]]:
        """Return the rows of an upsert sink by their group, or by the text of a longer key."""
        rows: dict[Any, dict[str, Any]] = {}
        for key, value in self.written(table):
            of_group = key["g"] if list(key) == ["g"] else json.dumps(key)
            if value is None:
                rows.pop(of_group, None)
            else:
                rows[of_group] = value
        return rows

    def fresh(self, checkpoint: Path) -> Jobs:
        """Return the same jobs with sink topics and a checkpoint of their own."""
        other = Jobs(self.spark, self.servers, self.source, checkpoint, "at-least-once")
        other.tables = self.tables
        other.names = {**self.names, "out": f"{self.source}-fresh"}
        return other
