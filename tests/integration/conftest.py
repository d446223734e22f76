"""What holds for all tests that start something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import kill_leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_jobs_left() -> Iterator[None]:
    """A job that a failed test has left running would take the cores from all that follow."""
    yield
    kill_leftovers()
