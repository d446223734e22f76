"""Settings of a whole job: one process runs all INSERTs of a script, which Flink runs as jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Option, Settings
from streamtable.core.settings.execution import (
    BUNDLE_SIZE,
    CHECKPOINT_DIRECTORY,
    CHECKPOINT_LEASE,
    MAX_LEAD,
    RUNTIME_MODE,
    STATE_ORDER,
    STATE_ROWS,
)
from streamtable.core.settings.job import JOB_NAME, PARALLELISM, PYTHON_FILES, TIME_ZONE
from streamtable.core.settings.reporting import (
    LINEAGE_API_KEY,
    LINEAGE_NAMESPACE,
    LINEAGE_URL,
    METRIC_LABELS,
)
from streamtable.core.shown_options import value_shown

#: Settings of the Spark session, in which all statements of a script run.
_OF_PROCESS: tuple[Option[Any], ...] = (TIME_ZONE, RUNTIME_MODE)

#: Settings with one value for all INSERTs that do not change the rows.
_LAST_HOLDS: tuple[Option[Any], ...] = (
    JOB_NAME,
    PARALLELISM,
    PYTHON_FILES,
    CHECKPOINT_LEASE,
    BUNDLE_SIZE,
    MAX_LEAD,
    STATE_ORDER,
    STATE_ROWS,
    METRIC_LABELS,
    LINEAGE_URL,
    LINEAGE_API_KEY,
    LINEAGE_NAMESPACE,
)


def check_process(before: Settings, now: Settings, at: Span) -> None:
    """Check that two statements can run in one Spark session.

    Args:
        before: the settings in force at the first statement.
        now: those at the second one.
        at: place of the second statement.

    Raises:
        StreamtableError: OPTION_CONFLICT for a setting that differs.
    """
    for option in _OF_PROCESS:
        if before[option] != now[option]:
            shown = value_shown(before[option]), value_shown(now[option])
            raise _conflict(option.key, *shown, now.at(option) or at)
    for key in sorted(before.passthrough.keys() | now.passthrough.keys()):
        old, new = before.passthrough.get(key), now.passthrough.get(key)
        if old != new:
            given = now.given.get(f"spark.{key}")
            place = given.at if given and given.at else at
            raise _conflict("spark." + key, value_shown(old), value_shown(new), place)


def job_notices(before: Settings, now: Settings, at: Span) -> Iterator[str]:
    """Check that two INSERTs can run in one job; yield a line for each setting of the last INSERT.

    The arguments are those of `check_process`, which is called first.

    Raises:
        StreamtableError: OPTION_CONFLICT for checkpoints in two directories.
    """
    old, new = before.get(CHECKPOINT_DIRECTORY), now.get(CHECKPOINT_DIRECTORY)
    if old != new:
        place = now.at(CHECKPOINT_DIRECTORY) or at
        raise _conflict(CHECKPOINT_DIRECTORY.key, value_shown(old), value_shown(new), place)
    for option in _LAST_HOLDS:
        if before.get(option) != now.get(option):
            yield (
                f"{now.at(option) or at}: one job runs all INSERTs of a script, and '{option.key}'"
                " of its last INSERT holds for all of them"
            )


def _conflict(key: str, before: str, now: str, at: Span) -> StreamtableError:
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=at,
        reason=f"'{key}' changes from {before} to {now}, but one process runs all statements of a"
        " script",
        hint="SET it before the first INSERT, or write a script for each value",
    )
