"""EXPLAIN details: printed in addition to the plan."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.plan.explain.advice import advice
from streamtable.plan.explain.explain import explain
from streamtable.plan.sink.sink import Root

#: Details of EXPLAIN that a plan does not have -> the line that says so. CHANGELOG_MODE is always
#: shown.
_WITHOUT: Mapping[str, str] = {
    "ESTIMATED_COST": "no estimated cost: tables have no statistics for an estimate",
    "JSON_EXECUTION_PLAN": "no execution plan: Spark creates its physical plan when the job runs",
}


def explained_plan(plan: Root, details: tuple[str, ...]) -> str:
    """Format a plan, with advice if requested, and a line for each detail that it does not have."""
    text = explain(plan)
    if "PLAN_ADVICE" in details:
        text += f"\n\n{advice(plan)}"
    missing = [_WITHOUT[detail] for detail in dict.fromkeys(details) if detail in _WITHOUT]
    return "\n\n".join([text, *missing])
