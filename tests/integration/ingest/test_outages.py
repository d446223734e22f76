"""A server that goes away, and grants that do: reported clearly, and nothing is lost."""

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

#: The job tries again every three seconds; the reader tries each connection three times a second.
OUTAGES = [
    pytest.param(10, True, id="restart"),
    pytest.param(60, False, marks=pytest.mark.soak, id="crash"),
]


@pytest.mark.parametrize(("seconds", "polite"), OUTAGES)
def test_a_server_that_is_away(shop: Shop, seconds: int, polite: bool) -> None:
    """The job reports the outage, waits, and goes on without a restart."""
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
def test_a_login_that_is_refused_and_then_is_not(shop: Shop) -> None:
    """A wrong password and a revoked grant end a run with one line; the next run goes on."""
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
    # Changes of a known table need no SELECT.
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
