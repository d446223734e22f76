"""Check the positions of Python function calls in a plan."""

from __future__ import annotations

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.binding.python_calls import calls_python
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Root


def check_python_calls(plan: Root) -> None:
    """Raise NOT_YET for a call inside a stateful operator, which runs without Python."""
    if any(calls_python(node.pair_condition) for node in every(plan.input)):
        raise StreamtableError(
            Condition.NOT_YET,
            at=plan.at,
            what="a Python function in a join condition over both inputs",
            hint="compute it in a subquery of one input",
        )
