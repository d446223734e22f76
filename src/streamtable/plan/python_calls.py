"""Calls of the user's Python functions -> Spark SQL, and where they cannot stand."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.catalog.functions import SPARK_PREFIX, PythonFunction
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.casts import implicit_cast
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Node, Root
from streamtable.plan.stateful_nodes import Join
from streamtable.plan.time_joins import TimeJoin


def bind_python_call(
    function: PythonFunction, arguments: Sequence[Bound], at: Span | None
) -> Bound:
    """A call, its arguments cast to what the function takes.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH.
    """
    signature = function.signature
    fixed = signature.parameters
    fits = signature.required <= len(arguments) and (
        signature.variadic or len(arguments) <= len(fixed)
    )
    taken: list[Bound] = []
    for position, argument in enumerate(arguments if fits else ()):
        wanted = fixed[position] if position < len(fixed) else None
        cast = argument if wanted is None else implicit_cast(argument, wanted.with_nullable(True))
        if cast is None:
            fits = False
            break
        taken.append(cast)
    if not fits:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            function=function.name,
            expected=signature.usage(),
            found=", ".join(argument.type.sql() for argument in arguments),
        )
    listed = ", ".join(argument.sql for argument in taken)
    bound = derived(f"{function.spark_name}({listed})", signature.result, taken)
    return Bound(
        bound.sql,
        bound.type,
        deterministic=bound.deterministic and signature.deterministic,
        fields=bound.fields,
        at=at,
    )


def calls_python(sql: str | None) -> bool:
    """Whether a text of Spark SQL calls a function of the user's."""
    return sql is not None and SPARK_PREFIX in sql


def check_python_calls(sink: Root) -> None:
    """NOT_YET for a call inside an operator with state, which runs without Python."""
    _check(sink.input, sink)


def _check(node: Node, sink: Root) -> None:
    if isinstance(node, Join | TimeJoin | LookupJoin) and calls_python(node.condition):
        raise StreamtableError(
            Condition.NOT_YET,
            at=sink.at,
            what="a Python function in a join condition over both inputs",
            hint="compute it in a subquery of one input",
        )
    for child in node.inputs:
        _check(child, sink)
