"""Tables of `mysql.py`, and the rows that are written to them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.engines.mysql_sides import DATABASE

if TYPE_CHECKING:
    from tests.mariadb import MariaDb

TABLES = ("orders", "items")
_COLUMNS = (
    "id BIGINT PRIMARY KEY, customer VARCHAR(40) NOT NULL, region VARCHAR(20),"
    " amount DECIMAL(10, 2), quantity INT, at DATETIME(3)"
)
_ROW = (
    "seq, CONCAT('customer ', seq % 10007), ELT(1 + seq % 3, 'Europe', 'Asia', 'Africa'),"
    " seq % 100000 / 100, seq % 17, '2026-01-02 03:04:05.678'"
)
_TRANSACTION = 1_000
#: Transactions per second of `commit_at`.
_COMMITS = 100


class Committed(NamedTuple):
    """A row that was committed.

    Attributes:
        key: the key of its record.
        at_ms: the time just before its COMMIT, in epoch milliseconds.
    """

    table: str
    key: bytes
    at_ms: float


def fill(server: MariaDb, rows: int) -> None:
    """Create the tables with that many rows each."""
    for table in TABLES:
        server.run(f"CREATE TABLE {DATABASE}.{table} ({_COLUMNS})")
    _insert(server, 1, rows)


def insert(server: MariaDb, rows: int) -> None:
    """Insert that many further rows into each table."""
    _insert(server, rows + 1, 2 * rows)


def _insert(server: MariaDb, first: int, last: int) -> None:
    connection = server.connect(DATABASE)
    with connection.cursor() as cursor:
        for low in range(first, last + 1, _TRANSACTION):
            numbers = f"seq_{low}_to_{min(last, low + _TRANSACTION - 1)}"
            for table in TABLES:
                cursor.execute(f"INSERT INTO {table} SELECT {_ROW} FROM {numbers}")
    connection.close()


def commit_at(server: MariaDb, rate: int, seconds: float) -> list[Committed]:
    """Commit rows at a constant rate, in 100 transactions per second; return the rows."""
    connection = server.connect(DATABASE)
    connection.autocommit(False)
    size = max(1, rate // _COMMITS)
    found: list[Committed] = []
    begun, transactions = time.monotonic(), 0
    number = 1 << 40
    with connection.cursor() as cursor:
        while (elapsed := time.monotonic() - begun) < seconds:
            table = TABLES[transactions % len(TABLES)]
            numbers = f"seq_{number}_to_{number + size - 1}"
            cursor.execute(f"INSERT INTO {table} SELECT {_ROW} FROM {numbers}")
            at_ms = time.time_ns() / 1e6
            connection.commit()
            found += [
                Committed(table, b'{"id":%d}' % i, at_ms) for i in range(number, number + size)
            ]
            number += size
            transactions += 1
            time.sleep(max(0.0, transactions * size / rate - elapsed))
    connection.close()
    return found
