"""Queries that write the same target, such as a topic: only together do they give its rows."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.runtime.checkpoint.assignment import Assignment
from streamtable.runtime.endpoints import target_of


def companions(queries: Assignment) -> Mapping[str, str]:
    """Return the unchanged queries whose rows are in the target of a changed query.

    Returns:
        name of the unchanged query -> name of the changed query. A query that no run has had yet
        is not in it, because it has no rows.
    """
    writers = {target_of(queries.plans[name]): name for name in queries.changed}
    found = {name: writers.get(target_of(plan)) for name, plan in queries.plans.items()}
    return {
        name: other
        for name, other in found.items()
        if other is not None and name not in queries.changed and name not in queries.added
    }
