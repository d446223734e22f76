"""Random statement sets of INSERTs with state write the same tables as separate queries."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.sets.support import forget_last_commit

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SOURCE = """
CREATE TABLE t (id BIGINT, g INT, s STRING, n BIGINT, d TIMESTAMP(3){more}) WITH (
  'properties.bootstrap.servers' = '${{servers}}', 'topic' = '${{source}}', {connector}
);
"""
_SINK = """
CREATE TABLE o{n} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = '${{servers}}', 'topic' = '${{source}}-${{run}}-{n}'{options}
);
"""
_EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once',"
    " 'sink.transactional-id-prefix' = '${{source}}-${{run}}-{n}'"
)
_APPEND = "'connector' = 'kafka', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"
_UPSERT = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"

#: INSERTs with one stateful operator over append-only rows: columns, key, query.
_ONE = [
    (
        "g INT, c BIGINT, m BIGINT",
        "g",
        "SELECT g, COUNT(*), MAX(n) FROM t WHERE g IS NOT NULL GROUP BY g",
    ),
    (
        "k STRING, c BIGINT",
        "k",
        "SELECT COALESCE(s, 'none'), SUM(n) FROM t WHERE n > 3 GROUP BY COALESCE(s, 'none')",
    ),
    (
        "a BIGINT, k BIGINT, c BIGINT",
        "a, k",
        "SELECT id / 3, id, COUNT(DISTINCT s) FROM t GROUP BY id / 3, id",
    ),
    ("one INT, c BIGINT", "one", "SELECT 1, COUNT(*) FROM t"),
    (
        "id BIGINT, c BIGINT, m BIGINT",
        "id",
        "SELECT id, COUNT(*), MIN(n) FROM t GROUP BY id HAVING MOD(COUNT(*), 3) > 0",
    ),
    (
        "g INT, r BIGINT, id BIGINT, n BIGINT",
        "g, r",
        """SELECT g, r, id, n FROM (SELECT g, id, n,
             ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC, id) AS r
           FROM t WHERE g IS NOT NULL) WHERE r <= 3""",
    ),
    (
        "id BIGINT, n BIGINT",
        "id",
        """SELECT id, n FROM (
             SELECT id, n, ROW_NUMBER() OVER (PARTITION BY id ORDER BY n) AS r FROM t
           ) WHERE r = 1""",
    ),
    (
        "s STRING, l BIGINT",
        "s",
        "SELECT s, SUM(CHAR_LENGTH(s)) FROM t WHERE s IS NOT NULL GROUP BY s",
    ),
]
#: INSERTs with two stateful operators over append-only rows.
_TWO = [
    (
        "c BIGINT, k BIGINT",
        "c",
        "SELECT c, COUNT(*) FROM (SELECT id, COUNT(*) AS c FROM t GROUP BY id) GROUP BY c",
    ),
    (
        "g INT, r BIGINT, c BIGINT, s STRING",
        "g, r",
        """SELECT g, r, c, s FROM (SELECT g, c, s,
             ROW_NUMBER() OVER (PARTITION BY g ORDER BY c DESC, s) AS r
           FROM (SELECT COALESCE(g, 0) AS g, s, COUNT(*) AS c FROM t GROUP BY COALESCE(g, 0), s)
           ) WHERE r <= 2""",
    ),
    (
        "one INT, m BIGINT, c BIGINT",
        "one",
        """SELECT 1, MAX(c), COUNT(*) FROM (
             SELECT id, SUM(n) AS c FROM t GROUP BY id HAVING MOD(COUNT(*), 2) = 1
           )""",
    ),
]
#: INSERTs that wait for the watermark.
_TIMED = [
    (
        "w TIMESTAMP(3), g INT, c BIGINT",
        "w, g",
        """SELECT window_start, COALESCE(g, 9), COUNT(*)
           FROM TUMBLE(TABLE t, DESCRIPTOR(d), INTERVAL '10' MINUTES)
           GROUP BY window_start, window_end, COALESCE(g, 9)""",
    ),
    (
        "w TIMESTAMP(3), e TIMESTAMP(3), c BIGINT",
        "w, e",
        """SELECT window_start, window_end, SUM(n)
           FROM HOP(TABLE t, DESCRIPTOR(d), INTERVAL '5' MINUTES, INTERVAL '15' MINUTES)
           GROUP BY window_start, window_end""",
    ),
    (
        "g INT, w TIMESTAMP(3), c BIGINT",
        "g, w",
        """SELECT g, window_start, MAX(n)
           FROM SESSION(TABLE t PARTITION BY g, DESCRIPTOR(d), INTERVAL '3' MINUTES)
           WHERE g IS NOT NULL GROUP BY g, window_start, window_end""",
    ),
    (
        "id BIGINT, n BIGINT",
        "id",
        """SELECT id, n FROM (
             SELECT id, n, ROW_NUMBER() OVER (PARTITION BY id ORDER BY d) AS r FROM t
           ) WHERE r = 1""",
    ),
]
#: INSERTs with windows over upserts, which do not share slices.
_TIMED_UPSERTS = [
    _TIMED[0],
    (
        "w TIMESTAMP(3), c BIGINT, m BIGINT",
        "w",
        """SELECT window_end, COUNT(*), MIN(n)
           FROM TUMBLE(TABLE t, DESCRIPTOR(d), INTERVAL '20' MINUTES)
           WHERE n > 10 GROUP BY window_start, window_end""",
    ),
]
#: Kind of sets -> its INSERTs, and whether their source is an upsert table. Then a normalizer is
#: the first stateful operator.
_KINDS = {
    "one": (_ONE, False),
    "two": (_TWO, False),
    "timed": (_TIMED, False),
    "upserts": (_ONE[:5], True),
    "timed upserts": (_TIMED_UPSERTS, True),
}


@dataclass(frozen=True)
class _Set:
    """A random set of INSERTs.

    Attributes:
        queries: columns, key and SQL of each INSERT.
        upserts: whether the source is an upsert table.
        exactly_once: whether the sinks write in transactions.
    """

    queries: tuple[tuple[str, str, str], ...]
    upserts: bool
    timed: bool
    exactly_once: bool

    @classmethod
    def of(cls, dice: random.Random, kind: str) -> _Set:
        pool, upserts = _KINDS[kind]
        chosen = tuple(dice.sample(pool, dice.randint(2, len(pool))))
        return cls(chosen, upserts, kind.startswith("timed"), dice.random() < 0.5)

    def script(self, *places: int) -> str:
        """Return the script with some of the INSERTs; the variable `run` is in topic names."""
        more = ", WATERMARK FOR d AS d - INTERVAL '1' MINUTE" if self.timed else ""
        more += ", PRIMARY KEY (id) NOT ENFORCED" if self.upserts else ""
        tables = _SOURCE.format(more=more, connector=_UPSERT if self.upserts else _APPEND)
        inserts = ""
        for n, (columns, key, sql) in enumerate(self.queries):
            options = _EXACTLY_ONCE.replace("{n}", str(n)).format() if self.exactly_once else ""
            tables += _SINK.format(n=n, columns=columns, key=key, options=options)
            if not places or n in places:
                inserts += f"INSERT INTO o{n} {sql};\n"
        return f"{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"

    def records(
        self, dice: random.Random, start: int, count: int
    ) -> Iterator[tuple[bytes | None, bytes | None]]:
        """Yield records of the source, roughly in the order of their times.

        An upsert table without a watermark also gets deletes.
        """
        for i in range(start, start + count):
            row: dict[str, Any] = {"id": dice.randrange(20), "g": dice.choice([1, 2, 3, None])}
            row |= {"s": dice.choice(["a", "b", "bc", None]), "n": dice.randrange(100)}
            minute = i // 2 + dice.randrange(2)
            row["d"] = f"2026-01-01 {minute // 60:02}:{minute % 60:02}:00"
            if self.upserts and self.timed:
                row["id"] = i  # else the ends of batches would decide whether an old row is late
            key = json.dumps({"id": row["id"]}).encode() if self.upserts else None
            deleted = self.upserts and not self.timed and dice.random() < 0.2
            yield key, None if deleted else json.dumps(row).encode()


def _table(servers: str, topic: str) -> dict[bytes, bytes]:
    """Return the table in a topic, for a reader of committed records."""
    found: dict[bytes, bytes | None] = {}
    for record in records(servers, topic):
        found[record.key()] = record.value()
    return {key: value for key, value in found.items() if value is not None}


def _check(
    kind: str, seed: int, spark: SparkSession, servers: str, source: str, folder: Path
) -> None:
    dice = random.Random(f"{kind}{seed}")
    drawn = _Set.of(dice, kind)
    jobs = {
        run: BoundedRun(
            spark, drawn.script(), folder / run, {"source": source, "servers": servers, "run": run}
        )
        for run in ("shared", "apart")
    }
    settings = {
        "execution.micro-batch.max-records": str(dice.choice([30, 1_000])),
        "table.exec.sink.not-null-enforcer": "DROP",
        "execution.mode": "micro-batch",
    }
    start = 0
    for _ in range(2):
        count = dice.randint(1, 80)
        produce(servers, source, drawn.records(dice, start, count))
        start += count
        jobs["shared"](settings)
        assert (folder / "shared" / "statement-set").is_dir()
        if dice.random() < 0.5:
            forget_last_commit(folder / "shared" / "statement-set")
    jobs["shared"](settings, drain=True)
    jobs["apart"]({**settings, "table.optimizer.reuse-source-enabled": "false"}, drain=True)
    for n, query in enumerate(drawn.queries):
        shared, apart = (_table(servers, f"{source}-{run}-{n}") for run in jobs)
        assert apart, f"seed {seed}: {query}"
        assert shared == apart, f"seed {seed}: {query}"


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("one", 1),
        ("timed", 1),
        *(pytest.param(kind, n, marks=pytest.mark.soak) for kind in _KINDS for n in range(2, 12)),
    ],
)
def test_random_sets(
    kind: str, seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    _check(kind, seed, spark, broker.bootstrap_servers, topic("random", partitions=2), tmp_path)
