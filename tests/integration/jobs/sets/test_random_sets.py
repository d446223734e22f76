"""Random statement sets write the same records as separate queries, even after crashes."""

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
CREATE TABLE t (id BIGINT, g INT, s STRING, x DOUBLE, d TIMESTAMP(3){key}) WITH (
  'properties.bootstrap.servers' = '${{servers}}', 'topic' = '${{source}}', {connector}
);
"""
_SINK = """
CREATE TABLE o{n} (id BIGINT, r STRING{key}) WITH (
  'properties.bootstrap.servers' = '${{servers}}', 'topic' = '${{source}}-${{run}}-{n}',
  {connector}, 'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = '${{source}}-${{run}}-{n}'
);
"""
_APPEND = "'connector' = 'kafka', 'format' = 'json'"
_UPSERT = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"
_EARLIEST = ", 'scan.startup.mode' = 'earliest-offset'"

_VALUES = (
    "s",
    "UPPER(s)",
    "CAST(g AS STRING)",
    "COALESCE(s, 'none') || '-' || CAST(id AS STRING)",
    "CASE WHEN g > 2 THEN s ELSE CAST(x AS STRING) END",
    "CAST(d AS STRING)",
    "CASE WHEN EXTRACT(HOUR FROM d) > 11 THEN 'late' END",
    "JSON_VALUE('{\"a\":' || CAST(g AS STRING) || '}', '$.a')",
    "'constant'",
)
_CONDITIONS = (
    "g = 1",
    "g <> 2 AND s LIKE 'b%'",
    "id > 20",
    "x IS NOT NULL",
    "x > 0.5 OR s IS NULL",
    "d < TIMESTAMP '2026-01-01 12:00:00'",
    "1 = 2",
    "g IN (1, 3, 5)",
)


@dataclass(frozen=True)
class _Set:
    """A random set of INSERTs over an append-only or an upsert table."""

    inserts: tuple[str, ...]
    upserts: bool

    @classmethod
    def of(cls, dice: random.Random) -> _Set:
        """Draw a set.

        Conditions over an upsert table read only its key, because others would need state.
        """
        upserts = dice.random() < 0.4
        conditions = ("id > 20", "id <> 7", "1 = 2") if upserts else _CONDITIONS
        inserts = []
        for n in range(dice.randint(2, 6)):
            value, where = dice.choice(_VALUES), ""
            if dice.random() < 0.6:
                where = f" WHERE {dice.choice(conditions)}"
            if dice.random() < 0.4:
                inner = f"SELECT id, {value} AS y, g + 1 AS z FROM t{where}"
                inserts.append(f"INSERT INTO o{n} SELECT id, COALESCE(y, 'y') FROM ({inner})")
            else:
                inserts.append(f"INSERT INTO o{n} SELECT id, {value} FROM t{where}")
        return cls(tuple(inserts), upserts)

    def script(self) -> str:
        """Return the script; the variable `run` is in the names of the sink topics."""
        connector = _UPSERT if self.upserts else _APPEND + _EARLIEST
        key = ", PRIMARY KEY (id) NOT ENFORCED" if self.upserts else ""
        tables = _SOURCE.format(key=key, connector=connector)
        for n in range(len(self.inserts)):
            tables += _SINK.format(n=n, key=key, connector=_UPSERT if self.upserts else _APPEND)
        inserts = "".join(f"{insert};\n" for insert in self.inserts)
        return f"{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"

    def records(
        self, dice: random.Random, count: int
    ) -> Iterator[tuple[bytes | None, bytes | None]]:
        """Yield records of the source: rows, NULLs, and deletes of an upsert table."""
        for _ in range(count):
            row: dict[str, Any] = {"id": dice.randrange(40), "g": dice.randrange(6)}
            row |= {"s": dice.choice(["a", "b", "bc", None]), "x": dice.choice([0.25, 1.5, None])}
            row["d"] = f"2026-01-01 {dice.randrange(24):02}:00:00"
            key = json.dumps({"id": row["id"]}).encode() if self.upserts else None
            deleted = self.upserts and dice.random() < 0.2
            yield key, None if deleted else json.dumps(row).encode()


def _check(seed: int, spark: SparkSession, servers: str, source: str, folder: Path) -> None:
    dice = random.Random(seed)
    drawn = _Set.of(dice)
    jobs = {
        run: BoundedRun(
            spark, drawn.script(), folder / run, {"source": source, "servers": servers, "run": run}
        )
        for run in ("shared", "apart")
    }
    settings = {"execution.micro-batch.max-records": str(dice.choice([30, 1_000]))}
    for _ in range(2):
        produce(servers, source, drawn.records(dice, dice.randint(1, 80)))
        jobs["shared"](settings)
        if dice.random() < 0.5:
            forget_last_commit(folder / "shared" / "statement-set")
    jobs["shared"](settings)
    jobs["apart"]({"table.optimizer.reuse-source-enabled": "false"})
    assert (folder / "apart" / "o0").is_dir()
    for n, insert in enumerate(drawn.inserts):
        shared, apart = (_written(servers, f"{source}-{run}-{n}") for run in jobs)
        assert shared == apart, f"seed {seed}: {insert}"


def _written(servers: str, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    """Return the records of a topic with one partition, in order."""
    return [(record.key(), record.value()) for record in records(servers, topic)]


@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.soak), 2])
def test_random_sets(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    _check(seed, spark, broker.bootstrap_servers, topic("random"), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_sets(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    _check(seed, spark, broker.bootstrap_servers, topic("random"), tmp_path)
