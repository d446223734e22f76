"""CASE, and the common type of the branches of a conditional expression."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import BOOLEAN, DataType, Root
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.casts import explicit_cast
from streamtable.plan.binding.coercion import common_type


def truth(condition: Bound, what: str) -> Bound:
    """Return a condition, which must be BOOLEAN (an untyped NULL is UNKNOWN).

    Raises:
        StreamtableError: ARGUMENT_MISMATCH that names `what`.
    """
    if condition.type.root is Root.NULL:
        return explicit_cast(condition, BOOLEAN)
    if condition.type.root is not Root.BOOLEAN:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=condition.at,
            function=what,
            expected="a BOOLEAN",
            found=condition.type.sql(),
        )
    return condition


def unified(what: str, branches: Sequence[Bound], at: Span | None) -> tuple[list[Bound], DataType]:
    """Cast the branches to their common type.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH if there is no common type.
    """
    kind = common_type([branch.type for branch in branches])
    if kind is None or kind.root is Root.NULL:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            hint="CAST them to one type",
            function=what,
            expected="values of one type",
            found=", ".join(branch.type.sql() for branch in branches),
        )
    return [explicit_cast(branch, kind) for branch in branches], kind


def case(
    branches: Sequence[tuple[Bound, Bound]], default: Bound | None, null: Bound, at: Span | None
) -> Bound:
    """Bind `CASE WHEN ... THEN ... ELSE ... END`; `null` is the value of a missing ELSE."""
    conditions = [truth(condition, "WHEN") for condition, _ in branches]
    given = [result for _, result in branches]
    results, kind = unified("CASE", [*given, default or null], at)
    whens = " ".join(
        f"WHEN {condition.sql} THEN {result.sql}"
        for condition, result in zip(conditions, results, strict=False)
    )
    sql = f"CASE {whens} ELSE {results[-1].sql} END"
    return derived(sql, kind, (*conditions, *results)).located(at)
