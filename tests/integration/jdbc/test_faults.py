"""Jobs whose databases refuse requests or are down, and jobs that are killed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import Cli, write
from tests.postgresql import PASSWORD

from streamtable.core.errors import StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.integration.jdbc.stores import MariaStore, PostgresStore, SqliteStore

    from streamtable.devbroker.broker import Broker

_JOB = "CREATE TABLE n (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');"


def test_database_errors_are_reported_before_the_first_write(
    spark: SparkSession,
    tmp_path: Path,
    postgres: PostgresStore,
    maria: MariaStore,
    sqlite: SqliteStore,
) -> None:
    postgres.run("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
    maria.run("CREATE TABLE t (id INT, name TEXT)", "CREATE TABLE m (id INT) ENGINE = MyISAM")
    there = postgres.options("t")
    once = "'sink.delivery-guarantee' = 'exactly-once'"
    cases = {
        "(id INT) " + there.replace(PASSWORD, "wrong-word"): (
            "DATABASE_LOGIN_FAILED: login to the database at jdbc:postgresql://127.0.0.1"
        ),
        "(id INT) " + maria.options("t").replace(PASSWORD, "wrong-word"): (
            "DATABASE_LOGIN_FAILED: login to the database at jdbc:mariadb://127.0.0.1"
        ),
        "(id INT) " + there.replace(f":{postgres.server.port}/", ":1/"): "DATABASE_UNREACHABLE",
        "(id INT) " + postgres.options("none"): "table 'none': ERROR: relation \"none\" does not",
        "(id INT) " + maria.options("none"): "doesn't exist",
        "(id INT) " + sqlite.options("none"): "no such table: none",
        "(id INT, `colour` STRING) " + there: "has no column 'colour', but (id, name)",
        "(id INT, PRIMARY KEY (id) NOT ENFORCED) " + maria.options("t"): (
            "table 't' has no primary key or unique index of exactly (id)"
        ),
        "(id INT) " + maria.options("m", once): "engine MyISAM, which has no transactions",
        "(id INT) " + postgres.options("t", "'driver' = 'com.example.Driver'"): (
            "DRIVER_MISSING: the database driver com.example.Driver of table"
        ),
    }
    for number, (table, message) in enumerate(cases.items()):
        script = f"{_JOB} CREATE TABLE sink {table}; INSERT INTO sink (id) SELECT id FROM n;"
        with pytest.raises(StreamtableError) as refused:
            BoundedRun(spark, script, tmp_path / f"c{number}")(bounded=False)
        assert message in str(refused.value)
        assert "Hint: " in str(refused.value)
        assert "test.sql:1:" in str(refused.value)
        assert "wrong-word" not in str(refused.value)
        assert PASSWORD not in str(refused.value)


def test_a_sink_waits_for_a_server_to_restart(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, postgres: PostgresStore
) -> None:
    """A real-time sink writes rows from before and during an outage of the server.

    Then the table refuses a row, and the job fails.
    """
    postgres.run("CREATE TABLE rows_out (id INT PRIMARY KEY, name TEXT NOT NULL)")
    source = topic("rows")
    script = f"""
    SET 'execution.mode' = 'real-time';
    CREATE TABLE rows_in (id INT, name STRING) WITH (
      'connector' = 'kafka', 'topic' = '{source}', 'scan.startup.mode' = 'earliest-offset',
      'properties.bootstrap.servers' = '{broker.bootstrap_servers}', 'format' = 'json');
    CREATE TABLE rows_out (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
      {postgres.options("rows_out", "'sink.buffer-flush.interval' = '200 ms'")};
    INSERT INTO rows_out SELECT id, name FROM rows_in;
    """
    produce_json(broker.bootstrap_servers, source, [{"id": i, "name": "x"} for i in range(250)])
    job = BoundedRun(spark, script, tmp_path / "c")
    state = {"restarted": False}

    def rows() -> int:
        (found,) = postgres.run("SELECT COUNT(*) FROM rows_out")
        return int(found[0] or 0)

    def done() -> bool:
        if not state["restarted"] and rows() == 250:
            state["restarted"] = True
            postgres.server.stop()
            more = [{"id": i, "name": "y"} for i in range(240, 300)]
            produce_json(broker.bootstrap_servers, source, more)
            time.sleep(1)
            postgres.server.start()
        return rows() == 300

    job.until(done)
    assert len(postgres.run("SELECT * FROM rows_out WHERE name = 'y'")) == 60
    produce_json(broker.bootstrap_servers, source, [{"id": 1, "name": None}])
    with pytest.raises(StreamtableError, match=r"DATABASE_REFUSED: .* a write to table 'rows_out'"):
        job()


@pytest.mark.parametrize("kills", [(250,), pytest.param((250, 900), marks=pytest.mark.soak)])
def test_a_killed_job_writes_all_rows(
    kills: Sequence[int],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    postgres: PostgresStore,
) -> None:
    """No row is missing or repeated, with a key, and with exactly-once without a key."""
    tables = ("keyed", "once")
    postgres.run(
        "CREATE TABLE keyed (id INT PRIMARY KEY, n INT)",
        "CREATE TABLE once (id INT, n INT)",
        # A trigger slows the sinks down, so that the kill hits a half-written batch.
        "CREATE FUNCTION slow() RETURNS trigger AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NEW;"
        " END' LANGUAGE plpgsql",
        *(
            f"CREATE TRIGGER slow BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION slow()"
            for table in tables
        ),
    )
    source, count = topic("rows", partitions=2), 2_000
    produce_json(broker.bootstrap_servers, source, [{"id": i} for i in range(count)])
    small = "'sink.buffer-flush.max-rows' = '50'"
    once = "'sink.delivery-guarantee' = 'exactly-once'"
    script = f"""
    SET 'execution.micro-batch.max-records' = '400';
    SET 'execution.mode' = 'micro-batch';
    CREATE TABLE rows_in (id INT) WITH (
      'connector' = 'kafka', 'topic' = '{source}', 'scan.startup.mode' = 'earliest-offset',
      'properties.bootstrap.servers' = '{broker.bootstrap_servers}', 'format' = 'json');
    CREATE TABLE keyed (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED)
      {postgres.options("keyed", small)};
    CREATE TABLE once (id INT, n INT) {postgres.options("once", small, once)};
    INSERT INTO keyed SELECT id, id * 2 FROM rows_in;
    INSERT INTO once SELECT id, id * 2 FROM rows_in;
    """
    arguments = [
        "run",
        write(tmp_path / "job.sql", script),
        "--checkpoint",
        str(tmp_path / "c"),
        "--master",
        "local[2]",
    ]
    for written in kills:
        job = Cli.start(*arguments)
        job.until(
            lambda written=written: min(len(_ids(postgres, t)) for t in tables) >= written,
            pause=0.05,
        )
        job.kill()
    postgres.run(*(f"DROP TRIGGER slow ON {table}" for table in tables))
    BoundedRun(spark, script, tmp_path / "c")()
    for table in tables:
        assert sorted(_ids(postgres, table)) == list(range(count))
        assert postgres.run(f"SELECT 1 FROM {table} WHERE n <> 2 * id") == []


def _ids(store: PostgresStore, table: str) -> list[int]:
    return [int(id_ or 0) for (id_,) in store.run(f"SELECT id FROM {table}")]
