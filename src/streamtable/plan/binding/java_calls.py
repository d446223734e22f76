"""Bind calls of user-defined functions in Java, and choose their signature.

The rules are those of Flink's `OrInputTypeStrategy`: the first signature that needs no cast is
chosen, else the first one that implicit casts fit. A primitive parameter takes no nullable
argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamtable.catalog.java_functions import JavaFunction, JavaSignature
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import BYTES_ROOTS, CHARACTER, DataType, Root
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.casts import can_cast_implicitly, implicit_cast
from streamtable.plan.binding.user_arguments import check_arguments


def bind_java_call(function: JavaFunction, arguments: Sequence[Bound], at: Span | None) -> Bound:
    """Bind a call with its arguments cast to the parameter types.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH, NOT_YET.
    """
    check_arguments(function.name, arguments, at)
    signature = _chosen(function, [argument.type for argument in arguments])
    if signature is None:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            function=function.name,
            expected=" or ".join(function.usages()),
            found=", ".join(argument.type.sql() for argument in arguments),
        )
    taken = [_cast(argument, signature.argument(i)) for i, argument in enumerate(arguments)]
    listed = ", ".join(argument.sql for argument in taken)
    bound = derived(f"{function.spark_name_of(signature)}({listed})", signature.result, taken)
    return replace(bound, deterministic=bound.deterministic and function.deterministic, at=at)


def _chosen(function: JavaFunction, types: Sequence[DataType]) -> JavaSignature | None:
    fitting = [
        signature
        for signature in function.signatures
        if signature.takes(len(types))
        and all(_fits(kind, signature.argument(i)) for i, kind in enumerate(types))
    ]
    exact = (
        signature
        for signature in fitting
        if all(_needs_no_cast(kind, signature.argument(i)) for i, kind in enumerate(types))
    )
    return next(exact, fitting[0] if fitting else None)


def _fits(given: DataType, wanted: DataType | None) -> bool:
    if wanted is None:
        return True
    if given.nullable and not wanted.nullable:
        return False
    return can_cast_implicitly(given, wanted)


def _needs_no_cast(given: DataType, wanted: DataType | None) -> bool:
    if wanted is None or given.same_shape(wanted):
        return True
    for roots, longest in ((CHARACTER, Root.VARCHAR), (BYTES_ROOTS, Root.VARBINARY)):
        if given.root in roots and wanted.root is longest:
            return (given.precision or 0) <= (wanted.precision or 0)
    return False


def _cast(argument: Bound, wanted: DataType | None) -> Bound:
    if wanted is None:
        return argument
    cast = implicit_cast(argument, wanted.with_nullable(True))
    assert cast is not None, "the signature fits"  # noqa: S101
    return cast
