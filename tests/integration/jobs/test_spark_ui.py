"""Spark's UI, which an option enables, names our operators and their keys."""

from __future__ import annotations

import json
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.jobs.support import PAGEVIEWS, PATIENCE_S, Cli, page_views, write

from streamtable.devbroker.broker import free_port
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def test_the_spark_ui_names_the_operators(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    source, port = topic("pageviews"), free_port()
    servers = broker.bootstrap_servers
    produce_json(servers, source, page_views(1, 20))
    job = Cli.start(
        *("run", write(tmp_path / "job.sql", PAGEVIEWS), "--set", "pipeline.name=views"),
        *("--var", f"source={source}", "--var", f"out={source}-out", "--var", f"servers={servers}"),
        *("--set", "spark.ui.enabled=true", "--set", f"spark.ui.port={port}"),
    )
    job.wait_for("running")
    api = f"http://127.0.0.1:{port}/api/v1/applications"
    application = _asked(api)[0]
    assert application["name"] == "views"
    deadline = time.monotonic() + PATIENCE_S
    while not (found := _asked(f"{api}/{application['id']}/sql?details=true&planDescription=true")):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert "GroupAggregate by (user_region)" in found[0]["planDescription"]
    job.terminate()
    assert job.end()[0] == 0


def _asked(url: str) -> Any:
    """Return an answer of Spark's monitoring API, which lists a query soon after its start."""
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - of this machine
        return json.load(answer)
