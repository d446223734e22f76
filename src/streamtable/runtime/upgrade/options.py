"""Options of an upgrade."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UpgradeOptions:
    """Options of an upgrade.

    Attributes:
        checkpoint: checkpoint directory of the stopped job.
        plan: only describe the upgrade.
        from_now: whether a query that cannot be rebuilt may continue without.
        stop_job: whether the job may run, and is stopped when the new queries have caught up.
        rollback: whether to undo the last upgrade; the script is that of before.
        master: Spark's master URL; None runs Spark on this machine.
        verbose: whether Spark's own log is shown.
    """

    checkpoint: str
    plan: bool = False
    from_now: bool = False
    stop_job: bool = False
    rollback: bool = False
    master: str | None = None
    verbose: bool = False
