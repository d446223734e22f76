"""EXPLAIN with its details: what is printed beside the plan, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.advice import advice
from streamtable.plan.explain import explain
from streamtable.plan.nodes import Root
from streamtable.sql.statements import Explain

#: Details of EXPLAIN that are not there yet, and the way out. CHANGELOG_MODE is always shown.
NOT_YET: Mapping[str, str] = {
    "ESTIMATED_COST": "there are no statistics of topics to estimate by; leave it out",
    "JSON_EXECUTION_PLAN": "Spark makes its physical plan when the job runs; leave it out",
}


def check_details(statement: Explain) -> None:
    """NOT_YET for a detail that is not there."""
    for detail in statement.details:
        if detail in NOT_YET:
            raise StreamtableError(
                Condition.NOT_YET, at=statement.at, what=f"EXPLAIN {detail}", hint=NOT_YET[detail]
            )


def explained_plan(plan: Root, details: tuple[str, ...]) -> str:
    """A plan as text, with advice where it is asked for."""
    text = explain(plan)
    return f"{text}\n\n{advice(plan)}" if "PLAN_ADVICE" in details else text
