"""Settings of a whole job: one process runs all INSERTs of a script, which Flink runs as jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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
from streamtable.core.settings.session import same_zone, zone_name
from streamtable.core.shown_options import value_shown

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


@dataclass
class StatementSettings:
    """Settings of the statements of a script so far.

    Attributes:
        query: settings in force at the last INSERT or SELECT; None before the first one.
        insert: the same of the last INSERT.
        late: the settings that were set since then, with their places.
    """

    query: Settings | None = None
    insert: Settings | None = None
    late: dict[str, Span | None] = field(default_factory=dict)

    def was_set(self, key: str, at: Span | None) -> None:
        """Take a SET."""
        if self.query is not None:
            self.late[key] = at

    def was_reset(self, key: str | None) -> None:
        """Take a RESET; None for all settings."""
        if key is None:
            self.late.clear()
        else:
            self.late.pop(key, None)

    def add(self, now: Settings, at: Span, *, writes: bool) -> list[str]:
        """Take an INSERT or SELECT, and check that one process can run it with those before it.

        Args:
            now: the settings in force at the statement.
            at: its place.
            writes: whether it is an INSERT.

        Returns:
            A line for each setting whose value at the last INSERT holds for all of them.

        Raises:
            StreamtableError: OPTION_CONFLICT for a setting of the process that differs, or for
                checkpoints of INSERTs in two directories.
        """
        if self.query is not None:
            _check_process(self.query, now, at)
        told = list(_job_notices(self.insert, now, at)) if writes and self.insert else []
        self.query = now
        self.insert = now if writes else self.insert
        self.late.clear()
        return told

    def notices(self) -> Iterator[str]:
        """Yield a line for each setting that no statement follows."""
        for key, at in self.late.items():
            yield f"{at}: SET '{key}' has no effect on the statements before it"


def _check_process(before: Settings, now: Settings, at: Span) -> None:
    # Settings of the Spark session, in which all statements of a script run.
    changed: list[Option[Any]] = []
    if not same_zone(zone_name(before), zone_name(now)):
        changed.append(TIME_ZONE)
    if before[RUNTIME_MODE] != now[RUNTIME_MODE]:
        changed.append(RUNTIME_MODE)
    for option in changed:
        shown = value_shown(before[option]), value_shown(now[option])
        raise _conflict(option.key, *shown, now.at(option) or at)
    for key in sorted(before.passthrough.keys() | now.passthrough.keys()):
        old, new = before.passthrough.get(key), now.passthrough.get(key)
        if old != new:
            given = now.given.get(f"spark.{key}")
            place = given.at if given and given.at else at
            raise _conflict("spark." + key, value_shown(old), value_shown(new), place)


def _job_notices(before: Settings, now: Settings, at: Span) -> Iterator[str]:
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
