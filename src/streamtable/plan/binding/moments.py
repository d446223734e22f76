"""Arithmetic of dates, times, timestamps and intervals.

A day of a DAY TO SECOND interval has 24 hours in every time zone, as in Flink. Such intervals have
whole milliseconds. Months are added to an instant in the UTC calendar.
"""

from __future__ import annotations

from streamtable.core.types import INTERVALS, NUMERIC, Root
from streamtable.plan.binding.bound import Bound, derived

EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_MICROSECOND = "INTERVAL '0.000001' SECOND"
_MICROS_PER_DAY = 86_400_000_000


def interval_arithmetic(operator: str, left: Bound, right: Bound) -> Bound | None:
    """Bind an operator with at least one interval; None if it is not defined."""
    nullable = left.type.nullable or right.type.nullable
    parts = (left, right)
    roots = (left.type.root, right.type.root)
    if operator in "+-" and roots[0] in INTERVALS and roots[0] is roots[1]:
        return derived(
            f"({left.sql} {operator} {right.sql})", left.type.with_nullable(nullable), parts
        )
    if operator == "+" and roots[0] in INTERVALS:
        left, right = right, left
    if operator in "+-" and left.type.root not in INTERVALS:
        sql = _moved(operator, left, right)
        return derived(sql, left.type.with_nullable(nullable), parts) if sql else None
    if operator == "*" and right.type.root in INTERVALS:
        left, right = right, left
    if operator in "*" and left.type.root in INTERVALS and right.type.root in NUMERIC:
        return derived(f"({left.sql} * {right.sql})", left.type.with_nullable(nullable), parts)
    return None


def negated_interval(operand: Bound) -> Bound:
    """Negate an interval."""
    return derived(f"(-{operand.sql})", operand.type, (operand,))


def microseconds(interval: Bound) -> str:
    """Convert a DAY TO SECOND interval to BIGINT microseconds."""
    if isinstance(interval.constant, int):
        return f"{interval.constant}L"
    return f"({interval.sql} div {_MICROSECOND})"


def in_utc(instant: str) -> str:
    """Convert an instant to the TIMESTAMP_NTZ in UTC, independent of the session's time zone."""
    return f"timestampadd(MICROSECOND, unix_micros({instant}), {EPOCH})"


def from_utc(local: str) -> str:
    """Convert a TIMESTAMP_NTZ in UTC to an instant."""
    return f"timestamp_micros(({local} - {EPOCH}) div {_MICROSECOND})"


def micros(moment: Bound) -> str:
    """Convert a timestamp to BIGINT microseconds since 1970; a local time is treated as UTC."""
    if moment.type.root is Root.TIMESTAMP_LTZ:
        return f"unix_micros({moment.sql})"
    return f"(({moment.sql} - {EPOCH}) div {_MICROSECOND})"


def millis(moment: Bound) -> str:
    """Convert a timestamp to BIGINT milliseconds, rounded down."""
    return f"unix_millis(timestamp_micros({micros(moment)}))"


def _moved(operator: str, moment: Bound, interval: Bound) -> str | None:
    plain = f"({moment.sql} {operator} {interval.sql})"
    months = interval.type.root is Root.INTERVAL_YEAR_MONTH
    match moment.type.root:
        case Root.DATE if months:
            return plain
        case Root.DATE:
            days = f"extract(DAY FROM {interval.sql})"
            return f"date_add({moment.sql}, {'-' if operator == '-' else ''}{days})"
        case Root.TIME if not months:
            micros = f"time_to_micros({moment.sql}) {operator} {microseconds(interval)}"
            back = f"time_from_micros(pmod({micros}, {_MICROS_PER_DAY}L))"
            return f"CAST({back} AS {moment.type.spark_sql()})"
        case Root.TIMESTAMP_LTZ if months:
            return from_utc(f"({in_utc(moment.sql)} {operator} {interval.sql})")
        case Root.TIMESTAMP_LTZ:
            # Spark would add whole days in local time, across a daylight saving change.
            micros = f"unix_micros({moment.sql}) {operator} {microseconds(interval)}"
            return f"timestamp_micros({micros})"
        case Root.TIMESTAMP:
            return plain
        case _:
            return None
