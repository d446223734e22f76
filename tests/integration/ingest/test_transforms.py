"""Transforms with filters and computed columns, in the snapshot, after DDL and after restarts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from tests.integration.ingest.test_commands import run, verify
from tests.integration.ingest.test_workloads import IN_BINLOG
from tests.integration.jobs.support import PATIENCE_S

from streamtable.core.errors import StreamtableError

if TYPE_CHECKING:
    from tests.integration.ingest.support import Shop

pytestmark = pytest.mark.usefixtures("spark")

TRANSFORM = """\
transform:
  - source-table: {database}.orders\\.*
    projection: \\*, UPPER(who) AS who, amount * 2 AS twice, __table_name__ || '!' AS origin
    filter: twice > 10 AND note IS NULL
    primary-keys: {keys}
"""


def rows(shop: Shop, table: str) -> dict[str, object]:
    """Return the keys and values of a topic as text."""
    return {k.decode(): v.decode() for k, v in shop.records(table).items()}


def test_rows_enter_and_leave_a_filter(shop: Shop) -> None:
    shop.write_job(more=TRANSFORM.format(database=shop.database, keys="id"))
    columns = "id INT PRIMARY KEY, who VARCHAR(20), amount DECIMAL(10,2), note JSON"
    shop.sql(
        f"CREATE TABLE orders ({columns})",
        "CREATE TABLE plain (id INT PRIMARY KEY)",
        "INSERT INTO plain VALUES (1)",
        "INSERT INTO orders SELECT seq, 'ada', seq, NULL FROM seq_1_to_9",
    )
    run(shop)
    assert rows(shop, "plain") == {'{"id":1}': '{"id":1}'}
    assert rows(shop, "orders") == {
        f'{{"id":{i}}}': f'{{"id":{i},"amount":{i}.00,"note":null,"who":"ADA",'
        f'"twice":{2 * i}.00,"origin":"orders!"}}'
        for i in range(6, 10)
    }
    shop.sql(
        "UPDATE orders SET amount = 50 WHERE id = 1",  # enters
        "UPDATE orders SET note = '{}' WHERE id = 6",  # leaves
        "UPDATE orders SET amount = 3 WHERE id = 2",  # stays outside
        "UPDATE orders SET who = 'grace' WHERE id = 7",  # stays inside
        "UPDATE orders SET id = 80 WHERE id = 8",
        "DELETE FROM orders WHERE id IN (3, 9)",
    )
    before = len(shop.messages("orders"))
    run(shop)
    assert len(shop.messages("orders")) == before + 6
    assert sorted(rows(shop, "orders")) == ['{"id":1}', '{"id":7}', '{"id":80}']
    assert '"who":"GRACE"' in str(rows(shop, "orders")['{"id":7}'])
    equal, said = verify(shop)
    assert equal, said


def test_transforms_follow_changes_of_tables(shop: Shop) -> None:
    """A running job follows a wider type, a new column and a new table with other types."""
    shop.write_job(more=TRANSFORM.format(database=shop.database, keys="origin, id"))
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY, who TEXT, amount INT, note TEXT)",
        "INSERT INTO orders VALUES (1, 'a', 10, NULL), (2, 'b', 20, NULL)",
    )
    job = shop.start()
    job.wait_for(IN_BINLOG)
    shop.sql(
        "UPDATE orders SET amount = 11 WHERE id = 1",
        "ALTER TABLE orders MODIFY amount BIGINT, ADD COLUMN more INT",
        "UPDATE orders SET amount = 5000000000, more = 7 WHERE id = 2",
        "CREATE TABLE orders_2 (id BIGINT PRIMARY KEY, who CHAR(3), amount FLOAT, note BLOB)",
        "INSERT INTO orders_2 VALUES (1, 'x', 7.5, NULL), (2, 'y', 1, NULL)",
    )
    job.wait_for("transforms are planned anew")
    until = time.monotonic() + PATIENCE_S
    while len(rows(shop, "orders_2")) < 1 and time.monotonic() < until:
        time.sleep(0.5)
    job.terminate()
    code, _, said = job.end()
    assert code == 0, said
    assert rows(shop, "orders") == {
        '{"id":1,"origin":"orders!"}': '{"id":1,"amount":11,"note":null,"who":"A","twice":22,'
        '"origin":"orders!"}',
        '{"id":2,"origin":"orders!"}': '{"id":2,"amount":5000000000,"note":null,"more":7,'
        '"who":"B","twice":10000000000,"origin":"orders!"}',
    }
    assert list(rows(shop, "orders_2")) == ['{"id":1,"origin":"orders_2!"}']
    equal, said = verify(shop)
    assert equal, said

    shop.sql("ALTER TABLE orders DROP COLUMN note", "INSERT INTO orders VALUES (3, 'c', 9, 1)")
    with pytest.raises(StreamtableError, match=r"job\.yaml:.*UNKNOWN_COLUMN: column 'note'"):
        run(shop)
    shop.sql("ALTER TABLE orders ADD COLUMN note TEXT")
    run(shop)
    assert len(rows(shop, "orders")) == 3


def test_transforms_of_tables_that_no_longer_exist(shop: Shop) -> None:
    """A restart reads changes of tables that were dropped, created and dropped, or replaced.

    The replacement is a changed copy of the table.
    """
    shop.write_job(more=TRANSFORM.format(database=shop.database, keys="id"))
    columns = "id INT PRIMARY KEY, who VARCHAR(20), amount INT, note TEXT"
    for table in ("orders", "orders_2024"):
        shop.sql(
            f"CREATE TABLE {table} ({columns}, done TINYINT(1))",
            f"INSERT INTO {table} VALUES (1, 'a', 10, NULL, 1)",
        )
    run(shop)
    shop.sql(
        "UPDATE orders_2024 SET amount = 20",
        "ALTER TABLE orders_2024 MODIFY amount DECIMAL(10, 2)",
        "INSERT INTO orders_2024 VALUES (2, 'b', 20.5, NULL, 0)",
        "DROP TABLE orders_2024",
        "CREATE TABLE orders_tmp (id INT PRIMARY KEY, who TEXT, amount FLOAT, note TEXT)",
        "INSERT INTO orders_tmp VALUES (1, 'c', 7.5, NULL)",
        "DROP TABLE orders_tmp",
        "CREATE TABLE orders_tmp (id INT PRIMARY KEY, who TEXT, amount DOUBLE, note BLOB)",
        "INSERT INTO orders_tmp VALUES (2, 'd', 8.5, NULL)",
        "RENAME TABLE orders_tmp TO orders_gone",
        "DROP TABLE orders_gone",
        "CREATE TABLE orders_gho LIKE orders",
        "ALTER TABLE orders_gho MODIFY amount BIGINT",
        "INSERT INTO orders_gho SELECT * FROM orders",
        "RENAME TABLE orders TO orders_del, orders_gho TO orders",
        "INSERT INTO orders VALUES (3, 'e', 5000000000, NULL, 1)",
        "DROP TABLE orders_del",
    )
    said = run(shop)
    assert any("transforms are planned anew" in line for line in said)
    twice = lambda t: {k: row["twice"] for k, row in shop.topic(t).items()}  # noqa: E731
    assert twice("orders_2024") == {b'{"id":1}': 40, b'{"id":2}': 41}
    assert twice("orders_tmp") == {b'{"id":1}': 15, b'{"id":2}': 17}
    assert twice("orders") == {b'{"id":1}': 20, b'{"id":3}': 10_000_000_000}
    equal, told = verify(shop)
    assert equal, told


def test_metadata_of_a_change(shop: Shop) -> None:
    transform = """\
transform:
  - source-table: {database}.orders
    projection: id, __data_event_type__ AS op, op_ts > 0 AS later
"""
    shop.write_job(source="  metadata.list: op_ts\n", more=transform.format(database=shop.database))
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY, n INT)", "INSERT INTO orders VALUES (1, 1)")
    run(shop)
    shop.sql("INSERT INTO orders VALUES (2, 2), (3, 3)", "UPDATE orders SET n = 4 WHERE id = 3")
    run(shop)
    assert list(rows(shop, "orders").values()) == [
        '{"id":1,"op":"+I","later":false}',
        '{"id":2,"op":"+I","later":true}',
        '{"id":3,"op":"+U","later":true}',
    ]


def test_a_snapshot_uses_the_key_of_a_transform(shop: Shop) -> None:
    transform = f"""\
transform:
  - source-table: {shop.database}.keyless
    primary-keys: a, b
"""
    column = f"  scan.incremental.snapshot.chunk.key-column: {shop.database}.keyless:b\n"
    shop.write_job(source=column, more=transform)
    shop.sql(
        "CREATE TABLE keyless (a INT, b INT, t VARCHAR(9))",
        "INSERT INTO keyless SELECT seq % 3, seq, 'x' FROM seq_1_to_500",
    )
    run(shop)
    shop.sql("UPDATE keyless SET t = 'y' WHERE b < 10", "DELETE FROM keyless WHERE b = 500")
    run(shop)
    shop.check_copied("keyless", "a", "b")
    equal, said = verify(shop)
    assert equal, said
