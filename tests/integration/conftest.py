"""What holds for all tests that start something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import kill_leftovers

from streamtable.testing.answers import INTERPRETED, set_for_a_while

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def _no_jobs_left() -> Iterator[None]:
    """A job that a failed test has left running would take the cores from all that follow."""
    yield
    kill_leftovers()


@pytest.fixture(scope="module")
def interpreted(spark: SparkSession) -> Iterator[None]:
    """The suite's session interprets its plans: over a few rows, generated code costs a third more.

    Tests of expressions and formats, and jobs in processes of their own, run generated code.
    """
    with set_for_a_while(spark, INTERPRETED):
        yield
