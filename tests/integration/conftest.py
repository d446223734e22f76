"""Fixtures of all integration tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import kill_leftovers

from streamtable.testing.answers import INTERPRETED, set_for_a_while

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_jobs_left() -> Iterator[None]:
    """Kill jobs that a failed test left running. They would take the cores from later tests."""
    yield
    kill_leftovers()


#: Folders of tests of topics, state and checkpoints. Their queries are simple and have few rows.
_INTERPRETED = (
    "adopt",
    "differential/flink",
    "differential/state",
    "event_time",
    "jobs/sets",
    "jobs/sinks",
    "jobs/sources",
    "kafka",
    "proof",
    "stores",
    "upgrade",
    "why",
)


@pytest.fixture(scope="module", autouse=True)
def _interpreted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the suite's session interpret some plans.

    For few rows, generating code costs a third more. Tests of operators, expressions and formats,
    and jobs in processes of their own, run generated code.
    """
    folder = request.path.parent.relative_to(Path(__file__).parent).as_posix()
    items = (item for item in request.session.items if item.path == request.path)
    if folder in _INTERPRETED and any("spark" in item.fixturenames for item in items):
        with set_for_a_while(request.getfixturevalue("spark"), INTERPRETED):
            yield
    else:
        yield
