"""`(start, end) OVERLAPS (start, end)`."""

from __future__ import annotations

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import INTERVALS
from streamtable.plan.binding.arithmetic import arithmetic
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.cast_time import TEMPORAL
from streamtable.plan.binding.comparisons import all_of, compare


def overlaps(one: tuple[Bound, Bound], other: tuple[Bound, Bound], at: Span | None) -> Bound:
    """Bind `(start, end) OVERLAPS (start, end)`: common end points count; ends may come first.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for ends that are no dates or times.
    """
    (first, last), (begin, end) = (_ordered(*period, at) for period in (one, other))
    return all_of([compare("<=", first, end, at), compare("<=", begin, last, at)]).located(at)


def _ordered(start: Bound, end: Bound, at: Span | None) -> tuple[Bound, Bound]:
    if start.type.root not in TEMPORAL:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            function="OVERLAPS",
            expected="dates or times",
            found=start.type.sql(),
        )
    if end.type.root in INTERVALS:
        end = arithmetic("+", start, end, at)
    wrong = compare(">", start, end, at).sql
    parts = (start, end)
    return (
        derived(f"if({wrong}, {end.sql}, {start.sql})", start.type, parts),
        derived(f"if({wrong}, {start.sql}, {end.sql})", end.type, parts),
    )
