"""Outline of a job for people: its name, and the operators and tables of each query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.options import Settings
from streamtable.core.settings.job import JOB_NAME
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.status.reporter import ReportedJob


def reported_job(
    plans: Mapping[str, Sink], settings: Settings, directory: CheckpointPath, *, temporary: bool
) -> ReportedJob:
    """Return what the status document of a job says about its queries.

    Args:
        plans: by the names of the queries.
        settings: the session's.
        directory: checkpoint directory.
        temporary: whether the directory is deleted at the end.
    """
    return ReportedJob(
        name=job_name(plans.values(), settings),
        kind="script",
        directory=directory,
        temporary=temporary,
        queries={name: _query(plan) for name, plan in plans.items()},
    )


def job_name(plans: Iterable[Sink], settings: Settings) -> str:
    """Return 'pipeline.name', or Flink's name of a job without one."""
    tables = ",".join(plan.table.name for plan in plans)
    return settings.get(JOB_NAME) or f"insert-into_{tables}"


def _query(plan: Sink) -> dict[str, Any]:
    return {
        "reads": list(dict.fromkeys(scan.table.name for scan in scans(plan.input))),
        "writes": plan.table.name,
        "operators": [node.title for node in every(plan.input) if node.state is not None],
    }
