"""Each fault of a server is reported with its fix. The tests have a server of their own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.integration.mysql.tables import read_to_end
from tests.mariadb import PASSWORD, USER, MariaDb

from streamtable.connectors.mysql_cdc.reader import (
    MySqlSettings,
    Offset,
    Planner,
    SourceSpec,
    Startup,
    StartupMode,
    check,
    parts,
    read,
)
from streamtable.connectors.mysql_cdc.reader.connect import connect
from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from pathlib import Path


_WRONG = "wr0ng-one"
_PERIOD = (
    ", f TIMESTAMP(6) GENERATED ALWAYS AS ROW START, t TIMESTAMP(6) GENERATED ALWAYS AS ROW END,"
    " PERIOD FOR SYSTEM_TIME (f, t)"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    with MariaDb(tmp_path_factory.mktemp("own")) as running:
        running.run(
            "CREATE DATABASE shop CHARACTER SET utf8mb4",
            "CREATE TABLE shop.orders (id INT PRIMARY KEY, n INT)",
        )
        yield running


@pytest.fixture
def spec(server: MariaDb) -> SourceSpec:
    settings = MySqlSettings("127.0.0.1", USER, PASSWORD, port=server.port, connect_max_retries=0)
    return SourceSpec(settings, (r"shop\.orders",))


def _refused(ask: Callable[[], object]) -> StreamtableError:
    with pytest.raises(StreamtableError) as refused:
        ask()
    assert "\n" not in str(refused.value)
    assert PASSWORD not in str(refused.value)
    return refused.value


@pytest.mark.parametrize(
    ("name", "value", "good"),
    [
        ("binlog_format", "'MIXED'", "'ROW'"),
        ("binlog_row_image", "'MINIMAL'", "'FULL'"),
        ("binlog_row_metadata", "'MINIMAL'", "'FULL'"),
        ("log_bin_compress", "ON", "OFF"),
    ],
)
def test_wrong_server_settings_are_refused(
    server: MariaDb, spec: SourceSpec, name: str, value: str, good: str
) -> None:
    server.run(f"SET GLOBAL {name} = {value}")
    try:
        error = _refused(lambda: check(spec))
    finally:
        server.run(f"SET GLOBAL {name} = {good}")
    assert error.condition is Condition.DATABASE_NOT_READY
    assert f"SET GLOBAL {name}" in str(error)
    assert check(spec).tables[0].primary_key == ("id",)


def test_sql_modes_of_the_server_change_nothing(server: MariaDb, spec: SourceSpec) -> None:
    server.run(
        "CREATE TABLE shop.of_modes (id INT PRIMARY KEY, text CHAR(9))",
        "INSERT INTO shop.of_modes VALUES (1, 'a')",
    )
    modes = "NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES"
    server.run(f"SET GLOBAL sql_mode = '{modes}'")
    wanted = replace(spec, patterns=(r"shop\.of_modes",))
    try:
        tables = check(wanted).tables
        _, folded = read_to_end(wanted)
    finally:
        server.run("SET GLOBAL sql_mode = DEFAULT")
    assert [table.id.table for table in tables] == ["of_modes"]
    assert list(folded.rows.values()) == [{"id": 1, "text": "a"}]


def test_logins_and_grants(server: MariaDb, spec: SourceSpec) -> None:
    wrong = replace(spec, settings=replace(spec.settings, password=_WRONG))
    error = _refused(lambda: check(wrong))
    assert error.condition is Condition.DATABASE_LOGIN_FAILED
    assert "wr0ng" not in str(error)
    nobody = replace(spec, settings=replace(spec.settings, port=_closed_port()))
    assert _refused(lambda: check(nobody)).condition is Condition.DATABASE_UNREACHABLE
    for grant in ("REPLICATION SLAVE", "REPLICATION CLIENT"):
        server.run(f"REVOKE {grant} ON *.* FROM {USER}@'%'")
        try:
            error = _refused(lambda: check(spec))
        finally:
            server.run(f"GRANT {grant} ON *.* TO {USER}@'%'")
        assert error.condition is Condition.DATABASE_REFUSED
        assert "GRANT SELECT" in str(error)


def test_connections_have_tcp_keepalive(spec: SourceSpec) -> None:
    opened = connect(spec.settings)
    probes = [
        opened._sock.getsockopt(socket.IPPROTO_TCP, option)
        for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
    ]
    opened.close()
    assert probes == [10, 5, 4]


def test_server_id_and_time_zone_are_checked(spec: SourceSpec) -> None:
    def with_settings(**changes: object) -> SourceSpec:
        return replace(spec, settings=replace(spec.settings, **changes))  # type: ignore[arg-type]

    error = _refused(lambda: check(with_settings(server_ids=(1, 3))))
    assert "server-id 1 is that of the server itself" in str(error)
    error = _refused(lambda: check(with_settings(server_time_zone="Asia/Kathmandu")))
    assert "server-time-zone" in str(error)
    assert check(with_settings(server_time_zone="UTC")).zone == "UTC"


def test_tables_that_cannot_be_read(server: MariaDb, spec: SourceSpec) -> None:
    server.run(
        "CREATE TABLE shop.keyless (a INT)",
        "CREATE TABLE shop.sevens (id INT PRIMARY KEY, c VARCHAR(9) CHARACTER SET swe7)",
        "CREATE TABLE shop.uuids (id UUID PRIMARY KEY)",
        "CREATE TABLE shop.parents (id INT PRIMARY KEY)",
        "CREATE TABLE shop.children (id INT PRIMARY KEY, p INT,"
        " CONSTRAINT of_parent FOREIGN KEY (p) REFERENCES shop.parents (id) ON DELETE CASCADE)",
    )
    for table, words in (("keyless", "primary key"), ("sevens", "swe7"), ("uuids", "UUID")):
        error = _refused(lambda t=table: check(replace(spec, patterns=(rf"shop\.{t}",))))
        assert error.condition is Condition.TABLE_UNREADABLE
        assert words in str(error)
    later = replace(spec, patterns=(r"shop\.keyless",), startup=Startup(StartupMode.LATEST))
    assert check(later).tables
    (notice,) = check(replace(spec, patterns=(r"shop\.children",))).notices
    assert "of_parent" in notice


def test_sequences_are_no_tables(server: MariaDb, spec: SourceSpec) -> None:
    every = replace(spec, patterns=(r"counted\..*",))
    server.run("CREATE DATABASE counted", "CREATE TABLE counted.a (id INT PRIMARY KEY)")
    at, _ = read_to_end(every)
    server.run(
        "CREATE SEQUENCE counted.seq",
        "SELECT NEXTVAL(counted.seq)",
        "INSERT INTO counted.a VALUES (1)",
    )
    _, folded = read_to_end(every, at)
    assert {table.table for table, _ in folded.rows} == {"a"}
    assert not folded.schema_changes
    assert [table.id.table for table in check(every).tables] == ["a"]


@pytest.mark.parametrize(
    ("columns", "later"),
    [
        ("", "SELECT 1"),
        ("", "ALTER TABLE history.a DROP SYSTEM VERSIONING"),
        (_PERIOD, "SELECT 1"),
    ],
)
def test_system_versioned_tables_are_refused(
    server: MariaDb, spec: SourceSpec, columns: str, later: str
) -> None:
    every = replace(spec, patterns=(r"history\..*",))
    server.run("CREATE OR REPLACE DATABASE history")
    at, _ = read_to_end(every)
    server.run(
        f"CREATE TABLE history.a (id INT PRIMARY KEY, n INT{columns}) WITH SYSTEM VERSIONING",
        "INSERT INTO history.a (id, n) VALUES (1, 1)",
    )
    refused = [_refused(lambda: check(every))]
    server.run(later)
    refused.append(_refused(lambda: read_to_end(every, at)))
    for error in refused:
        assert error.condition is Condition.TABLE_UNREADABLE
        assert "history.a cannot be read: " in str(error)
        assert "system-versioned" in str(error)
    excluded = replace(every, excluded=(r"history\.a",))
    assert not check(excluded).tables


def test_columns_that_are_left_out_are_neither_checked_nor_read(
    server: MariaDb, spec: SourceSpec
) -> None:
    server.run(
        "CREATE TABLE shop.wide (id INT PRIMARY KEY, u UUID, s VARCHAR(9) CHARACTER SET swe7,"
        " e ENUM('a', 'ä') CHARACTER SET swe7, p POINT, n INT)",
        "INSERT INTO shop.wide VALUES (1, UUID(), 'a', 'a', POINT(1, 2), 5)",
        "INSERT INTO shop.wide VALUES (2, NULL, '', 1, NULL, 6)",
    )
    every = replace(spec, patterns=(r"shop\.wide",))
    few = replace(every, columns=lambda _, column: column in ("n", "added"))
    assert check(few).tables
    at, folded = read_to_end(few)
    server.run(
        "UPDATE shop.wide SET n = 7 WHERE id = 1",
        "ALTER TABLE shop.wide ADD i INET6 DEFAULT '::1' AFTER id, ADD added INT",
        "INSERT INTO shop.wide (id, u, s, n, added) VALUES (3, UUID(), 'b', 8, 9)",
    )
    end, folded = read_to_end(few, at, folded)
    assert [(r["id"], r["n"], r.get("added")) for r in folded.rows.values()] == [
        (2, 6, None),
        (1, 7, None),
        (3, 8, 9),
    ]
    assert {row.get(name) for row in folded.rows.values() for name in "iusep"} == {None}
    most = replace(every, columns=lambda _, column: column not in ("u", "s", "e"))
    error = _refused(lambda: [list(read(most, part)) for part in parts(at, end)])
    assert error.condition is Condition.TABLE_UNREADABLE
    assert "shop.wide" in str(error)
    assert "column i is INET6, which has no SQL type" in str(error)


def test_binlog_events_of_unsupported_settings_are_refused(
    server: MariaDb, spec: SourceSpec
) -> None:
    latest = replace(spec, startup=Startup(StartupMode.LATEST))
    statements = {
        "SET GLOBAL binlog_row_metadata = 'NO_LOG'": "binlog_row_metadata",
        "SET SESSION binlog_format = 'STATEMENT'": "binlog_format",
        "SET SESSION binlog_row_image = 'MINIMAL'": "binlog_row_image",
    }
    for number, (setting, words) in enumerate(statements.items()):
        with Planner(latest) as planner:
            start = planner.initial()
            server.run(
                f"INSERT INTO shop.orders VALUES ({number}, 1)",
                setting,
                "FLUSH TABLES",
                f"UPDATE shop.orders SET n = 2 WHERE id = {number}",
            )
            server.run("SET GLOBAL binlog_row_metadata = 'FULL'")
            end = planner.next(start)
            given = parts(start, end)
            error = _refused(lambda g=given: [list(read(latest, part)) for part in g])
        assert words in str(error)
        assert "binlog." in str(error)


def test_a_purged_position_is_reported_as_data_loss(server: MariaDb, spec: SourceSpec) -> None:
    start, _ = read_to_end(spec)
    server.run("FLUSH BINARY LOGS")
    newest = server.run("SHOW MASTER STATUS")[0][0]
    for _ in range(100):  # the server keeps a file whose reader has only just disconnected
        server.run(f"PURGE BINARY LOGS TO '{newest}'")
        if start.position.file not in {row[0] for row in server.run("SHOW BINARY LOGS")}:
            break
        time.sleep(0.1)
    with Planner(spec) as planner:
        error = _refused(lambda: planner.next(start))
    assert error.condition is Condition.DATA_LOST
    assert start.position.file in str(error)
    gone = Startup(StartupMode.SPECIFIC, file=start.position.file, pos=4)
    with Planner(replace(spec, startup=gone)) as planner:
        assert _refused(planner.initial).condition is Condition.DATA_LOST


def test_tables_added_to_the_pattern_of_a_checkpoint(server: MariaDb, spec: SourceSpec) -> None:
    server.run(
        "CREATE TABLE shop.others (id INT PRIMARY KEY)", "INSERT INTO shop.others VALUES (1), (2)"
    )
    start, _ = read_to_end(spec)
    server.run("INSERT INTO shop.others VALUES (3)", "REPLACE INTO shop.orders VALUES (77, 7)")
    both = replace(spec, patterns=(r"shop\.(orders|others)",))
    with Planner(both) as planner:
        assert "newly-added" in str(_refused(lambda: planner.next(start)))
    _, folded = read_to_end(replace(both, snapshot_new_tables=True), _kept(start))
    ids = {(table.table, row["id"]) for (table, _), row in folded.rows.items()}
    assert {("others", 1), ("others", 2), ("others", 3), ("orders", 77)} <= ids


def _kept(offset: Offset) -> Offset:
    return Offset.from_json(offset.to_json())


def test_a_server_that_crashes_between_batches(tmp_path: Path) -> None:
    """A reader continues at the same position after the server crashed and was unreachable."""
    with MariaDb(tmp_path, {"sync_binlog": "1"}) as own:
        own.run(
            "CREATE DATABASE shop",
            "CREATE TABLE shop.orders (id INT PRIMARY KEY, n INT)",
            "INSERT INTO shop.orders VALUES (1, 1), (2, 2)",
        )
        settings = MySqlSettings("127.0.0.1", USER, PASSWORD, port=own.port)
        spec = SourceSpec(settings, (r"shop\.orders",))
        start, folded = read_to_end(spec)
        own.run("UPDATE shop.orders SET n = 5 WHERE id = 1")
        own.kill()
        never = replace(spec, settings=replace(settings, connect_max_retries=0))
        refused = _refused(lambda: Planner(never).behind(start))
        assert refused.condition is Condition.DATABASE_UNREACHABLE
        again = threading.Timer(1.5, own.start)  # the reader retries each second
        again.start()
        patient = replace(spec, settings=replace(settings, connect_max_retries=60))
        try:
            with Planner(patient) as planner:
                planner.stop_at_end()
        finally:
            again.join()
        own.run("DELETE FROM shop.orders WHERE id = 2")
        _, more = read_to_end(spec, start, folded)
        assert list(more.rows.values()) == [{"id": 1, "n": 5}]


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
