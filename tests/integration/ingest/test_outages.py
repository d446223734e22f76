"""Outages of the server and revoked grants: the job reports them clearly and loses no row."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from tests.integration.ingest.test_commands import SETTINGS, WRONG, job_of, run, verify
from tests.integration.ingest.test_workloads import IN_BINLOG
from tests.integration.jobs.support import PATIENCE_S
from tests.mariadb import PASSWORD, USER

from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.run.run import IngestOptions, run_ingest

if TYPE_CHECKING:
    from tests.integration.ingest.support import Shop

#: The job retries every three seconds. The reader retries each connection three times, one second
#: apart.
OUTAGES = [
    pytest.param(10, True, id="restart"),
    pytest.param(60, False, marks=pytest.mark.soak, id="crash"),
]


@pytest.mark.parametrize(("seconds", "polite"), OUTAGES)
def test_a_server_outage(shop: Shop, seconds: int, polite: bool) -> None:
    """The job reports the outage, waits, and continues without a restart."""
    shop.write_job()
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY, n INT)", "INSERT INTO orders VALUES (1, 1)")
    job = shop.start()
    job.wait_for(IN_BINLOG)
    shop.sql("INSERT INTO orders VALUES (2, 2)")
    if polite:
        shop.server.run("SHUTDOWN")
    shop.server.kill()
    try:
        job.wait_for("DATABASE_UNREACHABLE")
        time.sleep(seconds)
    finally:
        shop.server.start()
    shop.sql("UPDATE orders SET n = 3 WHERE id = 1", "INSERT INTO orders VALUES (3, 3)")
    until = time.monotonic() + PATIENCE_S
    while len(shop.topic("orders")) < 3 and time.monotonic() < until:
        time.sleep(0.5)
    job.terminate()
    code, _, said = job.end()
    assert code == 0, said
    shop.check_copied("orders", "id")


@pytest.mark.usefixtures("spark")
def test_the_run_after_a_refused_login_continues(shop: Shop) -> None:
    """A wrong password or a revoked grant ends a run with one error; the next run continues."""
    shop.write_job()
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY)", "INSERT INTO orders VALUES (1), (2)")
    run(shop)
    shop.sql("INSERT INTO orders VALUES (3)", "DELETE FROM orders WHERE id = 1")
    options = IngestOptions(bounded=True, checkpoint=shop.checkpoint[1])
    with pytest.raises(StreamtableError) as refused:
        run_ingest(job_of(shop, WRONG), SETTINGS, options, print, print)
    assert refused.value.condition is Condition.DATABASE_LOGIN_FAILED
    assert "check 'username' and 'password'" in str(refused.value)
    assert WRONG not in str(refused.value)
    # Reading changes of a known table needs no SELECT grant.
    for grant in ("REPLICATION SLAVE", "REPLICATION CLIENT"):
        shop.server.run(f"REVOKE {grant} ON *.* FROM {USER}@'%'")
        try:
            with pytest.raises(StreamtableError) as refused:
                run(shop)
        finally:
            shop.server.run(f"GRANT {grant} ON *.* TO {USER}@'%'")
        assert re.search(rf"GRANT .*{grant}", str(refused.value)), refused.value
        assert PASSWORD not in str(refused.value)
    run(shop)
    shop.check_copied("orders", "id")
    equal, said = verify(shop)
    assert equal, said


def test_a_grant_that_is_revoked_while_a_job_runs(shop: Shop) -> None:
    shop.write_job()
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY)", "INSERT INTO orders VALUES (1)")
    job = shop.start()
    job.wait_for(IN_BINLOG)
    shop.server.run(f"REVOKE REPLICATION SLAVE ON *.* FROM {USER}@'%'")
    try:
        shop.sql("INSERT INTO orders VALUES (2)")
        code, _, said = job.end()
    finally:
        shop.server.run(f"GRANT REPLICATION SLAVE ON *.* TO {USER}@'%'")
    assert code == 1, said
    last = said.strip().splitlines()[-1]
    assert "DATABASE_REFUSED" in last
    assert "GRANT SELECT, SHOW DATABASES, REPLICATION SLAVE" in last
    shop.bounded()
    shop.check_copied("orders", "id")


def test_connections_are_kept_and_may_be_killed(shop: Shop) -> None:
    """Batches open no connections. Killed ones are reopened, and no row is lost or repeated."""
    shop.write_job()
    shop.sql("CREATE TABLE orders (id INT PRIMARY KEY)", "INSERT INTO orders VALUES (0)")
    job = shop.start()
    job.wait_for(IN_BINLOG)
    for i in range(1, 4):
        _copied_alone(shop, i)
    kept = _connections(shop)
    assert len(kept) == 3, "for queries, for the stream, and one that the stream's library opens"
    for i in range(4, 9):
        _copied_alone(shop, i)
    assert _connections(shop) == kept
    shop.server.run(*(f"KILL {number}" for number in kept))
    for i in range(9, 12):
        _copied_alone(shop, i)
    assert len(_connections(shop)) == 3
    job.terminate()
    code, _, said = job.end()
    assert code == 0, said
    assert "trying again" not in said
    keys = [record.key() for record in shop.messages("orders")]
    assert sorted(keys) == sorted(b'{"id":%d}' % i for i in range(12))
    until = time.monotonic() + PATIENCE_S
    while _connections(shop) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _connections(shop)


def _copied_alone(shop: Shop, number: int) -> None:
    """Insert a row and wait for its record, so that the row has a batch of its own."""
    shop.sql(f"INSERT INTO orders VALUES ({number})")
    until = time.monotonic() + PATIENCE_S
    while len(shop.topic("orders")) < number + 1:
        assert time.monotonic() < until
        time.sleep(0.1)


def _connections(shop: Shop) -> set[int]:
    query = f"SELECT id FROM information_schema.processlist WHERE user = '{USER}'"
    return {number for (number,) in shop.server.run(query)}
