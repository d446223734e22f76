"""Lineage events of whole jobs, received by a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import PAGEVIEWS, Cli, page_views, run, write
from tests.integration.lineage import Backend, lineage_backend

from streamtable.devbroker.broker import free_port
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

KEY = "key-4711"


@pytest.fixture
def backend() -> Iterator[Backend]:
    with lineage_backend() as running:
        yield running


@pytest.fixture
def arguments(broker: Broker, topic: Topics, tmp_path: Path) -> tuple[str, ...]:
    source, servers = topic("pageviews"), broker.bootstrap_servers
    produce_json(servers, source, page_views(1, 20))
    script = write(tmp_path / "job.sql", PAGEVIEWS)
    return (
        *("run", script, "--set", "pipeline.name=views"),
        *("--var", f"source={source}", "--var", f"out={source}-out", "--var", f"servers={servers}"),
    )


def test_events_of_a_bounded_run(
    backend: Backend, arguments: tuple[str, ...], broker: Broker
) -> None:
    code, out, err = run(
        *arguments,
        *("--bounded", "--set", f"openlineage.transport.url={backend.address}"),
        *("--set", f"openlineage.transport.auth.apiKey={KEY}"),
        *("--set", "openlineage.namespace=shop"),
    )
    assert code == 0, err
    assert KEY not in out + err
    assert backend.keys == {f"Bearer {KEY}"}
    query = "views.pageviews_per_region"
    assert backend.of("views") == backend.of(query) == ["START", "COMPLETE"]
    last = backend.events[-1]
    assert (last["job"]["namespace"], last["job"]["name"]) == ("shop", query)
    assert last["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    parent = last["run"]["facets"]["parent"]
    assert (parent["job"]["namespace"], parent["job"]["name"]) == ("shop", "views")
    assert parent["run"]["runId"] == backend.events[-2]["run"]["runId"]
    (read,), (written,) = last["inputs"], last["outputs"]
    namespace = f"kafka://{broker.bootstrap_servers}"
    assert read["namespace"] == written["namespace"] == namespace
    assert written["name"] == f"{read['name']}-out"
    columns = [(f["name"], f["type"]) for f in read["facets"]["schema"]["fields"]]
    assert columns[:2] == [("user_id", "BIGINT"), ("page_id", "BIGINT")]
    regions = {view["user_region"] for view in page_views(1, 20)}
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == len(regions)


def test_events_of_a_stopped_job_and_a_failed_job(
    backend: Backend, arguments: tuple[str, ...]
) -> None:
    address = ("--set", f"openlineage.transport.url={backend.address}")
    job = Cli.start(*arguments, *address)
    job.wait_for("running")
    job.terminate()
    assert job.end()[0] == 0
    assert backend.of("views") == ["START", "ABORT"]
    assert backend.events[0]["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    backend.events.clear()
    code, _, err = run(*arguments, *address, "--var", "source=not-there")
    assert code == 1, err
    assert backend.of("views") == ["START", "FAIL"]
    failed = backend.events[-1]["run"]["facets"]["errorMessage"]["message"]
    assert "TOPIC_MISSING: topic 'not-there' of table pageviews" in failed


def test_an_unreachable_server_does_not_end_the_job(arguments: tuple[str, ...]) -> None:
    address = f"http://user:{KEY}@127.0.0.1:{free_port()}"
    code, _, err = run(*arguments, "--bounded", "--set", f"openlineage.transport.url={address}")
    assert code == 0, err
    assert err.count("lineage events did not reach http://127.0.0.1:") == 1
    assert KEY not in err
