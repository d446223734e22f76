"""Random changes of several connections while a job copies tables, is killed and restarted."""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pymysql
import pytest
from tests.integration.ingest.test_commands import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.integration.ingest.support import Shop

pytestmark = pytest.mark.usefixtures("spark")

ROWS = 1_500
DEADLOCK = 1213
#: The first message of a job, and the message when its snapshot is complete.
IN_SNAPSHOT, IN_BINLOG = "running", "binlog: "


def create(shop: Shop) -> None:
    """Create a table with a key of two columns, and a table that later gets more columns."""
    shop.sql(
        "CREATE TABLE pairs (a INT, b VARCHAR(10), n BIGINT UNSIGNED, t TEXT, PRIMARY KEY (b, a))",
        "CREATE TABLE orders (id INT PRIMARY KEY, who VARCHAR(20), amount DECIMAL(10,2))",
        f"INSERT INTO pairs SELECT seq, CONCAT('k', seq % 7), seq, 'text' FROM seq_1_to_{ROWS}",
        f"INSERT INTO orders SELECT seq * 2, CONCAT('n', seq), seq / 4 FROM seq_1_to_{ROWS}",
    )


def change(shop: Shop, seed: int, stop: threading.Event, pause: float) -> None:
    """Insert, update and delete rows and change keys, and roll some transactions back."""
    source = random.Random(seed)
    while not stop.is_set():
        try:
            change_by_one_connection(shop, source, stop, pause)
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError):  # the server is down
            time.sleep(0.2)


def change_by_one_connection(
    shop: Shop, source: random.Random, stop: threading.Event, pause: float
) -> None:
    connection = shop.server.connect(shop.database)
    connection.autocommit(False)
    key = lambda: source.randrange(2 * ROWS)  # noqa: E731
    while not stop.is_set():
        with connection.cursor() as cursor:
            for _ in range(source.randrange(1, 6)):
                statement = source.choice(
                    [
                        f"REPLACE INTO orders (id, who) VALUES ({key()}, 'new{key()}')",
                        f"UPDATE orders SET amount = {key()} / 8 WHERE id = {key()}",
                        f"DELETE FROM orders WHERE id = {key()}",
                        f"UPDATE IGNORE orders SET id = {key()} WHERE id = {key()}",
                        f"UPDATE IGNORE pairs SET a = {key()}, n = n + 1 WHERE a = {key()}",
                        f"UPDATE pairs SET t = 'changed ''{key()}' WHERE a < {key() % 50}",
                        f"DELETE FROM pairs WHERE a = {key()}",
                        f"INSERT IGNORE INTO pairs VALUES ({key()}, 'kü', {key()}, NULL)",
                    ]
                )
                try:
                    cursor.execute(statement)
                except pymysql.err.OperationalError as error:
                    if error.args[0] != DEADLOCK:
                        raise
                    break  # the server has rolled the transaction back
        if source.random() < 0.1:
            connection.rollback()
        else:
            connection.commit()
        time.sleep(pause)
    connection.close()


@contextmanager
def changing(shop: Shop, seed: int, pause: float) -> Iterator[None]:
    stop = threading.Event()
    threads = [
        threading.Thread(target=change, args=(shop, seed + i, stop, pause)) for i in range(2)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def crash(shop: Shop, source: random.Random) -> None:
    """Kill the server with `kill -9`, and start it up to five seconds later."""
    shop.server.kill()
    time.sleep(source.uniform(0, 5))
    shop.server.start()


def change_columns(shop: Shop, number: int) -> None:
    """Give a column another type; rename and drop columns that earlier rounds have added."""
    kind = "DECIMAL(30, 0)" if number % 2 == 0 else "BIGINT UNSIGNED"
    shop.sql(f"ALTER TABLE pairs MODIFY n {kind}")
    if number >= 1:
        shop.sql(f"ALTER TABLE orders RENAME COLUMN added{number - 1} TO added_old{number - 1}")
    if number >= 2:
        shop.sql(f"ALTER TABLE orders DROP COLUMN added_old{number - 2}")


def workload(shop: Shop, seed: int, kills: Sequence[str], pause: float = 0.005) -> None:
    """Change tables while the job and the server are killed, and then check the topics.

    Each kill follows some seconds after a message of the job.

    Args:
        shop: the database and its job.
        seed: seed of the changes and of the waiting times.
        kills: the message of the job before each kill.
        pause: seconds between two transactions of a connection.
    """
    source = random.Random(seed)
    create(shop)
    with changing(shop, seed, pause):
        for number, said in enumerate(kills):
            job = shop.start()
            job.wait_for(said)
            time.sleep(source.uniform(0.5, 5))
            if early := source.random() < 0.5:
                crash(shop, source)
            shop.sql(
                f"ALTER TABLE orders ADD COLUMN added{number} INT DEFAULT {number}",
                f"CREATE TABLE late{number} (id INT PRIMARY KEY, t TIME)",
                f"INSERT INTO late{number} VALUES (1, '10:00:00'), (2, NULL)",
                f"UPDATE late{number} SET id = 3 WHERE id = 1",
            )
            change_columns(shop, number)
            if said == IN_BINLOG:
                shop.sql("TRUNCATE TABLE pairs", "INSERT INTO pairs VALUES (1, 'k', 1, 'after')")
            if not early:
                crash(shop, source)
            time.sleep(source.uniform(0.5, 5))
            job.kill()
    run(shop)
    shop.check_copied("orders", "id")
    shop.check_copied("pairs", "b", "a")
    for number in range(len(kills)):
        shop.check_copied(f"late{number}", "id")


@pytest.mark.parametrize(
    ("kills", "pause"),
    [
        pytest.param((IN_BINLOG,), 0.05, id="in the binlog"),
        pytest.param((IN_SNAPSHOT, IN_BINLOG), 0.005, marks=pytest.mark.soak, id="in both"),
    ],
)
def test_a_job_that_is_killed_copies_every_change(
    shop: Shop, kills: Sequence[str], pause: float
) -> None:
    shop.write_job(sink="  sink.delivery-guarantee: exactly-once\n")
    workload(shop, 7, kills, pause)


@pytest.mark.soak
@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
@pytest.mark.parametrize("seed", range(3))
def test_a_job_that_is_killed_often(shop: Shop, guarantee: str, seed: int) -> None:
    shop.write_job(sink=f"  sink.delivery-guarantee: {guarantee}\n")
    workload(shop, seed, (IN_SNAPSHOT, *[IN_BINLOG] * 7))
