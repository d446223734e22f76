"""Plan Python table functions in FROM: an `Expand` over the rows that a call returns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.binding.expressions import Binder, Input
from streamtable.plan.binding.python_calls import bind_python_call
from streamtable.plan.query.relation import Relation
from streamtable.plan.rows.plan_unnest import expand_elements
from streamtable.sql.nodes import TableFunction
from streamtable.sql.place import place_of


def plan_table_function(
    node: TableFunction, left: Relation, *, outer: bool, on: Sequence[exp.Expr] = ()
) -> Relation:
    """Join each row with the rows that a Python table function returns for it.

    Args:
        node: the call with its alias.
        left: the rows; arguments may refer to their columns.
        outer: whether rows without a result are also emitted.
        on: conditions; result rows for which a condition is not true are ignored.

    Raises:
        StreamtableError: NOT_YET for a function that the script does not create,
            FUNCTION_MISPLACED for a scalar function, ARGUMENT_MISMATCH.
    """
    call = node.this
    function = call.args.get("function")
    if function is None:
        raise StreamtableError(
            Condition.NOT_YET, at=place_of(node), what=f"table function {call.name} in FROM"
        )
    binder = Binder(Input(left.columns))
    arguments = [binder.bind(argument) for argument in call.expressions]
    value = bind_python_call(function, arguments, place_of(call), in_from=True)
    return expand_elements(node, value, left, outer=outer, on=on, what="TableFunction")
