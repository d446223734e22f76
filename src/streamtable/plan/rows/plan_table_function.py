"""Plan user-defined table functions in FROM: an `Expand` over the rows that a call returns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.binding.expressions import Binder, Input
from streamtable.plan.binding.user_calls import bind_user_call
from streamtable.plan.functions import AGGREGATES, FUNCTIONS
from streamtable.plan.query.relation import Relation
from streamtable.plan.rows.plan_unnest import expand_elements
from streamtable.sql.nodes import FlinkCall, TableArgument, TableFunction
from streamtable.sql.place import place_of


def plan_table_function(
    node: TableFunction, left: Relation, *, outer: bool, on: Sequence[exp.Expr] = ()
) -> Relation:
    """Join each row with the rows that a table function returns for it.

    Args:
        node: the call with its alias.
        left: the rows; arguments may refer to their columns.
        outer: whether rows without a result are also emitted.
        on: conditions; result rows for which a condition is not true are ignored.

    Raises:
        StreamtableError: UNKNOWN_FUNCTION, NOT_YET for a function of Flink, FUNCTION_MISPLACED for
            a scalar function, ARGUMENT_MISMATCH.
    """
    call = node.this
    function = call.args.get("function")
    if function is None:
        raise _no_table_function(call)
    binder = Binder(Input(left.columns))
    arguments = [binder.bind(argument) for argument in call.expressions]
    value = bind_user_call(function, arguments, place_of(call), in_from=True)
    return expand_elements(node, value, left, outer=outer, on=on, what="TableFunction")


def _no_table_function(call: FlinkCall) -> StreamtableError:
    """Return the error for a call in FROM of a function that the script does not create."""
    known, at = FUNCTIONS.get(call.name), place_of(call)
    if known is not None and known.lacking:
        what = f"table function {call.name}"
        return StreamtableError(Condition.NOT_YET, at=at, what=what, hint=known.instead)
    if call.find(TableArgument) is not None:
        what = f"process table function {call.name}"
        return StreamtableError(Condition.NOT_YET, at=at, what=what)
    if known is not None or call.name in AGGREGATES:
        return StreamtableError(
            Condition.FUNCTION_MISPLACED,
            at=at,
            function=call.name,
            kind="no table function",
            clause="FROM",
            hint="call it in SELECT",
        )
    hint = "CREATE FUNCTION creates it from a Python function with @udtf, or from a class in Java"
    return StreamtableError(Condition.UNKNOWN_FUNCTION, at=at, function=call.name, hint=hint)
