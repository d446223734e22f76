"""Bind calls of user-defined Python functions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streamtable.catalog.functions import SPARK_PREFIX, PythonFunction
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.casts import implicit_cast
from streamtable.plan.binding.user_arguments import check_arguments
from streamtable.plan.functions import AGGREGATES
from streamtable.sql.nodes import FlinkCall


def bind_python_call(
    function: PythonFunction, arguments: Sequence[Bound], at: Span | None
) -> Bound:
    """Bind a call with its arguments cast to the parameter types.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH.
    """
    signature = function.signature
    taken = python_arguments(function, arguments, at)
    listed = ", ".join(argument.sql for argument in taken)
    bound = derived(f"{function.spark_name}({listed})", signature.result, taken)
    return Bound(
        bound.sql,
        bound.type,
        deterministic=bound.deterministic and signature.deterministic,
        paths=bound.paths,
        at=at,
    )


def called_aggregate(node: exp.Expr | None) -> PythonFunction | None:
    """Return the Python aggregate function that a node calls; None for other nodes."""
    function = node.args.get("function") if isinstance(node, FlinkCall) else None
    is_aggregate = isinstance(function, PythonFunction) and function.signature.is_aggregate
    return function if is_aggregate else None


def calls_aggregate(node: FlinkCall) -> bool:
    """Return whether a node calls an aggregate function, Flink's own or the user's."""
    if node.args.get("function") is None:
        return node.name in AGGREGATES
    return called_aggregate(node) is not None


def python_arguments(
    function: PythonFunction, arguments: Sequence[Bound], at: Span | None
) -> list[Bound]:
    """Return the arguments of a call, cast to the parameter types.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH, NOT_YET.
    """
    check_arguments(function.name, arguments, at)
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
    return taken


def calls_python(sql: str | None) -> bool:
    """Return whether Spark SQL calls a Python function."""
    return sql is not None and SPARK_PREFIX in sql
