"""Arguments of table functions by name (`SIZE => ...`) or by position, and DESCRIPTOR."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sqlglot import exp

from streamtable.core.errors import StreamtableError
from streamtable.sql.nodes import FlinkCall

#: Makes the error for an argument: its node, and the reason.
Invalid = Callable[[exp.Expr, str], StreamtableError]


def named_arguments(
    call: FlinkCall, parameters: Sequence[str], optional: Collection[str], invalid: Invalid
) -> dict[str, exp.Expr]:
    """Return the arguments of a call by the names of its parameters.

    Args:
        call: the call.
        parameters: names of the parameters, in order.
        optional: parameters that may be missing.
        invalid: makes the error for an unknown, repeated or missing argument.
    """
    expected = f"it takes ({', '.join(parameters)})"
    written = {name.upper(): name for name in parameters}
    given: dict[str, exp.Expr] = {}
    for position, argument in enumerate(call.expressions):
        if isinstance(argument, exp.Kwarg):
            found = written.get(str(argument.this.name).upper())
            if found is None:
                raise invalid(argument, f"it has no argument {argument.this.name}; {expected}")
            name, value = found, argument.args["expression"]
        elif position < len(parameters):
            name, value = parameters[position], argument
        else:
            raise invalid(argument, expected)
        if name in given:
            raise invalid(argument, f"{name} is given twice")
        given[name] = value
    missing = [name for name in parameters if name not in given and name not in optional]
    if missing:
        raise invalid(call, f"it lacks {', '.join(missing)}")
    return given


def described_column(node: exp.Expr) -> exp.Expr | None:
    """Return the only column of `DESCRIPTOR(column)`; None for anything else."""
    if not isinstance(node, FlinkCall) or node.name != "DESCRIPTOR":
        return None
    (column, *others) = node.expressions or (None,)
    return None if others else column
