"""Runs queries over random histories; holds their folded topics against Spark's batch answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamtable.testing.histories import Change, fold, pieces, random_cuts
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.state import state_rows
from streamtable.testing.topics import produce_changes, produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_KEYED = """
CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}',
  'properties.bootstrap.servers' = '{servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
"""

_PLAIN = """
CREATE TABLE {name} ({columns}) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '{servers}', 'format' = 'json'
);
"""


@dataclass(frozen=True)
class Source:
    """A table with a history: of upserts by the column `k`, or of rows that are only added.

    Attributes:
        columns: as SQL declares them, `k INT` among them.
        appends: whether the history only adds rows.
    """

    columns: str
    history: Sequence[Change]
    appends: bool = False

    def rows(self, done: int) -> list[Mapping[str, Any]]:
        """The table after so many changes."""
        given = self.history[:done]
        if self.appends:
            return [{"k": c.key, **(c.values or {})} for c in given]
        return [{"k": key, **values} for key, values in fold(given).items()]


@dataclass(frozen=True)
class Query:
    """One query into a table of its own.

    Attributes:
        columns: of the sink.
        key: of the sink.
        batch: the same in Spark's SQL, where that differs.
    """

    columns: str
    key: str
    sql: str
    batch: str | None = None


@dataclass
class Differential:
    """Sources and queries of one test; `check` runs and compares them."""

    spark: SparkSession
    broker: Broker
    topic: Topics
    directory: Path
    sources: Mapping[str, Source]
    queries: Mapping[str, Query]
    seed: int
    _done: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._topics = {name: self.topic(name, partitions=2) for name in self.sources}
        self._run = BoundedRun(self.spark, self._script(), self.directory / "checkpoint")

    def check(self, cuts: int) -> None:
        """Feeds the histories in so many random pieces; compares every query after each."""
        cut = {
            name: pieces(source.history, random_cuts(self.seed + i, len(source.history), cuts))
            for i, (name, source) in enumerate(self.sources.items())
        }
        dice = random.Random(self.seed)
        for piece in range(cuts):
            for name, source in self.sources.items():
                self.feed(name, cut[name][piece], appends=source.appends)
                self._done[name] = self._done.get(name, 0) + len(cut[name][piece])
            self.run(dice.choice([1_000, 70]))
            tables = {n: s.rows(self._done[n]) for n, s in self.sources.items()}
            self.compare(tables, f"seed {self.seed}, piece {piece}")

    def feed(self, name: str, changes: Sequence[Change], *, appends: bool = False) -> None:
        """Writes changes into the topic of a source."""
        servers = self.broker.bootstrap_servers
        if appends:
            rows = [{"k": c.key, **(c.values or {})} for c in changes]
            produce_json(servers, self._topics[name], rows)
        else:
            produce_changes(servers, self._topics[name], "k", changes)

    def run(self, batch_rows: int = 1_000) -> None:
        """Processes what the topics hold, in micro-batches of so many rows at most."""
        self._run({"execution.micro-batch.max-records": str(batch_rows)})

    def compare(self, tables: Mapping[str, Sequence[Mapping[str, Any]]], when: str) -> None:
        """Holds every folded topic against the batch answer over these tables."""
        for name, rows in tables.items():
            columns = self.sources[name].columns
            names = [c.split()[0] for c in columns.split(", ")]
            frame = self.spark.createDataFrame([[r[n] for n in names] for r in rows], columns)
            frame.createOrReplaceTempView(name)
        wrong = []
        for name, query in self.queries.items():
            expected = {tuple(r) for r in self.spark.sql(query.batch or query.sql).collect()}
            found = {tuple(map(_plain, r.values())) for r in self._run.rows(name).values()}
            if found != expected:
                wrong.append(f"{name}: too much {found - expected}, missing {expected - found}")
        assert not wrong, f"{when}: " + "; ".join(wrong)

    def state_rows(self) -> dict[str, int]:
        """How many entries each state variable of each query holds, empty ones left out."""
        found = {}
        for name in self.queries:
            rows = state_rows(self.spark, str(self.directory / "checkpoint" / name))
            found |= {f"{name}/{variable}": count for variable, count in rows.items()}
        return found

    def _script(self) -> str:
        servers = self.broker.bootstrap_servers
        parts = []
        for name, source in self.sources.items():
            text = _PLAIN if source.appends else _KEYED
            topic = self._topics[name]
            parts.append(
                text.format(
                    name=name, columns=source.columns, topic=topic, servers=servers, key="k"
                )
            )
        sink = self.topic("sink")
        for name, query in self.queries.items():
            parts.append(
                _KEYED.format(
                    name=name,
                    columns=query.columns,
                    topic=f"{sink}-{name}",
                    servers=servers,
                    key=query.key,
                )
            )
            parts.append(f"INSERT INTO {name} {query.sql};")
        return "\n".join(parts)


def _plain(value: Any) -> Any:
    return Decimal(str(value)) if isinstance(value, float) else value
