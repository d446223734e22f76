"""The rollback of a query that writes several sinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.connector_api.sink import Rollback
from streamtable.core.settings.execution import ExecutionMode


def of_all_sinks(rollbacks: Sequence[Rollback]) -> Rollback | None:
    """Return the rollback of all sinks of a query that have one; None if there are none."""
    return _JointRollback(rollbacks) if len(rollbacks) > 1 else next(iter(rollbacks), None)


@dataclass(frozen=True)
class _JointRollback:
    """Rolls each sink back by itself; the query starts when all of them are."""

    rollbacks: Sequence[Rollback]

    @property
    def pending(self) -> bool:
        """Whether the next start rolls one of the sinks back."""
        return any(rollback.pending for rollback in self.rollbacks)

    @property
    def shared_obstacle(self) -> str | None:
        """Why the rollback of one of the sinks has ended."""
        return next(filter(None, (rollback.shared_obstacle for rollback in self.rollbacks)), None)

    def before_start(self, mode: ExecutionMode) -> bool:
        """Roll back what needs it; return whether any sink has older rows now."""
        changed = [rollback.before_start(mode) for rollback in self.rollbacks]
        return any(changed)

    def after_stop(self) -> None:
        """Note that the query no longer writes."""
        for rollback in self.rollbacks:
            rollback.after_stop()

    def settled(self) -> None:
        """Note that the last commit covers all written rows."""
        for rollback in self.rollbacks:
            rollback.settled()
