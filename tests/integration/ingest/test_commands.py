"""`run`, `check` and `verify` of a job, and how they report faults."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator

import pytest
from tests.integration.ingest.support import Shop, folded
from tests.integration.jobs.support import PATIENCE_S, Cli
from tests.integration.jobs.support import run as command
from tests.integration.lineage import Backend, lineage_backend
from tests.mariadb import PASSWORD, USER

from streamtable.core.errors import StreamtableError
from streamtable.core.settings.session import SessionSettings
from streamtable.ingest.check import check_job
from streamtable.ingest.file.job_file import JobFile, load_job
from streamtable.ingest.run.run import IngestOptions, run_ingest
from streamtable.ingest.verify import verify_job
from streamtable.testing.topics import records

pytestmark = pytest.mark.usefixtures("spark")

WRONG = "another-word"
SETTINGS = SessionSettings().current()


def job_of(shop: Shop, password: str = PASSWORD) -> JobFile:
    variables = {"port": str(shop.server.port), "servers": shop.servers}
    return load_job(
        shop.folder / "job.yaml", {**variables, "secret_values.mysql-password": password}
    )


def run(shop: Shop) -> list[str]:
    said: list[str] = []
    options = IngestOptions(bounded=True, checkpoint=shop.checkpoint[1])
    run_ingest(job_of(shop), SETTINGS, options, said.append, said.append, every=0.0)
    return said


def check(shop: Shop, password: str = PASSWORD) -> tuple[bool, str]:
    lines: list[str] = []
    ready = check_job(job_of(shop, password), SETTINGS, None, lines.append)
    return ready, "\n".join(lines)


def verify(shop: Shop, *, checkpoint: bool = True) -> tuple[bool, str]:
    lines: list[str] = []
    folder = shop.checkpoint[1] if checkpoint else None
    equal = verify_job(job_of(shop), SETTINGS, folder, None, lines.append)
    return equal, "\n".join(lines)


def test_run_check_and_verify_of_a_table(shop: Shop) -> None:
    shop.write_job(sink="  sink.add-tableId-to-header-enabled: true\n")
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY, who VARCHAR(20), at TIMESTAMP(3) NULL)",
        "INSERT INTO orders SELECT seq, CONCAT('n', seq), '2026-01-02 03:04:05.5'"
        " FROM seq_1_to_950",
    )
    ready, said = check(shop)
    assert ready, said
    assert f"topic {shop.database}_orders: run creates it, compacted" in said

    lines = run(shop)
    assert any(line.startswith("snapshot: 0 of 1 tables") for line in lines)
    assert lines[-1].startswith("wrote 950 records")
    first = shop.messages("orders")[0]
    assert dict(first.headers())["tableName"] == b"orders"
    assert json.loads(first.value())["at"] == "2026-01-02 03:04:05.5Z"
    equal, said = verify(shop)
    assert equal, said
    assert "950 rows" in said

    # With the checkpoint, a change that the job has not written yet is "on its way". Without the
    # checkpoint, this change is a difference.
    shop.sql("UPDATE orders SET who = 'x' WHERE id = 7")
    equal, said = verify(shop)
    assert equal, said
    assert "1 keys are on their way" in said
    equal, said = verify(shop, checkpoint=False)
    assert not equal
    assert '1 keys different:\n    {"id":7}' in said

    # The next run reads only the change.
    assert run(shop)[-1].startswith("wrote 1 records")
    equal, said = verify(shop, checkpoint=False)
    assert equal, said

    shop.sql("FLUSH BINARY LOGS", "UPDATE orders SET who = 'y' WHERE id = 8", "FLUSH BINARY LOGS")
    newest = shop.server.run("SHOW MASTER STATUS")[0][0]
    shop.server.run(f"PURGE BINARY LOGS TO '{newest}'")
    with pytest.raises(StreamtableError, match=r"DATA_LOST: .* no binlog .* any more"):
        run(shop)


def test_truncate_drop_and_rename(shop: Shop) -> None:
    shop.write_job(sink="  sink.on-drop: tombstone\n  sink.delivery-guarantee: exactly-once\n")
    tables = ("cut", "gone", "old", "kept", "replaced")
    for table in tables:
        shop.sql(
            f"CREATE TABLE {table} (id INT PRIMARY KEY)", f"INSERT INTO {table} VALUES (1), (2)"
        )
    shop.sql(
        "CREATE TABLE parts (id INT PRIMARY KEY) PARTITION BY RANGE (id)"
        " (PARTITION low VALUES LESS THAN (2), PARTITION high VALUES LESS THAN MAXVALUE)",
        "INSERT INTO parts VALUES (1), (2)",
        "CREATE TABLE halves LIKE parts",
        "INSERT INTO halves VALUES (1), (2)",
    )
    run(shop)
    shop.sql(
        "ALTER TABLE halves CONVERT PARTITION high TO TABLE half",
        "INSERT INTO half VALUES (9)",
        "CREATE OR REPLACE TABLE replaced (id INT PRIMARY KEY)",
        "INSERT INTO replaced VALUES (8)",
        "ALTER TABLE parts DROP PARTITION low",
        "INSERT INTO cut VALUES (3)",
        "TRUNCATE TABLE cut",
        "INSERT INTO cut VALUES (4)",
        "DROP TABLE gone",
        "RENAME TABLE old TO fresh",
        "INSERT INTO fresh VALUES (5)",
        "CREATE TABLE born (id INT PRIMARY KEY)",
        "INSERT INTO born VALUES (6)",
    )
    said = run(shop)
    assert f"{shop.database}.born is copied, too" in said
    reported = [line for line in said if "changed rows that the binlog does not have" in line]
    assert [line.partition(": ")[0] for line in reported] == [
        f"{shop.database}.{table}" for table in ("halves", "parts")
    ]
    every = (*tables, "parts", "halves", "half", "fresh", "born")
    ids = {t: sorted(row["id"] for row in shop.topic(t).values()) for t in every}
    assert ids == {
        "cut": [4],
        "gone": [],
        "old": [],
        "kept": [1, 2],
        "replaced": [8],
        "parts": [1, 2],
        "halves": [1, 2],
        "half": [2, 9],
        "fresh": [1, 2, 5],
        "born": [6],
    }
    shop.server.run(f"DROP DATABASE {shop.database}", f"CREATE DATABASE {shop.database}")
    run(shop)
    assert not any(shop.topic(table) for table in every)


def test_renamed_and_replaced_tables(shop: Shop) -> None:
    """Topics follow tables that are renamed and replaced, also several times in one batch.

    Online schema changes swap two tables in this way.
    """
    shop.write_job()
    for table in ("swapped", "swapped_new", "dropped", "dropped_new", "first"):
        shop.sql(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
        shop.sql(f"INSERT INTO {table} VALUES (1), (5)")
    run(shop)
    shop.sql(
        "DELETE FROM swapped WHERE id = 5",
        "DELETE FROM swapped_new WHERE id = 5",
        "RENAME TABLE swapped TO swapped_old, swapped_new TO swapped",
        "INSERT INTO swapped VALUES (6)",
        "DELETE FROM dropped WHERE id = 5",
        "DROP TABLE dropped",
        "DELETE FROM dropped_new WHERE id = 5",
        "RENAME TABLE dropped_new TO dropped",
        "RENAME TABLE first TO second",
        "INSERT INTO second VALUES (7)",
        "RENAME TABLE second TO third",
    )
    run(shop)
    for table in ("swapped", "swapped_old", "dropped", "third"):
        shop.check_copied(table, "id")


def test_a_table_that_is_created_and_changed_while_a_job_runs(shop: Shop) -> None:
    """With `ignore`, records of a new table keep its first columns. Another key ends the job."""
    shop.write_job()
    file = shop.folder / "job.yaml"
    file.write_text(file.read_text().replace("behavior: evolve", "behavior: ignore"))
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY)")
    job = shop.start()
    job.wait_for("binlog: ")
    shop.sql("CREATE TABLE born (id INT PRIMARY KEY, n INT)", "INSERT INTO born VALUES (1, 1)")
    job.wait_for("born is copied, too")
    shop.sql(
        "ALTER TABLE born ADD more INT NOT NULL DEFAULT 0, DROP n",
        "INSERT INTO born VALUES (2, 2)",
    )
    deadline = time.monotonic() + PATIENCE_S
    while len(found := shop.records("born")) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert found == {b'{"id":1}': b'{"id":1,"n":1}', b'{"id":2}': b'{"id":2,"n":null}'}
    shop.sql(
        "ALTER TABLE born DROP PRIMARY KEY, ADD PRIMARY KEY (more, id)",
        "INSERT INTO born VALUES (3, 3)",
    )
    code, _, said = job.end()
    assert code == 1, said
    assert f"the key of {shop.database}.born was id and is now more, id" in said
    assert shop.records("born") == found


def test_a_table_that_a_restart_adds_is_copied_after_other_ddl(shop: Shop) -> None:
    shop.write_job()
    file = shop.folder / "job.yaml"
    every = file.read_text()
    file.write_text(
        every.replace(f"tables: {shop.database}.\\.*", f"tables: {shop.database}.orders")
    )
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY)",
        "CREATE TABLE later (id INT PRIMARY KEY)",
        "INSERT INTO orders VALUES (1)",
        "INSERT INTO later VALUES (1), (2)",
    )
    run(shop)
    shop.sql("ALTER TABLE orders ADD n INT", "DELETE FROM later WHERE id = 1")
    file.write_text(every)
    run(shop)
    shop.check_copied("later", "id")


def test_excluded_tables_are_copied_once_included(shop: Shop) -> None:
    """A table is copied once it is no longer excluded by name, or gets a primary key."""
    every = "  ignore-no-primary-key-table: true\n"
    excluded = f"{every}  tables.exclude: {shop.database}.other\n"
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY)",
        "CREATE TABLE other (id INT PRIMARY KEY)",
        "CREATE TABLE keyless (id INT NOT NULL)",
    )
    for table in ("orders", "other", "keyless"):
        shop.sql(f"INSERT INTO {table} VALUES (1), (2)")
    shop.write_job(source=excluded)
    run(shop)
    shop.sql("ALTER TABLE keyless ADD PRIMARY KEY (id)", "DELETE FROM keyless WHERE id = 1")
    shop.write_job(source=every)
    run(shop)
    for table in ("orders", "other", "keyless"):
        shop.check_copied(table, "id")
    # As in a dump, the primary key is added after the rows.
    shop.sql(
        "CREATE TABLE dumped (id INT NOT NULL)",
        "INSERT INTO dumped VALUES (1), (2)",
        "ALTER TABLE dumped ADD PRIMARY KEY (id)",
        "INSERT INTO dumped VALUES (3)",
    )
    run(shop)
    shop.check_copied("dumped", "id")


@pytest.mark.parametrize("ignored", [True, False])
def test_a_table_without_a_key_is_created_while_a_job_runs(shop: Shop, ignored: bool) -> None:
    shop.write_job(source="  ignore-no-primary-key-table: true\n" if ignored else "")
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY)")
    job = shop.start()
    job.wait_for("binlog: ")
    shop.sql("CREATE TABLE born (id INT NOT NULL)", "INSERT INTO born VALUES (1)")
    if ignored:
        job.wait_for("born is left out until it has a primary key")
        shop.sql("ALTER TABLE born ADD PRIMARY KEY (id)", "INSERT INTO born VALUES (2)")
        deadline = time.monotonic() + PATIENCE_S
        while len(shop.records("born")) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        job.terminate()
    code, _, said = job.end()
    assert code == (0 if ignored else 1), said
    assert ignored or f"PRIMARY_KEY_REQUIRED: table {shop.database}.born" in said


def test_truncate_keeps_the_rows_of_another_table_in_the_topic(shop: Shop) -> None:
    """TRUNCATE deletes no keys in a topic that also gets rows of another table by a route."""
    shop.write_job()
    file = shop.folder / "job.yaml"
    sections, pipeline = file.read_text().split("pipeline:")
    source_and_sink = sections.partition("route:")[0]
    route = f"{{source-table: {shop.database}.old, sink-table: {shop.database}.orders}}"
    file.write_text(f"{source_and_sink}route:\n- {route}\npipeline:{pipeline}")
    for number, table in enumerate(("old", "orders")):
        shop.sql(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
        shop.sql(f"INSERT INTO {table} VALUES ({number})")
    said = run(shop)
    assert any("may hold rows of several tables" in line for line in said)
    shop.sql("TRUNCATE TABLE old", "TRUNCATE TABLE orders")
    run(shop)
    assert len(folded(records(shop.servers, f"{shop.database}.orders"))) == 2


def test_truncate_and_drop_keep_rows_moved_to_another_table(shop: Shop) -> None:
    """The last record of a key names the table that has the row."""
    headers = "  sink.add-tableId-to-header-enabled: true\n  sink.on-drop: tombstone\n"
    shop.write_job(sink=headers)
    file = shop.folder / "job.yaml"
    route = f"{shop.database}_<>\n    replace-symbol: <>"
    file.write_text(file.read_text().replace(route, f"{shop.database}_all"))
    for table in ("orders", "archive", "old"):
        shop.sql(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    shop.sql("INSERT INTO orders VALUES (1), (2)", "INSERT INTO old VALUES (5), (6)")
    run(shop)
    shop.sql(
        "INSERT INTO archive SELECT * FROM orders WHERE id = 1",
        "TRUNCATE TABLE orders",
        "INSERT INTO archive SELECT * FROM old WHERE id = 5",
        "DROP TABLE old",
    )
    run(shop)
    assert sorted(shop.records("all")) == [b'{"id":1}', b'{"id":5}']
    shop.sql("TRUNCATE TABLE archive")
    run(shop)
    assert not shop.records("all")


def test_faults_of_the_server_are_reported(shop: Shop) -> None:
    shop.write_job()
    shop.sql("CREATE TABLE keyless (n INT)", "CREATE TABLE good (id INT PRIMARY KEY)")
    ready, said = check(shop, password=WRONG)
    assert not ready
    assert "FAULT  connection to 127.0.0.1" in said
    assert "DATABASE_LOGIN_FAILED" in said
    assert WRONG not in said

    shop.server.run(f"REVOKE REPLICATION SLAVE ON *.* FROM {USER}@'%'")
    shop.server.run("SET GLOBAL binlog_row_image = 'MINIMAL'")
    shop.server.run("SET GLOBAL binlog_row_metadata = 'MINIMAL'")
    try:
        ready, said = check(shop)
        with pytest.raises(StreamtableError, match="DATABASE_NOT_READY"):
            run(shop)
    finally:
        shop.server.run(f"GRANT REPLICATION SLAVE ON *.* TO {USER}@'%'")
        shop.server.run("SET GLOBAL binlog_row_image = 'FULL'")
        shop.server.run("SET GLOBAL binlog_row_metadata = 'FULL'")
    assert not ready
    for part in (
        "SET GLOBAL binlog_row_image = 'FULL'",
        "SET GLOBAL binlog_row_metadata = 'FULL'",
        "FAULT  grants: DATABASE_REFUSED",
        f"FAULT  table {shop.database}.keyless: PRIMARY_KEY_REQUIRED",
        f"ok     table {shop.database}.good",
    ):
        assert part in said


@pytest.fixture
def lineage() -> Iterator[Backend]:
    with lineage_backend() as running:
        yield running


def test_a_job_shows_its_status_and_is_stopped(
    shop: Shop,
    lineage: Backend,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    shop.write_job(more="  name: copies\n")
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY, n INT)",
        "INSERT INTO orders SELECT seq, 1 FROM seq_1_to_250",
    )
    address = ("--set", f"openlineage.transport.url={lineage.address}")
    job = Cli.start(*shop.arguments("run", *shop.checkpoint, "--ui", *address))
    assert job.process.stderr is not None
    page = next(line for line in job.process.stderr if line.startswith("page of the job at "))
    job.wait_for("running")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = json.loads(command("status", "copies", "--json")[1])
        metrics = found["metrics"]
        written = metrics["tables"].get("Kafka", {}).get("numRecordsOut")
        reader = found["reader"]
        in_binlog = reader and reader["position"] and not reader["pending"]
        if written == 250 and metrics["queries"] and in_binlog:
            break
        assert time.monotonic() < deadline, found
        time.sleep(0.5)
    assert (found["kind"], found["state"]) == ("ingestion", "running")
    assert found["holder"] == job.process.pid
    assert found["metrics"]["queries"]["ingest"]["mode"] == "micro-batch"
    assert PASSWORD not in json.dumps(found)
    text = command("status", shop.checkpoint[1])[1]
    assert "  writes Kafka: 250 records, " in text
    assert f"  binlog           at {found['reader']['position'][:8]}" in text
    line = command("jobs")[1].splitlines()[1]
    assert line.split()[:3] == ["copies", "running", str(job.process.pid)]
    url = page.split()[-1].replace("/?", "/api/status?")
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - our own
        shown = json.load(answer)
    assert shown["job"]["metrics"]["tables"]["Kafka"]["numRecordsOut"] == 250
    assert [node["title"] for node in shown["graph"]["nodes"]] == ["MySQL reader", "Kafka"]
    assert PASSWORD not in json.dumps(shown)
    code, out, err = command("stop", "copies")
    assert code == 0, err
    assert out.startswith("job copies: stopped after ")
    assert job.end()[0] == 0
    table = f"{shop.database}.orders"
    assert lineage.of("copies") == lineage.of(f"copies.{table}") == ["START", "ABORT"]
    (read,), (written,) = lineage.events[-1]["inputs"], lineage.events[-1]["outputs"]
    assert (read["namespace"].partition(":")[0], read["name"]) == ("mysql", table)
    assert [column["name"] for column in read["facets"]["schema"]["fields"]] == ["id", "n"]
    assert written["namespace"] == f"kafka://{shop.servers}"
