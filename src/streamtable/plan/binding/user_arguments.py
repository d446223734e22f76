"""Check the arguments that a user-defined function in any language may get."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import Root
from streamtable.plan.binding.bound import Bound


def check_arguments(function: str, arguments: Sequence[Bound], at: Span | None) -> None:
    """Refuse a BITMAP, for which neither Python nor Java has a value here.

    Raises:
        StreamtableError: NOT_YET.
    """
    if any(argument.type.holds(Root.BITMAP) for argument in arguments):
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what=f"a BITMAP as an argument of the user-defined function {function}",
            hint="pass BITMAP_TO_BYTES(...) or BITMAP_TO_ARRAY(...)",
        )
