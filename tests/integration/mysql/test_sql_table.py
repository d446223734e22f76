"""SQL jobs that read `mysql-cdc` tables and write topics of Kafka."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.mariadb import PASSWORD, USER

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.mariadb import MariaDb

    from streamtable.devbroker.broker import Broker


def _source(mariadb: MariaDb, database: str, table: str, columns: str, options: str = "") -> str:
    return (
        f"CREATE TABLE {table} ({columns}) WITH ('connector' = 'mysql-cdc', 'hostname' ="
        f" '127.0.0.1', 'port' = '{mariadb.port}', 'username' = '{USER}', 'password' ="
        f" '{PASSWORD}', 'database-name' = '{database}', 'table-name' = '{table}',"
        f" 'scan.incremental.snapshot.chunk.size' = '50'{options});\n"
    )


def _sink(broker: Broker, topic: str, columns: str, options: str = "") -> str:
    return (
        f"CREATE TABLE result ({columns}) WITH ('connector' = 'upsert-kafka', 'topic' = '{topic}',"
        f" 'properties.bootstrap.servers' = '{broker.bootstrap_servers}', 'key.format' = 'json',"
        f" 'value.format' = 'json'{options});\n"
    )


def _command(script: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "streamtable", "run", str(script), *more]


def _run(script: Path, *more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        _command(script, *more), capture_output=True, text=True, timeout=300, check=False
    )
    assert PASSWORD not in done.stdout + done.stderr
    return done


def _folded(broker: Broker, topic: str) -> dict[str, dict[str, object]]:
    """Return the last value of each key, from committed records."""
    found: dict[str, dict[str, object]] = {}
    for record in records(broker.bootstrap_servers, topic):
        key = record.key().decode()
        if record.value() is None:
            found.pop(key, None)
        else:
            found[key] = json.loads(record.value())
    return found


def test_a_join_and_an_aggregate_continue_from_a_checkpoint(
    mariadb: MariaDb,
    database: str,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    spark: SparkSession,
) -> None:
    """A join and an aggregate of two tables follow changes, also of keys, between two runs."""
    mariadb.run(
        f"USE {database}",
        "CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(20), vip TINYINT(1))",
        "INSERT INTO customers VALUES (1, 'Ada', 1), (2, 'Bob', 0), (3, 'Cleo', 0)",
        "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, customer INT, n INT, at DATETIME(3))",
        "INSERT INTO orders SELECT seq, 1 + seq % 3, seq, '2024-01-01 10:00:00.5'"
        " FROM seq_1_to_300",
    )
    result = topic("totals")
    customers = "id INT, name STRING, vip BOOLEAN, PRIMARY KEY (id) NOT ENFORCED"
    orders = (
        "id DECIMAL(20, 0), customer INT, n INT, `at` TIMESTAMP(3),"
        " kind STRING METADATA FROM 'row_kind' VIRTUAL, PRIMARY KEY (id) NOT ENFORCED"
    )
    script = (
        "SET 'parallelism.default' = '2';\n"
        + _source(mariadb, database, "customers", customers)
        + _source(mariadb, database, "orders", orders)
        + _sink(
            broker,
            result,
            "name STRING, vip BOOLEAN, orders BIGINT, total INT, PRIMARY KEY (name) NOT ENFORCED",
        )
        + "INSERT INTO result SELECT c.name, c.vip, COUNT(*), SUM(o.n) FROM orders o"
        " JOIN customers c ON o.customer = c.id GROUP BY c.name, c.vip;\n"
    )
    job = BoundedRun(spark, script, tmp_path / "checkpoint")
    job()
    assert _totals(_folded(broker, result)) == _expected(mariadb, database)

    mariadb.run(
        f"USE {database}",
        "UPDATE orders SET n = n + 1 WHERE id % 5 = 0",
        "DELETE FROM orders WHERE id % 7 = 0",
        "UPDATE orders SET id = id + 1000, customer = 2 WHERE id % 11 = 0",
        "INSERT INTO customers VALUES (4, 'Dan', 1)",
        "UPDATE customers SET name = 'Eve' WHERE id = 3",
        "INSERT INTO orders VALUES (5000, 4, 7, NULL)",
    )
    job()
    assert _totals(_folded(broker, result)) == _expected(mariadb, database)
    kept = "".join(
        path.read_text(errors="replace")
        for path in (tmp_path / "checkpoint").rglob("*")
        if path.is_file()
    )
    assert "binlog." in kept
    assert PASSWORD not in kept


def _totals(found: dict[str, dict[str, object]]) -> set[tuple[object, ...]]:
    return {(row["name"], row["vip"], row["orders"], row["total"]) for row in found.values()}


def _expected(mariadb: MariaDb, database: str) -> set[tuple[object, ...]]:
    rows = mariadb.run(
        f"USE {database}",
        "SELECT name, vip, COUNT(*), SUM(n) FROM orders JOIN customers c ON customer = c.id"
        " GROUP BY name, vip",
    )
    return {(name, bool(vip), count, int(total)) for name, vip, count, total in rows}


@pytest.mark.parametrize(
    "guarantee", [pytest.param("at-least-once", marks=pytest.mark.soak), "exactly-once"]
)
def test_a_killed_copy_continues(
    mariadb: MariaDb, database: str, broker: Broker, topic: Topics, tmp_path: Path, guarantee: str
) -> None:
    """The topic equals the table after `kill -9` in the snapshot, and in a soak test also later."""
    mariadb.run(
        f"CREATE TABLE {database}.items (id INT PRIMARY KEY, word VARCHAR(20), n INT)",
        f"INSERT INTO {database}.items SELECT seq, 'a', seq FROM {database}.seq_1_to_2000",
    )
    result = topic("items", partitions=2)
    prefix = f", 'sink.transactional-id-prefix' = '{result}'"
    once = f", 'sink.delivery-guarantee' = '{guarantee}'{prefix}"
    columns = "id INT, word STRING, n INT, PRIMARY KEY (id) NOT ENFORCED"
    script = tmp_path / "job.sql"
    script.write_text(
        "SET 'parallelism.default' = '2';\nSET 'execution.micro-batch.max-records' = '200';\n"
        + _source(mariadb, database, "items", columns, ", 'server-id' = '7100-7103'")
        + _sink(broker, result, columns, once if guarantee == "exactly-once" else "")
        + "INSERT INTO result SELECT id, word, n FROM items;\n"
    )
    checkpoint = tmp_path / "checkpoint"
    commits = checkpoint / "result" / "commits"
    number = 0
    for least in (3,) if guarantee == "exactly-once" else (2, 10, 20):
        job = subprocess.Popen(
            _command(script, "--checkpoint", str(checkpoint)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until = time.monotonic() + 300  # long enough for a busy machine
        while time.monotonic() < until and _committed(commits) < least:
            number += 1
            mariadb.run(
                f"UPDATE {database}.items SET n = n + 1, word = 'u{number}'"
                f" WHERE id % 97 = {number % 97}",
                f"INSERT INTO {database}.items VALUES ({10_000 + number}, 'i', 0)",
                f"DELETE FROM {database}.items WHERE id = {number * 3}",
                f"UPDATE {database}.items SET id = {20_000 + number} WHERE id = {number * 3 + 1}",
            )
            time.sleep(0.02)
        assert _committed(commits) >= least
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    done = _run(script, "--bounded", "--checkpoint", str(checkpoint))
    assert done.returncode == 0, done.stderr
    rows = mariadb.run(f"SELECT id, word, n FROM {database}.items")
    found = _folded(broker, result)
    assert {(r["id"], r["word"], r["n"]) for r in found.values()} == set(rows)


def _committed(commits: Path) -> int:
    """Return the number of the newest committed batch, or -1."""
    if not commits.is_dir():
        return -1
    return max((int(p.name) for p in commits.iterdir() if p.name.isdigit()), default=-1)
