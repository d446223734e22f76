"""`streamtable check job.yaml` reports each item with its fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from pymysqlreplication import BinLogStreamReader
from tests.integration.ingest.test_commands import check
from tests.mariadb import PASSWORD, USER

if TYPE_CHECKING:
    from tests.integration.ingest.support import Shop

pytestmark = pytest.mark.usefixtures("spark")

GLOBAL = "SET GLOBAL"


@pytest.mark.parametrize(
    ("statement", "undo", "line", "fix"),
    [
        (
            f"{GLOBAL} binlog_format = 'MIXED'",
            f"{GLOBAL} binlog_format = 'ROW'",
            "FAULT  binlog settings: DATABASE_NOT_READY",
            "SET GLOBAL binlog_format = 'ROW'",
        ),
        (
            f"{GLOBAL} binlog_row_image = 'MINIMAL'",
            f"{GLOBAL} binlog_row_image = 'FULL'",
            "FAULT  binlog settings: DATABASE_NOT_READY",
            "SET GLOBAL binlog_row_image = 'FULL'",
        ),
        (
            f"{GLOBAL} binlog_row_metadata = 'NO_LOG'",
            f"{GLOBAL} binlog_row_metadata = 'FULL'",
            "FAULT  binlog settings: DATABASE_NOT_READY",
            "SET GLOBAL binlog_row_metadata = 'FULL'",
        ),
        (
            f"{GLOBAL} log_bin_compress = ON",
            f"{GLOBAL} log_bin_compress = OFF",
            "FAULT  binlog settings: DATABASE_NOT_READY",
            "SET GLOBAL log_bin_compress = OFF",
        ),
        (
            f"{GLOBAL} binlog_expire_logs_seconds = 7200",
            f"{GLOBAL} binlog_expire_logs_seconds = 0",
            "ok     binlog retention: 127.0.0.1",
            "SET GLOBAL binlog_expire_logs_seconds = 604800",
        ),
        (
            f"REVOKE REPLICATION CLIENT ON *.* FROM {USER}@'%'",
            f"GRANT REPLICATION CLIENT ON *.* TO {USER}@'%'",
            "FAULT  grants: DATABASE_REFUSED",
            "REPLICATION CLIENT ON *.* TO",
        ),
        (
            f"REVOKE SELECT ON *.* FROM {USER}@'%'",
            f"GRANT SELECT ON *.* TO {USER}@'%'",
            "note   no table matches",
            "the user sees only tables that it may read",
        ),
    ],
)
def test_settings_and_grants(shop: Shop, statement: str, undo: str, line: str, fix: str) -> None:
    shop.write_job()
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY)")
    shop.server.run(statement)
    try:
        ready, said = check(shop)
    finally:
        shop.server.run(undo)
    assert ready is not line.startswith("FAULT")
    (found,) = (text for text in said.splitlines() if text.startswith(line))
    assert fix in found


def test_server_ids(shop: Shop) -> None:
    shop.write_job()
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY)")
    # MariaDB lists its replicas only with the grant REPLICATION MASTER ADMIN.
    _, said = check(shop)
    assert "ok     server-id: only compared with the id of the server" in said
    assert "GRANT REPLICATION MASTER ADMIN" in said
    shop.server.run(f"GRANT REPLICATION MASTER ADMIN ON *.* TO {USER}@'%'")
    access = {"host": "127.0.0.1", "port": shop.server.port, "user": USER, "passwd": PASSWORD}
    for name, said_of_it in (
        ("another", "FAULT  server-id: DATABASE_NOT_READY"),
        ("streamtable", "ok     server-id: server-id 8602 is used by a running job"),
    ):
        replica = BinLogStreamReader(access, server_id=8602, report_slave=name, blocking=True)
        replica.fetchone()
        try:
            _, said = check(shop)
        finally:
            replica.close()
        assert said_of_it in said
    shop.server.run(f"REVOKE REPLICATION MASTER ADMIN ON *.* FROM {USER}@'%'")


def test_topics(shop: Shop) -> None:
    """`check` reports a topic without compaction, a table without a key, and a wrong transform."""
    shop.write_job(
        more=f"transform:\n  - source-table: {shop.database}.bad\n    filter: nobody > 1\n"
    )
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY)",
        "CREATE TABLE bad (id INT PRIMARY KEY)",
        "CREATE TABLE keyless (id INT)",
    )
    topic = f"{shop.database}_orders"
    admin = AdminClient({"bootstrap.servers": shop.servers})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result()
    ready, said = check(shop)
    assert not ready
    lines = said.splitlines()
    (found,) = (line for line in lines if line.startswith(f"ok     topic {topic}"))
    assert "cleanup.policy=delete" in found
    assert "set it to compact" in found
    (found,) = (line for line in lines if f"table {shop.database}.bad" in line)
    assert found.startswith("FAULT")
    assert "UNKNOWN_COLUMN: column 'nobody'" in found
    (found,) = (line for line in lines if f"table {shop.database}.keyless" in line)
    assert "primary-keys" in found
