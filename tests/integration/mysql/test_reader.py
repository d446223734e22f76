"""Snapshot and binlog together: positions, DDL, random changes."""

from __future__ import annotations

import json
import pickle
import random
import threading
import time
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pymysql
import pytest
from pyspark.sql.types import BinaryType, MapType, StringType, StructField, StructType
from tests.integration.mysql.tables import Folded, read_to_end, same, step, stored

from streamtable.connectors.mysql_cdc.reader import (
    BinlogPart,
    Change,
    MySqlSettings,
    Offset,
    Planner,
    Position,
    SourceSpec,
    Startup,
    StartupMode,
    TableId,
    parts,
    read,
)
from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.file.job_file import read_job
from streamtable.ingest.run import source
from streamtable.ingest.run.source import IngestReader
from streamtable.ingest.spec import ingest_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mariadb import MariaDb


def _orders(mariadb: MariaDb, database: str, rows: int = 0) -> TableId:
    mariadb.run(f"CREATE TABLE {database}.orders (id INT PRIMARY KEY, item VARCHAR(20), n INT)")
    if rows:
        numbers = f"{database}.seq_1_to_{rows}"
        mariadb.run(f"INSERT INTO {database}.orders SELECT seq, 'a', seq % 7 FROM {numbers}")
    return TableId(database, "orders")


def is_refused(run: Callable[[], None], error: str | None) -> bool:
    """Run a read that fails if an error is given. Return whether it failed."""
    if error is None:
        run()
        return False
    with pytest.raises(StreamtableError, match=error) as refused:
        run()
    assert refused.value.condition is Condition.TABLE_UNREADABLE
    return True


def test_startup_modes(mariadb: MariaDb, database: str, settings: MySqlSettings) -> None:
    table = _orders(mariadb, database)
    place = mariadb.run("SHOW MASTER STATUS")[0]
    gtid = mariadb.run("SELECT @@gtid_binlog_pos")[0][0]
    mariadb.run(f"INSERT INTO {database}.orders VALUES (1, 'a', 1)")
    time.sleep(1.1)
    moment = int(time.time() * 1000)
    mariadb.run(f"INSERT INTO {database}.orders VALUES (2, 'b', 2)")

    def keys(startup: Startup) -> set[int]:
        _, folded = read_to_end(SourceSpec(settings, (rf"{database}\..*",), startup))
        return {row["id"] for row in folded.of(table)}

    assert keys(Startup(StartupMode.INITIAL)) == {1, 2}
    assert keys(Startup(StartupMode.SNAPSHOT)) == {1, 2}
    assert keys(Startup(StartupMode.LATEST)) == set()
    assert keys(Startup(StartupMode.EARLIEST)) == {1, 2}
    assert keys(Startup(StartupMode.SPECIFIC, file=place[0], pos=place[1])) == {1, 2}
    assert keys(Startup(StartupMode.SPECIFIC, gtid=gtid)) == {1, 2}
    assert keys(Startup(StartupMode.TIMESTAMP, timestamp_ms=moment)) == {2}


def test_ddl_of_a_table_keeps_the_rows_of_other_tables(
    mariadb: MariaDb, database: str, settings: MySqlSettings
) -> None:
    table = _orders(mariadb, database, rows=1)
    spec = SourceSpec(settings, (rf"{database}\..*",))
    at, folded = read_to_end(spec)
    mariadb.run(
        f"USE {database}",
        "UPDATE orders SET n = 10 WHERE id = 1",
        "CREATE TABLE later (id INT PRIMARY KEY)",
        "UPDATE orders SET n = 11 WHERE id = 1",
        "TRUNCATE TABLE later",
        "INSERT INTO orders VALUES (2, 'b', 2)",
    )
    with Planner(spec) as planner:
        planner.stop_at_end()
        while not planner.ended(at):
            at = step(spec, planner, at, folded)
    assert same(folded.of(table), stored(mariadb, table))


@pytest.mark.parametrize("while_reading", [False, True])
@pytest.mark.parametrize(
    ("key", "statements", "error"),
    [
        ("INT", ["DROP TABLE a"], None),
        ("INT", ["ALTER TABLE a MODIFY id BIGINT UNSIGNED", "UPDATE a SET k = k + 1"], None),
        ("INT", ["ALTER TABLE a MODIFY id DECIMAL(9, 2)", "UPDATE a SET k = k + 1"], None),
        ("CHAR(9)", ["ALTER TABLE a MODIFY id VARCHAR(8)", "DELETE FROM a WHERE id < 4"], None),
        (
            "INT",
            ["DROP TABLE a", "CREATE TABLE a (id VARCHAR(9) PRIMARY KEY) COLLATE utf8mb4_bin"],
            r"\.a .* key id \(number\) was changed to id \(utf8mb4_bin\)",
        ),
        (
            "INT",
            ["ALTER TABLE a DROP id, ADD PRIMARY KEY (k)"],
            r"\.a .* key id \(number\) was changed to k \(number\)",
        ),
        (
            "INT",
            ["ALTER TABLE a MODIFY id VARCHAR(9) COLLATE utf8mb4_bin"],
            r"\.a .* key id \(number\) was changed to id \(utf8mb4_bin\)",
        ),
        (
            "VARCHAR(9) COLLATE utf8mb4_bin",
            ["ALTER TABLE a MODIFY id VARCHAR(9) COLLATE utf8mb4_general_ci"],
            r"\.a .* key id \(utf8mb4_bin\) was changed to id \(utf8mb4_general_ci\)",
        ),
        (
            "INT",
            [
                "ALTER TABLE a MODIFY id VARCHAR(9)",
                "UPDATE a SET k = k + 1",
                "ALTER TABLE a MODIFY id INT",
            ],
            r"\.a .* key id \((number|text)\) was changed to id \((number|text)\)",
        ),
        ("DATE", ["ALTER TABLE a MODIFY id DATETIME"], r"\.a .* id \(date\) .* id \(datetime\)"),
        ("INT", ["ALTER TABLE a MODIFY id DOUBLE"], r"\.a .* key id \(number\) was changed to"),
    ],
)
def test_ddl_on_a_table_during_its_snapshot(
    mariadb: MariaDb,
    database: str,
    settings: MySqlSettings,
    key: str,
    statements: list[str],
    error: str | None,
    while_reading: bool,
) -> None:
    """A read fails if DDL gives a table a key of another kind during its snapshot.

    Bounds of chunks have no meaning in another order of keys.
    """
    number = f"{database}.seq_1_to_9"
    for table in "ab":
        mariadb.run(f"CREATE TABLE {database}.{table} (id {key} PRIMARY KEY, k INT)")
        value = "'2026-01-01' + INTERVAL seq DAY" if key == "DATE" else "seq"
        mariadb.run(f"INSERT INTO {database}.{table} SELECT {value}, seq FROM {number}")
    spec = SourceSpec(settings, (rf"{database}\..*",), chunk_size=2, batch_rows=2, tasks=1)
    folded = Folded()

    def run() -> None:
        with Planner(spec) as planner:
            at = planner.initial()
            end = planner.next(at)
            if while_reading:
                mariadb.run(f"USE {database}", *statements)
            for part in parts(at, end):
                folded.take(read(spec, part))
            if not while_reading:
                mariadb.run(f"USE {database}", *statements)
            planner.stop_at_end()
            at = Offset.from_json(end.to_json())
            while not planner.ended(at):
                at = step(spec, planner, at, folded)

    if is_refused(run, error):
        return
    assert len(folded.of(TableId(database, "b"))) == 9
    if statements != ["DROP TABLE a"]:
        assert same(folded.of(TableId(database, "a")), stored(mariadb, TableId(database, "a")))


def test_a_key_type_changed_while_a_single_chunk_is_read(
    mariadb: MariaDb, database: str, settings: MySqlSettings
) -> None:
    """The read fails: the rows of the binlog have other keys than the rows of the table."""
    _orders(mariadb, database, rows=3)
    spec = SourceSpec(settings, (rf"{database}\.orders",))
    with Planner(spec) as planner:
        at = planner.initial()
        (part,) = parts(at, planner.next(at))
    mariadb.run(
        f"USE {database}",
        "UPDATE orders SET n = 9 WHERE id = 1",
        "ALTER TABLE orders MODIFY id VARCHAR(9)",
    )
    with pytest.raises(StreamtableError, match=r"key id \(number\) was changed to id \(text\)"):
        list(read(spec, part))


JOB = """\
source: {{type: mysql, hostname: h, username: u, password: p, tables: '{tables}'}}
sink: {{type: upsert-kafka, properties.bootstrap.servers: 'b:9092'}}
"""
RECORD = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("headers", MapType(StringType(), BinaryType())),
    ]
)


@pytest.mark.parametrize("begun", [None, "before", "while reading"])
@pytest.mark.parametrize(
    ("tables", "copied", "kind"),
    [("a", "a", "INT"), (r"\.*", "ac", "INT"), ("a", "a", "VARCHAR(9)")],
)
def test_an_ingested_table_replaced_during_its_snapshot(
    mariadb: MariaDb,
    database: str,
    settings: MySqlSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tables: str,
    copied: str,
    kind: str,
    begun: str | None,
) -> None:
    """An ingestion job reads a table from its start if a RENAME replaces it during its snapshot.

    Online schema changes end with such a RENAME.
    """
    number = f"{database}.seq_1_to_9"
    for table, key in ("a", "INT"), ("b", kind):
        mariadb.run(f"CREATE TABLE {database}.{table} (id {key} PRIMARY KEY, n INT)")
        mariadb.run(f"INSERT INTO {database}.{table} SELECT seq, 1 FROM {number}")
    monkeypatch.setattr(source, "ask_for_topics", lambda *_: {})
    spec = ingest_spec(read_job(JOB.format(tables=f"{database}.{tables}"), "job.yaml", {}))
    of_server = replace(spec.source, settings=settings, chunk_size=2, batch_rows=2, tasks=1)
    spec = replace(spec, source=of_server, status=str(tmp_path / "status"))
    topics: dict[tuple[str, str], str] = {}
    reader = IngestReader(spec, RECORD, bounded=True)
    at = reader.initialOffset()

    def batch(*statements: str) -> bool:
        nonlocal at
        end = reader.latestOffset(at)
        if statements:
            mariadb.run(f"USE {database}", *statements)
        for part in reader.partitions(at, end):
            for rows in reader.read(part):
                for row in rows.to_pylist():
                    place = row["topic"], row["key"].decode()
                    topics.pop(place, None)
                    if row["value"] is not None:
                        topics[place] = row["value"].decode()
        moved, at = end != at, end
        return moved

    statements = (
        "DELETE FROM a WHERE id IN (1, 9)",
        "DELETE FROM b WHERE id IN (1, 8)",
        "UPDATE b SET n = 2",
        "RENAME TABLE a TO c, b TO a",
        "INSERT INTO a VALUES (20, 2)",
        "UPDATE a SET n = 3 WHERE id IN (2, 7)",
    )
    if begun:
        batch()
        assert len(topics) == 2
    if begun == "while reading":
        batch(*statements)
    else:
        mariadb.run(f"USE {database}", *statements)
    while batch():
        pass
    reader.stop()
    expected = {
        (f"{database}.{table}", f'{{"id":{key}}}'): f'{{"id":{key},"n":{row["n"]}}}'
        for table in copied
        for row in stored(mariadb, TableId(database, table))
        for key in (json.dumps(row["id"]),)
    }
    of_new_type = {place for place in topics if kind == "INT" or place[1].startswith('{"id":"')}
    assert {place: topics[place] for place in of_new_type} == expected


@pytest.mark.parametrize("while_reading", [False, True])
@pytest.mark.parametrize("engine", ["InnoDB", "Aria"])
@pytest.mark.parametrize(
    ("stages", "error"),
    [
        (
            [["RENAME TABLE a TO c"], ["RENAME TABLE b TO a"]],
            r"\.a cannot be read: \S+\.a was renamed to \S+\.c",
        ),
        ([["RENAME TABLE a TO c, b TO a"]], r"\.a cannot be read: \S+\.a was renamed to \S+\.c"),
        (
            [["DROP TABLE a", "RENAME TABLE b TO a"]],
            r"\.a cannot be read: \S+\.b was renamed to \S+\.a",
        ),
        ([["DROP TABLE a", "CREATE TABLE a LIKE b", "INSERT INTO a VALUES (0, 5), (8, 5)"]], None),
        (
            [["DROP TABLE a"], ["CREATE TABLE a LIKE b", "INSERT INTO a VALUES (0, 5), (8, 5)"]],
            None,
        ),
        ([["UPDATE a SET n = 7", "TRUNCATE a", "INSERT INTO a VALUES (0, 5), (8, 5)"]], None),
    ],
)
def test_an_sql_table_replaced_during_its_snapshot(
    mariadb: MariaDb,
    database: str,
    settings: MySqlSettings,
    stages: list[list[str]],
    error: str | None,
    engine: str,
    while_reading: bool,
) -> None:
    """A RENAME in the snapshot ends the job, because a snapshot of SQL does not start over.

    For tables of engine Aria, MariaDB does not report the position that a read sees. There, the
    rows of a chunk are compared with the changes of the batch.
    """
    for table in "ab":
        create = f"CREATE TABLE {database}.{table} (id INT PRIMARY KEY, n INT)"
        mariadb.run(f"{create} ENGINE = {engine}")
        mariadb.run(f"INSERT INTO {database}.{table} SELECT seq, 1 FROM {database}.seq_1_to_5")
    spec = SourceSpec(settings, (rf"{database}\.a",), chunk_size=2, batch_rows=2, tasks=1)
    read_rows: dict[int, int] = {}

    def take(start: Offset, end: Offset) -> Offset:
        for part in parts(start, end):
            for change in read(spec, part):
                if isinstance(change, Change):
                    if change.before is not None:
                        read_rows.pop(change.before[0], None)
                    if change.after is not None:
                        read_rows[change.after[0]] = change.after[1]
        return end

    def run() -> None:
        with Planner(spec) as planner:
            at = take(start := planner.initial(), planner.next(start))
            for statements in stages:
                end = planner.next(at) if while_reading else None
                mariadb.run(f"USE {database}", *statements)
                at = take(at, end or planner.next(at))
            planner.stop_at_end()
            while not planner.ended(at):
                at = take(at, planner.next(at))

    if is_refused(run, error):
        return
    there = {row["id"]: row["n"] for row in stored(mariadb, TableId(database, "a"))}
    assert there.items() <= read_rows.items()
    of_before = {1, 2, 3, 4} if while_reading else {1, 2}
    assert read_rows.keys() - there.keys() <= of_before


def test_ddl_between_rows(mariadb: MariaDb, database: str, settings: MySqlSettings) -> None:
    table = _orders(mariadb, database, rows=3)
    spec = SourceSpec(settings, (rf"{database}\..*",))
    at, folded = read_to_end(spec)
    mariadb.run(
        f"USE {database}",
        "UPDATE orders SET n = 10 WHERE id = 1",
        "ALTER TABLE orders ADD COLUMN price DECIMAL(8,2) DEFAULT 9.5 AFTER id,"
        " RENAME COLUMN n TO m",
        "INSERT INTO orders VALUES (4, 1.25, 'd', 4)",
        "ALTER TABLE orders DROP COLUMN item",
        "UPDATE orders SET m = 0 WHERE id = 2",
        "CREATE TABLE later (id INT PRIMARY KEY)",
        "INSERT INTO later VALUES (7)",
        "RENAME TABLE later TO last",
        "INSERT INTO last VALUES (8)",
        "TRUNCATE TABLE last",
        "DROP TABLE last",
    )
    with Planner(spec) as planner:
        planner.stop_at_end()
        while not planner.ended(at):
            at = step(spec, planner, at, folded)
    assert folded.rows[table, (1,)] == {"id": 1, "item": "a", "n": 10}
    expected = {"id": 4, "price": Decimal("1.25"), "item": "d", "m": 4}
    assert folded.rows[table, (4,)] == expected
    assert set(folded.rows[table, (2,)]) == {"id", "price", "m"}
    assert folded.rows[TableId(database, "last"), (8,)] == {"id": 8}
    assert [(c.kind, c.table.table) for c in folded.schema_changes] == [
        ("alter", "orders"),
        ("alter", "orders"),
        ("create", "later"),
        ("rename", "later"),
        ("truncate", "last"),
        ("drop", "last"),
    ]


def test_a_process_does_not_keep_the_types_of_an_earlier_batch(
    mariadb: MariaDb, database: str, settings: MySqlSettings
) -> None:
    """Each batch has the current column types, although another process has read the ALTER.

    The names of the columns stay the same.
    """
    mariadb.run(f"CREATE TABLE {database}.flags (id INT PRIMARY KEY, flag TINYINT(4))")
    spec = SourceSpec(settings, (rf"{database}\..*",))

    def read_row(number: int) -> int | None:
        start = Position(*mariadb.run("SHOW MASTER STATUS")[0][:2])
        mariadb.run(f"INSERT INTO {database}.flags VALUES ({number}, 1)")
        end = Position(*mariadb.run("SHOW MASTER STATUS")[0][:2])
        (change,) = read(spec, BinlogPart(start, end, {}))
        assert isinstance(change, Change)
        return change.table.columns[1].type.length

    assert read_row(1) == 4
    mariadb.run(f"ALTER TABLE {database}.flags MODIFY flag TINYINT(1)")
    assert read_row(2) == 1


@pytest.mark.parametrize(
    ("key", "one_reader", "unique"),
    [
        ("text", False, "PRIMARY KEY"),
        ("number", True, "PRIMARY KEY"),
        ("number", False, "UNIQUE"),
        *(
            pytest.param(*case, marks=pytest.mark.soak)
            for case in (("number", False, "PRIMARY KEY"), ("text", False, "UNIQUE"))
        ),
    ],
)
def test_random_changes_through_snapshot_and_binlog(
    mariadb: MariaDb,
    database: str,
    settings: MySqlSettings,
    key: str,
    one_reader: bool,
    unique: str,
) -> None:
    """The rows equal the tables after changes of several connections while chunks are read.

    Every fourth batch is read twice, with the same result.
    """
    kind = "INT" if key == "number" else "VARCHAR(20) COLLATE utf8mb4_general_ci"
    tables = [TableId(database, "a"), TableId(database, "b")]
    for table in tables:
        mariadb.run(
            f"CREATE TABLE {database}.{table.table}"
            f" (k {kind}, k2 INT, v VARCHAR(20), {unique} (k, k2))"
        )
        if unique == "UNIQUE":  # without a primary key, a key may be NULL
            mariadb.run(f"INSERT INTO {database}.{table.table} VALUES (NULL, 1, 'none')")
        rows = ", ".join(f"({_key(i, key)!r}, {i // 400}, 'v{i}')" for i in range(0, 1200, 2))
        mariadb.run(f"INSERT IGNORE INTO {database}.{table.table} VALUES {rows}")
    if one_reader:
        settings = MySqlSettings(
            settings.hostname, settings.username, settings.password, settings.port, (7000, 7000)
        )
    pattern = rf"{database}\.(a|b)"
    spec = SourceSpec(
        settings,
        (pattern,),
        chunk_size=50,
        batch_rows=150,
        poll_seconds=0.01,
        row_keys=((pattern, ("k", "k2")),),
        chunk_keys=((rf"{database}\.b", "k2"),) if unique == "UNIQUE" else (),
    )
    stop = threading.Event()
    loads = [
        threading.Thread(target=_change, args=(mariadb, database, key, seed, stop))
        for seed in (1, 2)
    ]
    folded, batches = Folded(("k", "k2")), 0
    for load in loads:
        load.start()
    try:
        with Planner(spec) as planner:
            at = planner.initial()
            until = time.monotonic() + 90
            while at.pending or (folded.changes < 2500 and time.monotonic() < until):
                end = planner.next(at)
                given = [list(read(spec, part)) for part in parts(at, end)]
                if batches % 4 == 0:
                    assert _again(spec, at, end) == [sorted(map(_text, part)) for part in given]
                for part in given:
                    folded.take(part)
                at, batches = end, batches + 1
    finally:
        stop.set()
        for load in loads:
            load.join()
    with Planner(spec) as planner:
        planner.stop_at_end()
        while not planner.ended(at):
            at = step(spec, planner, at, folded)
    for table in tables:
        assert same(folded.of(table), stored(mariadb, table))
    assert folded.changes >= 2500


def _again(spec: SourceSpec, start: Offset, end: Offset) -> list[list[str]]:
    """Return the changes as another process reads them, from offsets that a checkpoint kept."""
    start, end = (Offset.from_json(json.loads(json.dumps(o.to_json()))) for o in (start, end))
    shipped = pickle.loads(pickle.dumps(parts(start, end)))  # noqa: S301 - our own
    return [sorted(map(_text, read(spec, part))) for part in shipped]


def _text(change: object) -> str:
    assert isinstance(change, Change)
    return repr((change.table.id, change.kind, change.before, change.after, change.ordinal))


def _key(i: int, kind: str) -> int | str:
    number = i % 400
    return number if kind == "number" else "aAäZz_é"[number * 7919 % 7] + str(number)


def _change(mariadb: MariaDb, database: str, kind: str, seed: int, stop: threading.Event) -> None:
    chance = random.Random(seed)
    connection = mariadb.connect(database)
    cursor = connection.cursor()
    while not stop.is_set():
        table = chance.choice("ab")
        i, j = chance.randrange(1200), chance.randrange(1200)
        key, other = (_key(i, kind), i // 400), (_key(j, kind), j // 400)
        value, what = f"u{chance.randrange(99)}", chance.random()
        try:
            if what < 0.3:
                cursor.execute(f"INSERT IGNORE INTO {table} VALUES (%s, %s, %s)", (*key, value))
            elif what < 0.6:
                where = (value, *key)
                cursor.execute(f"UPDATE {table} SET v = %s WHERE k = %s AND k2 = %s", where)
            elif what < 0.8:
                cursor.execute(f"DELETE FROM {table} WHERE k = %s AND k2 = %s", key)
            else:
                where = (*other, *key)
                cursor.execute(
                    f"UPDATE IGNORE {table} SET k = %s, k2 = %s WHERE k = %s AND k2 = %s", where
                )
        except pymysql.err.OperationalError:  # a deadlock with the other connection
            continue
        time.sleep(0.002)
    connection.close()
