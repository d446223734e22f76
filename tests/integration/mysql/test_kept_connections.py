"""Connections that a planner keeps between batches."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from tests.integration.mysql.tables import Folded, read_to_end, same, stored
from tests.mariadb import PASSWORD, USER, MariaDb

from streamtable.connectors.mysql_cdc.reader import (
    Change,
    MySqlSettings,
    Offset,
    Planner,
    ReadPart,
    SchemaChange,
    SourceSpec,
    TableId,
    read,
)
from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Shop:
    """A table, a planner that reads it, and the changes of its batches."""

    def __init__(self, server: MariaDb, database: str, settings: MySqlSettings) -> None:
        self.server = server
        self.table = TableId(database, "orders")
        server.run(f"CREATE TABLE {database}.orders (id INT PRIMARY KEY, item VARCHAR(20))")
        self.spec = SourceSpec(settings, (rf"{database}\..*",), poll_seconds=0.01)
        self.at, self.folded = read_to_end(self.spec)
        self.planner = Planner(self.spec)
        self.given: list[Change | SchemaChange] = []
        self.carried = 0

    def sql(self, *statements: str) -> None:
        self.server.run(f"USE {self.table.database}", *statements)

    def batch(self) -> None:
        """Plan and read one batch, which ends at the end of the binlog."""
        until = time.monotonic() + 30
        while (end := self.planner.next(self.at)) == self.at:
            assert time.monotonic() < until
        self.planner.changes(self.at, end)
        for part in self.planner.parts(self.at, end):
            self.carried += isinstance(part, ReadPart)
            found = list(read(self.spec, part))
            self.given += found
            self.folded.take(found)
        self.at = end

    def connections(self) -> dict[int, str]:
        """Return the command of each connection of the reader, by connection id."""
        query = f"SELECT id, command FROM information_schema.processlist WHERE user = '{USER}'"
        return dict(self.server.run(query))

    def streams(self) -> set[int]:
        return {k for k, command in self.connections().items() if command == "Binlog Dump"}

    def closes_all(self) -> bool:
        """Return whether all connections of the reader end soon."""
        until = time.monotonic() + 20
        while self.connections() and time.monotonic() < until:
            time.sleep(0.1)
        return not self.connections()

    def check(self) -> None:
        """Check that the changes result in the table, and that each change was read once."""
        assert same(self.folded.of(self.table), stored(self.server, self.table))
        places = [change.ordinal for change in self.given]
        assert places == sorted(set(places))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """Start a server that only these tests connect to."""
    with MariaDb(tmp_path_factory.mktemp("kept")) as running:
        yield running


@pytest.fixture
def shop(server: MariaDb) -> Iterator[Shop]:
    """Create a shop without rows."""
    server.run("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop")
    made = Shop(server, "shop", MySqlSettings("127.0.0.1", USER, PASSWORD, port=server.port))
    yield made
    made.planner.close()


def test_batches_use_the_same_connections(shop: Shop) -> None:
    shop.sql("INSERT INTO orders VALUES (0, 'a')")
    shop.batch()
    kept = shop.connections()
    assert len(shop.streams()) == 1
    opened = int(shop.server.run("SHOW GLOBAL STATUS LIKE 'Connections'")[0][1])
    for i in range(1, 30):
        shop.sql(f"INSERT INTO orders VALUES ({i}, 'a')")
        if i % 10 == 0:
            shop.sql(f"CREATE TABLE t{i} (id INT PRIMARY KEY)", f"INSERT INTO t{i} VALUES (1)")
        shop.batch()
    now = int(shop.server.run("SHOW GLOBAL STATUS LIKE 'Connections'")[0][1])
    assert now - opened == 29 + 2 + 1, "one for each call of `sql`, and the last question"
    assert shop.connections().keys() == kept.keys()
    assert shop.carried == 30
    shop.check()
    shop.planner.close()
    assert shop.closes_all()


def test_reads_continue_after_binlog_rotation(shop: Shop) -> None:
    for i in range(12):
        shop.sql(f"INSERT INTO orders VALUES ({i}, 'a')")
        if i % 3 == 0:
            shop.sql("FLUSH BINARY LOGS")
        if i % 4 == 1:
            shop.sql(f"UPDATE orders SET item = 'b' WHERE id = {i}")
        shop.batch()
    shop.check()
    assert shop.carried == 12


@pytest.mark.parametrize("which", ["stream", "every connection"])
def test_reads_continue_after_killed_connections(shop: Shop, which: str) -> None:
    for i in range(8):
        shop.sql(f"INSERT INTO orders VALUES ({i}, 'a')")
        shop.batch()
        if i % 2:
            ids = shop.streams() if which == "stream" else shop.connections()
            assert ids
            shop.server.run(*(f"KILL {number}" for number in ids))
    shop.sql("DELETE FROM orders WHERE id = 3")
    shop.batch()
    shop.check()
    assert shop.carried == 9


def test_reads_continue_after_a_server_crash(shop: Shop) -> None:
    """Reads continue after a crash. The server then gives its table numbers to other tables."""
    shop.sql("CREATE TABLE others (id INT PRIMARY KEY)")
    for i in range(3):
        shop.sql(f"INSERT INTO orders VALUES ({i}, 'a')", f"INSERT INTO others VALUES ({i})")
        shop.batch()
        shop.server.kill()
        shop.server.start()
        shop.sql(f"INSERT INTO others VALUES ({100 + i})")
        shop.sql(f"UPDATE orders SET item = 'b' WHERE id = {i}")
        shop.batch()
    shop.check()
    others = TableId(shop.table.database, "others")
    assert {row["id"] for row in shop.folded.of(others)} == {0, 1, 2, 100, 101, 102}


def test_a_batch_planned_again_from_an_earlier_offset(shop: Shop) -> None:
    """A batch that is planned again from an earlier offset returns the same changes."""
    shop.sql("INSERT INTO orders VALUES (1, 'a')")
    earlier = Offset.from_json(shop.at.to_json())
    shop.batch()
    shop.sql("INSERT INTO orders VALUES (2, 'b')")
    shop.batch()
    first, shop.given, shop.at, shop.folded = shop.given, [], earlier, Folded()
    shop.batch()
    assert [(c.kind, c.after) for c in shop.given] == [(c.kind, c.after) for c in first]
    assert len(shop.given) == 2


def test_a_large_batch_is_read_by_tasks(shop: Shop) -> None:
    shop.sql("INSERT INTO orders VALUES (0, 'a')")
    shop.batch()
    assert shop.carried == 1
    shop.sql("INSERT INTO orders SELECT seq, REPEAT('x', 20) FROM seq_1_to_50000")
    shop.batch()
    assert shop.carried == 1
    shop.sql("ALTER TABLE orders DROP PRIMARY KEY, ADD PRIMARY KEY (id, item)")
    shop.sql("INSERT INTO orders VALUES (0, 'b')")
    shop.batch()
    assert shop.carried == 2
    assert isinstance(shop.given[-1], Change)
    assert shop.given[-1].table.primary_key == ("id", "item")


def test_a_revoked_grant_is_reported(shop: Shop) -> None:
    shop.sql("INSERT INTO orders VALUES (0, 'a')")
    shop.batch()
    shop.server.run(f"REVOKE REPLICATION SLAVE ON *.* FROM {USER}@'%'")
    shop.sql("INSERT INTO orders VALUES (1, 'a')")
    with pytest.raises(StreamtableError) as refused:
        shop.batch()
    assert refused.value.condition is Condition.DATABASE_REFUSED
    shop.server.run(f"GRANT REPLICATION SLAVE ON *.* TO {USER}@'%'")
    shop.batch()
    shop.check()
    shop.planner.close()
    assert shop.closes_all(), "the connection that was no stream, too"


def test_a_single_server_id(shop: Shop) -> None:
    """Tasks and planner share the id. A stream that stays open does not disturb them."""
    settings = shop.spec.settings
    shop.planner.close()
    shop.spec = SourceSpec(
        MySqlSettings(
            settings.hostname, settings.username, settings.password, settings.port, (7100, 7100)
        ),
        shop.spec.patterns,
        poll_seconds=0.01,
    )
    shop.planner = Planner(shop.spec)
    for i in range(6):
        shop.sql(f"INSERT INTO orders VALUES ({i}, 'a')")
        if i % 2:
            numbers = f"seq_{i}00000_to_{i}39999"
            shop.sql(f"INSERT INTO orders SELECT seq, REPEAT('b', 20) FROM {numbers}")
        shop.batch()
    assert shop.carried == 3
    shop.check()
