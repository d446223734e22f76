"""Lookup joins with tables of three databases, in micro-batches and in real-time mode."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.testing.histories import Change
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes, produce_json, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.integration.jdbc.stores import MariaStore, PostgresStore, SqliteStore

    from streamtable.devbroker.broker import Broker

_TOPIC = """
CREATE TABLE orders (id INT, cid INT, item STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (id INT, what STRING, PRIMARY KEY (id, what) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-o',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
_CACHE = ("'lookup.cache' = 'PARTIAL'", "'lookup.partial-cache.max-rows' = '100'")


def _send(broker: Broker, topic: str, rows: list[tuple[int, int | None, str]]) -> None:
    values: list[dict[str, Any]] = [{"id": i, "cid": c, "item": t} for i, c, t in rows]
    produce_json(broker.bootstrap_servers, topic, values)


def test_lookup_joins_with_three_databases(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    postgres: PostgresStore,
    maria: MariaStore,
    sqlite: SqliteStore,
) -> None:
    """Lookups find no row, one row or several rows; the last rows are joined in real-time mode.

    The lookups have conditions, and column names in upper and lower case.
    """
    postgres.run(
        'CREATE TABLE customers (id INT PRIMARY KEY, "Name" TEXT, country CHAR(2))',
        "INSERT INTO customers VALUES (1, 'Ada', 'de'), (2, 'Bob', 'jp'), (3, NULL, 'de')",
    )
    maria.run(
        "CREATE TABLE prices (item VARCHAR(20), price DECIMAL(10, 2), since INT)",
        "INSERT INTO prices VALUES ('tea', 3.5, 1), ('tea', 4.25, 2), ('pot', 20, 3)",
    )
    sqlite.run(
        "CREATE TABLE countries (code TEXT, name TEXT)",
        "INSERT INTO countries VALUES ('de', 'Germany'), ('jp', 'Japan')",
    )
    script = (
        _TOPIC
        + f"""
    CREATE TABLE customers (ID INT, name STRING, country CHAR(2), big AS UPPER(name),
      PRIMARY KEY (ID) NOT ENFORCED) {postgres.options("customers", *_CACHE)};
    CREATE TABLE prices (item STRING, price DECIMAL(10, 2), since INT)
      {maria.options("prices")};
    CREATE TABLE countries (code STRING, name STRING) {sqlite.options("countries")};
    INSERT INTO o
    SELECT o.id, CONCAT_WS(' ', c.big, l.name, COALESCE(CAST(s.price AS STRING), '-'))
    FROM orders AS o
    LEFT JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.cid = c.ID
    LEFT JOIN countries FOR SYSTEM_TIME AS OF o.p AS l ON l.code = c.country
    JOIN prices FOR SYSTEM_TIME AS OF o.p AS s ON s.item = o.item AND s.since >= o.id - 10;
    """
    )
    source = topic("orders")
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    _send(broker, source, [(1, 1, "tea"), (2, 2, "pot"), (3, 3, "tea"), (4, 9, "pot")])
    _send(broker, source, [(5, None, "pot"), (6, 1, "cup"), (12, 1, "tea"), (7, 1, "pot")])
    job()
    expected = {
        (1, "ADA Germany 3.50"),
        (1, "ADA Germany 4.25"),
        (2, "BOB Japan 20.00"),
        (3, "Germany 3.50"),
        (3, "Germany 4.25"),
        (4, "20.00"),
        (5, "20.00"),
        (12, "ADA Germany 4.25"),
        (7, "ADA Germany 20.00"),
    }
    assert set(job.rows("o")) == expected
    counts = job.metrics.values()["tables"]["customers (lookup)"]
    # Seven orders have a customer: 1, 2, 3 or 9. Lookups of customer 1 may hit the cache.
    assert counts["hitCount"] + counts["missCount"] == 7
    assert counts["loadCount"] == counts["missCount"] >= 4
    maria.run("INSERT INTO prices VALUES ('cup', 1, 100)")
    _send(broker, source, [(20, 2, "cup"), (21, 7, "cup")])
    expected |= {(20, "BOB Japan 1.00"), (21, "1.00")}
    job.until(lambda: set(job.rows("o")) == expected, {"execution.mode": "real-time"})


def test_conditions_that_the_optimizer_rewrites(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, sqlite: SqliteStore
) -> None:
    """Lookups work with filters that are never true, and with common subexpressions.

    The optimizer replaces such filters, and projects common subexpressions first.
    """
    sqlite.run("CREATE TABLE levels (id INT, level INT)", "INSERT INTO levels VALUES (1, 7)")
    joins = {
        "false": ("levels", "o.cid = c.id AND 1 = 0"),
        "null": ("levels", "o.cid = c.id AND CAST(NULL AS BOOLEAN)"),
        "range": ("levels", "o.cid = c.id AND c.level = 300"),
        "view": ("nothing", "o.cid = c.id"),
        "true": ("levels", "o.cid = c.id AND 1 = 1"),
        "common": ("shown", "o.cid = c.id"),
    }
    selects = [
        f"""SELECT o.id, CONCAT('{name} {kind} ', COALESCE(CAST(c.level AS STRING), '-'))
        FROM orders AS o {kind} JOIN {table} FOR SYSTEM_TIME AS OF o.p AS c ON {condition}"""
        for name, (table, condition) in joins.items()
        for kind in ("INNER", "LEFT")
    ]
    script = (
        _TOPIC
        + f"""
    CREATE TABLE levels (id INT, level TINYINT) {sqlite.options("levels")};
    CREATE VIEW nothing AS SELECT * FROM levels WHERE 1 = 0;
    CREATE VIEW shown AS SELECT id, NULLIF(CONCAT('level ', CAST(level AS STRING)), 'x') AS level
      FROM levels;
    INSERT INTO o {" UNION ALL ".join(selects)};
    """
    )
    source = topic("orders")
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    _send(broker, source, [(1, 1, "tea")])
    job()
    expected = {f"{name} LEFT -" for name in ("false", "null", "range", "view")}
    expected |= {f"true {kind} 7" for kind in ("INNER", "LEFT")}
    expected |= {f"common {kind} level 7" for kind in ("INNER", "LEFT")}
    assert {what for _, what in job.rows("o")} == expected


def test_an_update_repeats_the_lookup(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, sqlite: SqliteStore
) -> None:
    """An update of a count looks up again, and deletes the result row if no row is found.

    An update whose two lookups find a row stays one update, without a delete between.
    """
    sqlite.run(
        "CREATE TABLE names (n BIGINT PRIMARY KEY, name TEXT)",
        "INSERT INTO names VALUES (1, 'one'), (2, 'two'), (4, 'four')",
    )
    script = (
        _TOPIC
        + f"""
    CREATE TABLE names (n BIGINT, name STRING, PRIMARY KEY (n) NOT ENFORCED)
      {sqlite.options("names")};
    CREATE TABLE named (item STRING, name STRING, PRIMARY KEY (item) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${{source}}-n',
      'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json',
      'value.format' = 'json');
    INSERT INTO named SELECT c.item, t.name
    FROM (SELECT item, n, PROCTIME() AS p FROM
      (SELECT item, COUNT(*) AS n FROM orders GROUP BY item)) AS c
    JOIN names FOR SYSTEM_TIME AS OF c.p AS t ON c.n = t.n;
    """
    )
    source = topic("orders")
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    for _ in range(4):
        _send(broker, source, [(0, 0, "a")])
        job()
    values = [record.value() for record in records(broker.bootstrap_servers, f"{source}-n")]
    found = [value and json.loads(value)["name"] for value in values]
    assert found == ["one", "two", None, "four"]


def test_only_one_lookup_of_an_update_finds_a_row(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, sqlite: SqliteStore
) -> None:
    """The table changes all the time, so an update may find a row by only one of its two lookups.

    A filter above the inner lookup by key keeps the two rows of an update apart.
    """
    sqlite.run(
        "CREATE TABLE there (id BIGINT PRIMARY KEY, name TEXT)",
        "INSERT INTO there VALUES (0, 'a'), (1, 'b'), (2, 'c'), (3, 'd')",
        "CREATE VIEW flickering AS SELECT * FROM there WHERE random() % 2 = 0",
    )
    script = f"""
    CREATE TABLE people (k INT, word STRING, p AS PROCTIME(), PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${{source}}',
      'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json',
      'value.format' = 'json');
    CREATE TABLE flickering (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
      {sqlite.options("flickering")};
    CREATE TABLE named (k INT, word STRING, name STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${{source}}-n',
      'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json',
      'value.format' = 'json');
    INSERT INTO named SELECT a.k, a.word, f.name FROM people AS a
    JOIN flickering FOR SYSTEM_TIME AS OF a.p AS f ON a.k = f.id WHERE a.word <> f.name;
    """
    source = topic("people", partitions=1)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    found = 0
    for round_ in range(8):
        words = [Change(k, {"word": f"{round_}-{k}"}) for k in range(4)]
        produce_changes(broker.bootstrap_servers, source, "k", words)
        job()
        # As in Flink, an old row stays if the lookup that retracts it finds no row.
        for (key,), row in job.rows("named").items():
            found += 1
            versions = [f"{r}-{key}" for r in range(round_ + 1)]
            assert (row["k"], row["name"]) == (key, "abcd"[key])
            assert row["word"] in versions
    assert found


def test_a_delete_by_key_runs_no_lookup(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, sqlite: SqliteStore
) -> None:
    """A tombstone has no `word`, so the condition of a lookup would divide by zero."""
    sqlite.run(
        "CREATE TABLE spoken (id BIGINT PRIMARY KEY, name TEXT)",
        "INSERT INTO spoken VALUES (1, 'a'), (2, 'b')",
    )
    script = f"""
    CREATE TABLE people (k INT, word STRING, p AS PROCTIME(), PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${{source}}',
      'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json',
      'value.format' = 'json');
    CREATE TABLE spoken (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
      {sqlite.options("spoken")};
    CREATE TABLE named (k INT, name STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${{source}}-n',
      'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json',
      'value.format' = 'json');
    INSERT INTO named SELECT a.k, f.name FROM people AS a LEFT JOIN spoken
    FOR SYSTEM_TIME AS OF a.p AS f ON a.k = f.id AND 6 / CHAR_LENGTH(COALESCE(a.word, '')) > 1;
    """
    source = topic("people", partitions=1)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    words = [Change(k, {"word": word}) for k, word in ((1, "one"), (2, "second"), (3, "x"))]
    produce_changes(broker.bootstrap_servers, source, "k", [*words, Change(1, None)])
    job()
    assert {k: row["name"] for (k,), row in job.rows("named").items()} == {2: None, 3: None}


def test_a_hint_repeats_a_lookup(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, postgres: PostgresStore
) -> None:
    """A lookup finds a row that arrives after its order, and reconnects after a server restart."""
    postgres.run("CREATE TABLE late (id INT, name TEXT)")
    script = (
        _TOPIC
        + f"""
    CREATE TABLE late (id INT, name STRING) {postgres.options("late", *_CACHE)};
    INSERT INTO o SELECT /*+ LOOKUP('table' = 'l', 'retry-predicate' = 'lookup_miss',
      'retry-strategy' = 'fixed_delay', 'fixed-delay' = '300 ms', 'max-attempts' = '100') */
      o.id, l.name FROM orders AS o
    JOIN late FOR SYSTEM_TIME AS OF o.p AS l ON o.cid = l.id;
    """
    )
    source = topic("orders")
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    _send(broker, source, [(1, 1, "x")])

    def arrives() -> None:
        time.sleep(4)
        postgres.run("INSERT INTO late VALUES (1, 'late')")

    writer = threading.Thread(target=arrives)
    writer.start()
    job()
    writer.join()
    assert set(job.rows("o")) == {(1, "late")}
    postgres.run("UPDATE late SET name = 'new'")
    _send(broker, source, [(2, 1, "x")])
    postgres.server.stop()
    postgres.server.start()
    job()
    # Each run starts with an empty cache.
    assert set(job.rows("o")) == {(1, "late"), (2, "new")}


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        # Keys 1, 2, 3, 4 are stored at 0, 10, 20, 30, and key 1 is read at 14.
        ((-1, 15, -1), {3, 4}),
        ((-1, -1, 19), {1, 3, 4}),
        ((-1, 25, 19), {3, 4}),
        ((3, 100, -1), {1, 3, 4}),
    ],
)
def test_a_cache_removes_expired_keys(
    spark: SparkSession, limits: tuple[int, int, int], left: set[int]
) -> None:
    """A cache removes expired keys. Without a limit of keys, they would fill the memory."""
    assert spark._jvm is not None
    package = "io.streamtable.lookup"
    spec = getattr(spark._jvm, package).CacheSpec(*limits, True)
    loader = spec.getClass().getClassLoader()
    (constructor,) = loader.loadClass(f"{package}.LookupCache").getDeclaredConstructors()
    constructor.setAccessible(True)
    cache = constructor.newInstance(_java_objects(spark, spec))
    methods = {}
    for method in cache.getClass().getDeclaredMethods():
        method.setAccessible(True)
        methods[method.getName()] = method
    none = spark._jvm.java.util.ArrayList()
    for name, *arguments in (
        ("put", 1, none, 0),
        ("put", 2, none, 10),
        ("get", 1, 14),
        ("put", 3, none, 20),
        ("put", 4, none, 30),
    ):
        methods[name].invoke(cache, _java_objects(spark, *arguments))
    for name in ("used", "stored"):
        field = cache.getClass().getDeclaredField(name)
        field.setAccessible(True)
        assert {int(key) for key in field.get(cache).keySet()} == left


def _java_objects(spark: SparkSession, *values: Any) -> Any:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    array = gateway.new_array(gateway.jvm.java.lang.Object, len(values))
    for place, value in enumerate(values):
        array[place] = value
    return array
