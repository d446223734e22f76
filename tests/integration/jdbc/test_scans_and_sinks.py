"""Scans and sinks in three databases: the written rows equal the rows that were read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from streamtable.testing.histories import Change
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes, produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.integration.jdbc.stores import MariaStore, PostgresStore, SqliteStore, Store

    from streamtable.devbroker.broker import Broker

_COLUMNS = """id BIGINT, tiny TINYINT, small SMALLINT, number INT, price DECIMAL(12, 3),
  share DOUBLE, ratio FLOAT, flag BOOLEAN, word VARCHAR(20), code CHAR(3), raw BYTES, day DATE,
  at TIME, moment TIMESTAMP(6)"""
_POSTGRES = """(id BIGINT PRIMARY KEY, tiny SMALLINT, small SMALLINT, number INT,
  price NUMERIC(12, 3), share DOUBLE PRECISION, ratio REAL, flag BOOLEAN, word VARCHAR(20),
  code CHAR(3), raw BYTEA, day DATE, at TIME, moment TIMESTAMP(6))"""
_MARIA = """(id BIGINT PRIMARY KEY, tiny TINYINT, small SMALLINT, number INT, price DECIMAL(12, 3),
  share DOUBLE, ratio FLOAT, flag BOOLEAN, word VARCHAR(20), code CHAR(3), raw BLOB, day DATE,
  at TIME, moment DATETIME(6))"""
_SQLITE = """(id INTEGER PRIMARY KEY, tiny INT, small INT, number INT, price NUMERIC, share REAL,
  ratio REAL, flag INT, word TEXT, code TEXT, raw BLOB, day TEXT, at TEXT, moment TEXT)"""


def test_rows_copied_through_three_databases_stay_the_same(
    spark: SparkSession,
    tmp_path: Path,
    postgres: PostgresStore,
    maria: MariaStore,
    sqlite: SqliteStore,
) -> None:
    """Rows of all types stay equal: PostgreSQL -> MariaDB -> SQLite -> PostgreSQL.

    The first scan is parallel and has bounds.
    """
    stores: list[tuple[Store, str]] = [(postgres, _POSTGRES), (maria, _MARIA), (sqlite, _SQLITE)]
    for store, columns in stores:
        store.run(f"CREATE TABLE copy {columns}")
    postgres.run(
        f"CREATE TABLE origin {_POSTGRES}",
        "INSERT INTO origin SELECT i, i % 100, i, i * 1000, i * 1.5, i / 3.0, i / 4.0, i % 2 = 0,"
        " 'word ' || i, 'a' || i % 10 || 'c', decode(lpad(to_hex(i), 4, '0'), 'hex'),"
        " DATE '2026-01-01' + i, TIME '10:00:00' + i * INTERVAL '1 s',"
        " TIMESTAMP '2026-01-01 10:00:00.123456' + i * INTERVAL '1 h'"
        " FROM generate_series(1, 300) AS s (i)",
        "INSERT INTO origin (id) VALUES (301)",
    )
    parts = (
        "'scan.partition.column' = 'id'",
        "'scan.partition.num' = '4'",
        "'scan.partition.lower-bound' = '11'",
        "'scan.partition.upper-bound' = '400'",
        "'scan.fetch-size' = '20'",
        "'scan.auto-commit' = 'false'",
    )
    key = f"{_COLUMNS}, PRIMARY KEY (id) NOT ENFORCED"
    steps = [
        (postgres.options("origin", *parts), maria.options("copy")),
        (maria.options("copy"), sqlite.options("copy")),
        (sqlite.options("copy"), postgres.options("copy", "'sink.parallelism' = '1'")),
    ]
    for number, (source, sink) in enumerate(steps):
        script = (
            f"CREATE TABLE source ({_COLUMNS}) {source}; CREATE TABLE sink ({key}) {sink};"
            "INSERT INTO sink SELECT * FROM source WHERE id <> 20;"
        )
        BoundedRun(spark, script, tmp_path / str(number))(bounded=False)
    wanted = postgres.run("SELECT * FROM origin WHERE id > 10 AND id <> 20 ORDER BY id")
    assert len(wanted) == 290
    assert postgres.run("SELECT * FROM copy ORDER BY id") == wanted
    assert wanted[-1] == ("301", *[None] * 13)
    there = maria.run(
        "SELECT CAST(moment AS CHAR), CAST(at AS CHAR), flag FROM copy WHERE id = 299"
    )
    assert there == [("2026-01-13 21:00:00.123456", "10:04:59", "0")]
    there = sqlite.run("SELECT moment, at, day, flag FROM copy WHERE id = 299")
    assert there == [("2026-01-13 21:00:00.123456", "10:04:59", "2026-10-27", "0")]


def test_scan_bounds_may_span_bigint(
    spark: SparkSession, tmp_path: Path, sqlite: SqliteStore
) -> None:
    least, most = -(2**63), 2**63 - 1
    sqlite.run(
        "CREATE TABLE wide (id INTEGER)",
        f"INSERT INTO wide VALUES ({least}), (-7), (0), ({most - 1}), ({most})",
        "CREATE TABLE copy (id INTEGER)",
    )
    parts = (
        "'scan.partition.column' = 'id'",
        "'scan.partition.num' = '3'",
        f"'scan.partition.lower-bound' = '{least}'",
        f"'scan.partition.upper-bound' = '{most}'",
    )
    script = (
        f"CREATE TABLE wide (id BIGINT) {sqlite.options('wide', *parts)};"
        f"CREATE TABLE copy (id BIGINT) {sqlite.options('copy')};"
        "INSERT INTO copy SELECT * FROM wide;"
    )
    BoundedRun(spark, script, tmp_path / "c")(bounded=False)
    wanted = [least, -7, 0, most - 1, most]
    assert sqlite.run("SELECT id FROM copy ORDER BY id") == [(str(n),) for n in wanted]


def test_arrays_are_read(
    spark: SparkSession, tmp_path: Path, postgres: PostgresStore, sqlite: SqliteStore
) -> None:
    postgres.run(
        "CREATE TABLE lists (id INT, words TEXT[], numbers NUMERIC(5, 1)[], days DATE[])",
        "INSERT INTO lists VALUES (1, '{a,NULL,c}', '{1.5,2}', '{2026-01-02}')",
        "INSERT INTO lists VALUES (2, NULL, '{}', NULL)",
    )
    sqlite.run("CREATE TABLE texts (id INT, words TEXT, n INT, number TEXT, day TEXT)")
    script = f"""
    CREATE TABLE lists (id INT, words ARRAY<STRING>, numbers ARRAY<DECIMAL(5, 1)>,
      days ARRAY<DATE>) {postgres.options("lists")};
    CREATE TABLE texts (id INT, words STRING, n INT, number STRING, `day` STRING)
      {sqlite.options("texts")};
    INSERT INTO texts SELECT id, ARRAY_JOIN(words, ',', '-'), CARDINALITY(numbers),
      CAST(numbers[1] AS STRING), CAST(days[1] AS STRING) FROM lists;
    """
    BoundedRun(spark, script, tmp_path / "c")(bounded=False)
    rows = sqlite.run("SELECT * FROM texts ORDER BY id")
    assert rows == [("1", "a,-,c", "2", "1.5", "2026-01-02"), ("2", None, "0", None, None)]


_SINKS = """
CREATE TABLE people (id INT, name STRING, team STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE history (id INT, name STRING) WITH (
  'connector' = 'kafka', 'topic' = '${log}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
"""


def test_upserts_deletes_and_inserts(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    postgres: PostgresStore,
    maria: MariaStore,
    sqlite: SqliteStore,
) -> None:
    """Sinks apply updates, deletes and appended rows with duplicates.

    The flushes are small. One sink table has only key columns. One source table is scanned beside
    the topic.
    """
    teams = "(team VARCHAR(10) PRIMARY KEY, people BIGINT, names INT)"
    postgres.run(f"CREATE TABLE teams {teams}", "CREATE TABLE log (id INT, name TEXT)")
    maria.run(f"CREATE TABLE teams {teams}", "CREATE TABLE seen (team VARCHAR(10) PRIMARY KEY)")
    sqlite.run(
        "CREATE TABLE people (id INT, name TEXT, UNIQUE (id))",
        "CREATE TABLE old (id INT, name TEXT)",
        "INSERT INTO old VALUES (100, 'old')",
    )
    shape = "(team STRING, people BIGINT, names INT, PRIMARY KEY (team) NOT ENFORCED)"
    script = (
        _SINKS
        + f"""
    CREATE TABLE teams {shape} {postgres.options("teams", "'sink.buffer-flush.max-rows' = '2'")};
    CREATE TABLE teams2 {shape} {maria.options("teams", "'sink.buffer-flush.interval' = '0'")};
    CREATE TABLE seen (team STRING, PRIMARY KEY (team) NOT ENFORCED) {maria.options("seen")};
    CREATE TABLE log (id INT, name STRING) {postgres.options("log")};
    CREATE TABLE old (id INT, name STRING) {sqlite.options("old")};
    CREATE TABLE copy (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
      {sqlite.options("people")};
    CREATE VIEW counts AS
      SELECT team, COUNT(*) AS people, CAST(SUM(CHAR_LENGTH(name)) AS INT) AS names
      FROM people GROUP BY team;
    INSERT INTO teams SELECT * FROM counts;
    INSERT INTO teams2 SELECT * FROM counts;
    INSERT INTO seen SELECT DISTINCT team FROM people;
    INSERT INTO log SELECT id, name FROM history UNION ALL SELECT id, name FROM old;
    INSERT INTO copy SELECT id, name FROM people;
    """
    )
    source, log = topic("people", config={"cleanup.policy": "compact"}), topic("log")
    names = {"source": source, "log": log, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    people = [{"id": i, "name": "n" * (i % 5), "team": f"t{i % 4}"} for i in range(40)]
    _people(broker, source, people)
    produce_json(broker.bootstrap_servers, log, [{"id": i % 3, "name": "x"} for i in range(30)])
    job()
    _compare(people, postgres, maria, sqlite)
    assert len(postgres.run("SELECT * FROM log")) == 31
    # The people of t1 move to t9, those of t2 are deleted, and one of t0 is renamed.
    people = [{**p, "team": "t9"} if p["team"] == "t1" else p for p in people if p["team"] != "t2"]
    people[0] = {**people[0], "name": "renamed"}
    gone = [{"id": i} for i in range(40) if i % 4 == 2]
    _people(broker, source, people, gone)
    job()
    _compare(people, postgres, maria, sqlite)
    assert maria.run("SELECT team FROM seen ORDER BY team") == [("t0",), ("t3",), ("t9",)]
    assert len(postgres.run("SELECT * FROM log")) == 31


def _people(
    broker: Broker,
    topic: str,
    people: list[dict[str, Any]],
    gone: list[dict[str, int]] | None = None,
) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for person in people:
        producer.produce(topic, json.dumps(person), json.dumps({"id": person["id"]}))
    for key in gone or ():
        producer.produce(topic, None, json.dumps(key))
    producer.flush()


def _compare(people: list[dict[str, Any]], *stores: Store) -> None:
    teams: dict[str, list[str]] = {}
    for person in people:
        teams.setdefault(person["team"], []).append(person["name"])
    wanted = [(t, str(len(n)), str(sum(map(len, n)))) for t, n in sorted(teams.items())]
    for store in stores[:2]:
        assert store.run("SELECT * FROM teams ORDER BY team") == wanted
    copied = sorted((str(p["id"]), p["name"]) for p in people)
    assert sorted(stores[2].run("SELECT * FROM people")) == copied


def test_an_update_of_the_sink_key_deletes_the_old_key(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, sqlite: SqliteStore
) -> None:
    """Without a materializer, an update to another sink key deletes the old key."""
    sqlite.run("CREATE TABLE places (place INT PRIMARY KEY, k INT)")
    source = topic("places")
    kafka = "'connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${servers}'"
    kafka += ", 'key.format' = 'json', 'value.format' = 'json'"
    by_place = "place INT, k INT, PRIMARY KEY (place) NOT ENFORCED"
    script = f"""
    SET 'table.exec.sink.upsert-materialize' = 'NONE';
    CREATE TABLE moves (k INT, place INT, PRIMARY KEY (k) NOT ENFORCED)
      WITH ({kafka}, 'topic' = '${{source}}');
    CREATE TABLE of_topic ({by_place}) WITH ({kafka}, 'topic' = '${{source}}-p');
    CREATE TABLE of_database ({by_place}) {sqlite.options("places")};
    CREATE VIEW placed AS SELECT place, k FROM moves WHERE place <> 22;
    INSERT INTO of_topic SELECT * FROM placed;
    INSERT INTO of_database SELECT * FROM placed;
    """
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    rounds = (
        ({1: 10, 2: 20, 3: 30}, {10: 1, 20: 2, 30: 3}),
        ({1: 11, 2: 22, 3: None}, {11: 1}),
        ({1: 11, 2: 23, 3: 33}, {11: 1, 23: 2, 33: 3}),
        ({1: None, 2: 23, 3: 34}, {23: 2, 34: 3}),
    )
    for moves, expected in rounds:
        changes = [Change(k, None if p is None else {"place": p}) for k, p in moves.items()]
        produce_changes(broker.bootstrap_servers, source, "k", changes)
        job()
        assert {key: row["k"] for (key,), row in job.rows("of_topic").items()} == expected
        rows = sqlite.run("SELECT place, k FROM places")
        assert {int(place or 0): int(k or 0) for place, k in rows} == expected
