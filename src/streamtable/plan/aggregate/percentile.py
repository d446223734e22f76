"""Arguments of PERCENTILE: a number, percentages, and the frequency of the number."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BIGINT, DOUBLE, INTEGERS, NUMERIC, Field, row
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.casts import explicit_cast
from streamtable.plan.binding.literals import constant_number
from streamtable.sql.dialect import flink_sql
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of


def percentages_of(node: FlinkCall, argument: exp.Expr) -> tuple[str, ...]:
    """Return ONE or ARRAY, then the percentages, which must be constants from 0 to 1.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH.
    """
    is_array = isinstance(argument, FlinkCall) and argument.name == "ARRAY"
    parts = argument.expressions if is_array else [argument]
    numbers: list[str] = []
    for part in parts:
        number = constant_number(part)
        if number is None or not 0 <= float(number) <= 1:
            raise StreamtableError(
                Condition.ARGUMENT_MISMATCH,
                at=place_of(part) or place_of(node),
                function=node.name,
                expected="percentages from 0 to 1 as constants",
                found=flink_sql(part),
            )
        numbers.append(number)
    return ("ARRAY" if is_array else "ONE", *numbers)


def weighted(values: Sequence[Bound]) -> Bound | None:
    """Combine a number and its optional frequency to one value; NULL if the row does not count.

    None if the arguments have other types.
    """
    if values[0].type.root not in NUMERIC:
        return None
    number = explicit_cast(values[0], DOUBLE)
    if len(values) == 1:
        return number
    times = values[1]
    if times.type.root not in INTEGERS:
        return None
    pair = f"named_struct('v0', {number.sql}, 'v1', CAST({times.sql} AS BIGINT))"
    sql = f"CASE WHEN {times.sql} > 0 AND {number.sql} IS NOT NULL THEN {pair} END"
    return derived(f"({sql})", row(Field("v0", DOUBLE), Field("v1", BIGINT)), (number, times))
