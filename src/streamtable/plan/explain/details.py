"""EXPLAIN details: printed in addition to the plan, or refused."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.explain.advice import advice
from streamtable.plan.explain.explain import explain
from streamtable.plan.sink.sink import Root
from streamtable.sql.statements.model import Explain

#: Unsupported details of EXPLAIN -> what to do instead. CHANGELOG_MODE is always shown.
NOT_YET: Mapping[str, str] = {
    "ESTIMATED_COST": "topics have no statistics for an estimate; remove it",
    "JSON_EXECUTION_PLAN": "Spark creates its physical plan when the job runs; remove it",
}


def check_details(statement: Explain) -> None:
    """Raise NOT_YET for an unsupported detail."""
    for detail in statement.details:
        if detail in NOT_YET:
            raise StreamtableError(
                Condition.NOT_YET, at=statement.at, what=f"EXPLAIN {detail}", hint=NOT_YET[detail]
            )


def explained_plan(plan: Root, details: tuple[str, ...]) -> str:
    """Format a plan, with advice if requested."""
    text = explain(plan)
    return f"{text}\n\n{advice(plan)}" if "PLAN_ADVICE" in details else text
