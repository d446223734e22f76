"""Bind calls of user-defined functions in any language."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.catalog.functions import UserFunction
from streamtable.catalog.java_functions import JavaFunction
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.java_calls import bind_java_call
from streamtable.plan.binding.python_calls import bind_python_call


def bind_user_call(
    function: UserFunction,
    arguments: Sequence[Bound],
    at: Span | None,
    *,
    in_from: bool = False,
) -> Bound:
    """Bind a call with its arguments cast to the parameter types.

    Args:
        function: the function.
        arguments: its arguments.
        at: the place of the call.
        in_from: whether FROM calls it as a table function.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH, FUNCTION_MISPLACED, AGGREGATE_MISPLACED.
    """
    if function.is_aggregate:
        raise StreamtableError(
            Condition.AGGREGATE_MISPLACED,
            at=at,
            function=function.name,
            clause="FROM" if in_from else "an expression over single rows",
        )
    if function.is_table != in_from:
        raise StreamtableError(
            Condition.FUNCTION_MISPLACED,
            at=at,
            function=function.name,
            kind=function.kind,
            clause="FROM" if in_from else "an expression",
            hint=function.table_hint if in_from else "write it in FROM: LATERAL TABLE(f(...))",
        )
    if isinstance(function, JavaFunction):
        return bind_java_call(function, arguments, at)
    return bind_python_call(function, arguments, at)
