"""Cost of a statement set over one topic: `python -m benchmarks.statement_set`.

Each INSERT of the set takes its share of the records. The same records are read by one INSERT that
takes none (the cost of reading), by each of a few INSERTs alone (their own work is the time beyond
reading), by the whole set in one query, and by the whole set with a query per INSERT. With
`--state`, each INSERT is an aggregation of its records.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from pyspark.sql import SparkSession

from benchmarks.harness import processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.filling import fill
from benchmarks.harness.topics import create
from benchmarks.workloads.records import Record
from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.session.spark import start_spark
from streamtable.testing.jobs import BoundedRun

_TOPIC = "orders"
_SOURCE = """
CREATE TABLE orders (id BIGINT, region INT, amount DOUBLE, note STRING) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '{servers}', 'format' = 'json'
);
"""
_SINK = """
CREATE TABLE region_{n} (id BIGINT, amount DOUBLE, note STRING) WITH (
  'connector' = 'kafka', 'topic' = '{run}-{n}', 'sink.delivery-guarantee' = '{guarantee}',
  'properties.bootstrap.servers' = '{servers}', 'format' = 'json'{prefix}
);
"""
_COUNTS = """
CREATE TABLE region_{n} (k BIGINT, orders BIGINT, most DOUBLE, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{run}-{n}', 'sink.delivery-guarantee' = '{guarantee}',
  'properties.bootstrap.servers' = '{servers}',
  'key.format' = 'json', 'value.format' = 'json'{prefix}
);
"""
_PREFIX = ", 'sink.transactional-id-prefix' = '{run}-{n}'"
_INSERT = "INSERT INTO region_{n} SELECT id, amount, UPPER(note) FROM orders WHERE region = {of};\n"
_AGGREGATE = (
    "INSERT INTO region_{n} SELECT id % 10000, COUNT(*), MAX(amount) FROM orders"
    " WHERE region = {of} GROUP BY id % 10000;\n"
)

#: A region that no record has.
_NONE = -1


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inserts", type=int, default=20)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--guarantee", default="at-least-once")
    parser.add_argument("--state", action="store_true", help="aggregate the records")
    arguments = parser.parse_args()
    every = range(arguments.inserts)
    print(processes.machine())
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        with broker(folder) as kafka:
            servers = kafka.bootstrap_servers
            create(servers, [_TOPIC])
            fill(servers, _records(arguments.records, arguments.inserts))
            texts = (_COUNTS, _AGGREGATE) if arguments.state else (_SINK, _INSERT)
            bench = _Bench(servers, folder, arguments.guarantee, texts, _spark())
            bench.seconds([*every], reuse=True)  # compiles Spark's and our classes
            rounds = [bench.round(every) for _ in range(arguments.rounds)]
            bench.spark.stop()
    reading, alone, together, apart = (median(times) for times in zip(*rounds, strict=True))
    own = arguments.inserts * max(0.0, alone - reading)
    print(f"reading once {reading:.1f} s, own work of {arguments.inserts} INSERTs {own:.1f} s")
    print(
        f"one query {together:.1f} s: {together / (reading + own):.2f} times reading and own work"
    )
    print(f"a query per INSERT {apart:.1f} s: {apart / together:.1f} times one query")


class _Bench:
    """Runs sets of INSERTs to the end of the topic."""

    def __init__(
        self,
        servers: str,
        folder: Path,
        guarantee: str,
        texts: tuple[str, str],
        spark: SparkSession,
    ) -> None:
        self.spark = spark
        self._sink, self._insert = texts
        self._servers = servers
        self._folder = folder
        self._guarantee = guarantee
        self._runs = 0

    def round(self, every: Sequence[int]) -> tuple[float, float, float, float]:
        """Return the seconds of reading, of one INSERT, of one query and of a query per INSERT."""
        return (
            self.seconds([_NONE], reuse=True),
            median(self.seconds([n], reuse=True) for n in every[:3]),
            self.seconds(every, reuse=True),
            self.seconds(every, reuse=False),
        )

    def seconds(self, regions: Sequence[int], *, reuse: bool) -> float:
        """Return the seconds of a bounded run with one INSERT per region."""
        self._runs += 1
        run = f"run-{self._runs}"
        names = {"run": run, "servers": self._servers, "guarantee": self._guarantee}
        tables, inserts = _SOURCE.format(**names), ""
        for n, region in enumerate(regions):
            exactly_once = self._guarantee == "exactly-once"
            prefix = _PREFIX.format(n=n, **names) if exactly_once else ""
            tables += self._sink.format(n=n, prefix=prefix, **names)
            inserts += self._insert.format(n=n, of=region)
        create(self._servers, [f"{run}-{n}" for n in range(len(regions))])
        script = f"{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"
        job = BoundedRun(self.spark, script, self._folder / run)
        begun = time.monotonic()
        job({"table.optimizer.reuse-source-enabled": str(reuse).lower()})
        return time.monotonic() - begun


def _records(count: int, regions: int) -> Iterator[Record]:
    for i in range(count):
        value = f'{{"id": {i}, "region": {i % regions}, "amount": {i % 977}.5, "note": "n-{i}"}}'
        yield _TOPIC, None, value.encode()


def _spark() -> SparkSession:
    settings = SessionSettings()
    settings.set("parallelism.default", Given("2"))
    return start_spark(settings.current(), "local[2]")


if __name__ == "__main__":
    main()
