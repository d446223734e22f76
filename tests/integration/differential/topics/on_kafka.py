"""Queries from upsert topics into topics, compared with Spark's batch answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from tests.integration.batches import positions, reaches
from tests.integration.differential.support import Query

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.answers import INTERPRETED, PLANNED_ONCE, frame_of, set_for_a_while
from streamtable.testing.histories import Change, fold, pieces, random_cuts, random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.planned import planned
from streamtable.testing.replayed import Replayed, Style
from streamtable.testing.state import state_rows
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics


_TABLE = """
CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}',
  'properties.bootstrap.servers' = '{servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
"""
COLUMNS = "k INT, g INT, v INT"
_KEYS = 16
_PARTITIONS = 2
#: Deletes of all rows that a history can leave.
ALL_DELETED = [Change(key, None) for key in range(_KEYS)]

QUERIES = {
    "by_key": Query((0,), "SELECT k, v FROM a WHERE v < 4"),
    "groups": Query(
        (0,),
        "SELECT n, COUNT(*) AS m, MAX(u) AS u FROM"
        " (SELECT g, COUNT(*) AS n, COUNT(DISTINCT v) AS u FROM a GROUP BY g) AS x GROUP BY n",
    ),
    "pairs": Query((0,), "SELECT a.k, b.v AS w, b.g FROM a LEFT JOIN b ON a.g = b.k AND a.v < b.v"),
    "unmatched": Query(
        (0,), "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.g = a.g AND b.v = a.v)"
    ),
    "first": Query(
        (0, 1),
        "SELECT * FROM (SELECT COALESCE(g, -1) AS g, ROW_NUMBER() OVER"
        " (PARTITION BY COALESCE(g, -1) ORDER BY v DESC) AS rn, v FROM a) AS x WHERE rn <= 2",
    ),
    "shared": Query((0,), "SELECT k FROM a WHERE v > 1 INTERSECT SELECT k FROM b"),
}

#: `QUERIES` and further queries, for jobs that also run in real-time mode.
ROW_BY_ROW = {
    **QUERIES,
    "paired": Query((0,), "SELECT a.k, a.v, b.v AS w FROM a LEFT JOIN b ON a.k = b.k"),
    "absent": Query((0,), "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.k = a.k)"),
    "united": Query(
        (0,),
        "SELECT COALESCE(g, -1) * 3 AS x, COUNT(*) AS n FROM a GROUP BY g"
        " UNION ALL SELECT COALESCE(g, -1) * 3 + 1, MAX(v) FROM b GROUP BY g"
        " UNION ALL SELECT COALESCE(v, -1) * 3 + 2, COUNT(*) FROM a GROUP BY v",
    ),
    "few": Query(
        (0,), "SELECT COALESCE(g, -1) AS g, SUM(v) AS s FROM a GROUP BY g HAVING COUNT(*) < 3"
    ),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, *range(6)]), "v": source.choice([None, *range(6)])}


def histories(seed: int, cuts: int) -> dict[str, list[Sequence[Change]]]:
    """Return a random history of each table, cut into `cuts` random pieces."""
    return {
        name: pieces(
            random_history(seed + i, 110, _KEYS, _values), random_cuts(seed + i, 110, cuts)
        )
        for i, name in enumerate("ab")
    }


@dataclass
class KafkaJob:
    """A job with a sink topic for each query, over two upsert topics of two partitions.

    Attributes:
        directory: the parent directory of the job's checkpoint.
        queries: name of the sink -> query.
    """

    spark: SparkSession
    servers: str
    topic: Topics
    directory: Path
    queries: Mapping[str, Query] = field(default_factory=lambda: QUERIES)
    _done: dict[str, list[Change]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._topics = {name: self.topic(name, partitions=_PARTITIONS) for name in "ab"}
        self._run = BoundedRun(self.spark, self._script(), self.directory / "checkpoint")

    def feed(self, name: str, changes: Sequence[Change]) -> None:
        """Write changes into the topic of a table."""
        produce_changes(self.servers, self._topics[name], "k", changes)
        self._done.setdefault(name, []).extend(changes)

    def run(self, batch_rows: int) -> None:
        """Process the content of the topics, in micro-batches of at most `batch_rows` rows."""
        with set_for_a_while(self.spark, INTERPRETED):
            self._run({"execution.micro-batch.max-records": str(batch_rows)})

    def move(self, directory: Path) -> None:
        """Continue with a checkpoint in another directory."""
        self.directory = directory
        self._run.checkpoint = directory / "checkpoint"

    def answers(self) -> Mapping[str, set[Any]]:
        """Return Spark's batch answer of each query over the input so far."""
        for name, changes in self._done.items():
            rows = [{"k": key, **values} for key, values in fold(changes).items()]
            frame_of(self.spark, COLUMNS, rows).createOrReplaceTempView(name)
        with set_for_a_while(self.spark, {**INTERPRETED, **PLANNED_ONCE}):
            return {
                name: {_in_order(row.asDict()) for row in self.spark.sql(query.answer).collect()}
                for name, query in self.queries.items()
            }

    def wrong(self, answers: Mapping[str, set[Any]]) -> Mapping[str, tuple[set[Any], set[Any]]]:
        """Return the queries whose topics have other rows, with surplus rows and missing rows."""
        found = {}
        for name, expected in answers.items():
            rows = self._rows(name)
            if rows != expected:
                found[name] = (rows - expected, expected - rows)
        return found

    def _rows(self, name: str) -> set[Any]:
        try:
            return {_in_order(row) for row in self._run.rows(name).values()}
        except StreamtableError as error:
            # A job creates its topics after all its other checks.
            assert error.condition is Condition.TOPIC_MISSING
            return set()

    def behind(self) -> set[str]:
        """Return the queries whose commits do not reach the ends of their input topics."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        topics = self._topics.values()
        asked = [TopicPartition(topic, p) for topic in topics for p in range(_PARTITIONS)]
        found = admin.list_offsets(dict.fromkeys(asked, OffsetSpec.latest()), request_timeout=30)
        ends: dict[str, dict[int, int]] = {topic: {} for topic in topics}
        for place, end in found.items():
            ends[place.topic][place.partition] = end.result().offset
        return {name for name in self.queries if not self._has_committed(name, ends)}

    def _has_committed(self, name: str, ends: Mapping[str, Mapping[int, int]]) -> bool:
        query = self.directory / "checkpoint" / name
        read = {topic for topic in ends if positions(query, topic)}
        return bool(read) and all(reaches(query, topic, ends[topic]) for topic in read)

    @property
    def script(self) -> str:
        """The job as Flink SQL."""
        return self._run.script

    def state_rows(self) -> dict[str, int]:
        """Return the number of entries of each state variable, without empty variables."""
        found = {}
        for name in self.queries:
            rows = state_rows(self.spark, str(self.directory / "checkpoint" / name))
            found |= {f"{name}/{variable}": count for variable, count in rows.items()}
        return found

    def _script(self) -> str:
        parts = [self._table(name, COLUMNS, "k", topic) for name, topic in self._topics.items()]
        sink = self.topic("sink")
        tables = {name: Replayed(Style.UPSERT, COLUMNS, ()) for name in "ab"}
        for name, query in self.queries.items():
            fields = [column.field for column in planned(query.sql, tables).columns]
            columns = ", ".join(f"{f.name} {f.type.with_nullable(True).sql()}" for f in fields)
            key = ", ".join(fields[i].name for i in query.key)
            parts.append(self._table(name, columns, key, f"{sink}-{name}"))
            parts.append(f"INSERT INTO {name} {query.sql};")
        return "\n".join(parts)

    def _table(self, name: str, columns: str, key: str, topic: str) -> str:
        return _TABLE.format(name=name, columns=columns, key=key, topic=topic, servers=self.servers)


def _in_order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return values in the order of their column names; rows of a topic begin with the key."""
    return tuple(value for _, value in sorted(row.items()))
