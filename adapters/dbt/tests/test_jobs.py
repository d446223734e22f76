"""The life of a job: start, the same again, a change that is accepted, one that is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import new_project

from streamtable.runtime.status.document import JobState
from streamtable.runtime.status.found import find_job

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support import Project

    from streamtable.devbroker.broker import Broker

_PID = re.compile(r"pid (\d+)")

_LIVE = """{{ config(materialized='streaming_table', primary_key=['region'],
  connector='upsert-kafka', with={'key.format': 'json', 'value.format': 'json'}) }}
SELECT region, COUNT(*) AS n FROM {{ source('shop', 'orders') }}
WHERE region IS NOT NULL GROUP BY region
"""


@pytest.fixture
def project(broker: Broker, tmp_path: Path) -> Iterator[Project]:
    """Give a project whose jobs end with the test."""
    made = new_project(tmp_path, broker)
    yield made
    made.kill_jobs()


def _run(project: Project, *arguments: str) -> tuple[int, str]:
    code, output = project.dbt("run", "--select", "live", *arguments)
    status, message = project.results()["live"]
    assert (status == "success") == (code == 0), output
    return code, message


def test_a_job_is_started_left_alone_restarted_and_kept(project: Project) -> None:
    project.write(models__live_sql=_LIVE)
    code, message = _run(project)
    assert code == 0
    assert message.startswith("JOB STARTED, pid ")
    first = int(_PID.findall(message)[0])

    assert _run(project) == (0, f"JOB RUNS, pid {first}")

    project.write(models__live_sql=f"{_LIVE}-- the same plan\n")
    code, message = _run(project)
    assert code == 0
    assert message.startswith("JOB RESTARTED, pid ")
    second = int(_PID.findall(message)[0])
    assert second != first

    code, message = _run(project, "--full-refresh")
    assert code == 1
    checkpoint = project.root / "checkpoints" / "live"
    assert "does not support --full-refresh" in message
    assert f"streamtable stop {checkpoint}" in message
    assert find_job(str(checkpoint)).holder == second

    project.write(models__live_sql=_LIVE.replace("COUNT(*)", "SUM(order_id)"))
    code, message = _run(project)
    assert code == 1
    assert "CHECKPOINT_MISMATCH" in message
    assert "`alias: live_v2`" in message
    third = int(_PID.findall(message)[-1])
    found = find_job(str(checkpoint))
    assert found.state is JobState.RUNNING
    assert found.holder == third
    assert third != second
