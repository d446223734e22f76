"""The example in `examples/mysql`: MySQL -> topic -> SQL -> topic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.ingest.support import folded
from tests.mariadb import PASSWORD, MariaDb

from streamtable.core.settings.session import SessionSettings
from streamtable.ingest.file.job_file import read_job
from streamtable.ingest.run.run import IngestOptions, run_ingest
from streamtable.runtime.job import RunOptions
from streamtable.session import Session
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

pytestmark = pytest.mark.usefixtures("spark")

EXAMPLE = Path(__file__).parents[3] / "examples" / "mysql"
#: Statements to skip: the user is that of the suite.
OF_THE_SUITE = ("CREATE USER", "GRANT")


def statements() -> list[str]:
    text = (EXAMPLE / "shop.sql").read_text()
    found = [part.strip() for part in text.split(";") if part.strip()]
    return [part for part in found if not part.startswith(OF_THE_SUITE)]


def test_totals_follow_the_orders_of_mysql(
    mariadb: MariaDb, own_broker: Broker, tmp_path: Path
) -> None:
    mariadb.run(*statements())
    text = (EXAMPLE / "job.yaml").read_text().replace("example-only", PASSWORD)
    variables = {"servers": own_broker.bootstrap_servers, "port": str(mariadb.port)}
    job = read_job(text, "job.yaml", variables)

    def totals() -> dict[str, tuple[int, float]]:
        options = IngestOptions(bounded=True, checkpoint=str(tmp_path / "job"))
        run_ingest(job, SessionSettings().current(), options, print, print)
        session = Session()
        session.load((EXAMPLE / "totals.sql").read_text(), "totals.sql", variables)
        session.run(RunOptions(bounded=True, checkpoint=str(tmp_path / "totals")), print)
        rows = [json.loads(v) for v in folded(read()).values()]
        return {row["customer"]: (row["orders"], row["amount"]) for row in rows}

    def read() -> list[object]:
        return records(own_broker.bootstrap_servers, "totals")

    try:
        assert totals() == {"Ada": (2, 42.5), "Grace": (1, 7.25)}
        mariadb.run(
            "UPDATE shop.orders SET customer = 'Grace' WHERE id = 1",
            "DELETE FROM shop.orders WHERE id = 2",
        )
        assert totals() == {"Grace": (2, 19.25)}
    finally:
        mariadb.run("DROP DATABASE shop")
