"""Casts to and between DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ.

Spark's TIMESTAMP_NTZ stores a TIMESTAMP. Therefore only casts to and from TIMESTAMP_LTZ depend on
the session's time zone.
"""

from __future__ import annotations

from streamtable.core.types import MICROSECOND_DIGITS, TIMESTAMPS, DataType, Root
from streamtable.plan.binding.coercion import precision_of

TEMPORAL = frozenset({Root.DATE, Root.TIME, Root.TIMESTAMP, Root.TIMESTAMP_LTZ})

#: Texts that Flink accepts; Spark accepts more (zones, `T`, missing minutes).
_DATE = r"^\\d{4,5}(-\\d{1,2}(-\\d{1,2}( .*)?)?)?$"
_TIME = r"^\\d{1,2}(:\\d{1,2}(:\\d{1,2}(\\.\\d+)?)?)?$"
_TIMESTAMP = r"^\\d{4}-\\d{1,2}-\\d{1,2}( \\d{1,2}:\\d{1,2}:\\d{1,2}(\\.\\d{0,9})?)?$"

_LATE_DAY = r"^(\\d{4}-\\d{1,2})-(29|30|31)(?!\\d)"
_MIDNIGHT = r" 24:00?:00?(\\.0*)?$"


def from_text(sql: str, target: DataType) -> str | None:
    """Cast a string to a date or time, NULL if invalid; None if the target is neither."""
    match target.root:
        case Root.DATE:
            return f"if(trim({sql}) RLIKE '{_DATE}', CAST(trim({sql}) AS DATE), NULL)"
        case Root.TIME:
            full = f"if(instr({sql}, ':') = 0, concat(trim({sql}), ':00'), trim({sql}))"
            return f"if(trim({sql}) RLIKE '{_TIME}', CAST({full} AS {target.spark_sql()}), NULL)"
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            read = f"coalesce({plain_timestamp(sql)}, {_late_day(sql)}, {_midnight(sql)})"
            if target.root is Root.TIMESTAMP_LTZ:
                read = f"CAST({read} AS {target.spark_sql()})"
            return truncated(read, MICROSECOND_DIGITS, precision_of(target))
        case _:
            return None


def plain_timestamp(sql: str) -> str:
    """Cast a string to TIMESTAMP_NTZ; NULL if a field is out of range."""
    return f"if({sql} RLIKE '{_TIMESTAMP}', CAST(rtrim('.', {sql}) AS TIMESTAMP_NTZ), NULL)"


def _late_day(sql: str) -> str:
    """Replace a 29th, 30th or 31st that a month lacks by the month's last day, as Java does."""
    first = plain_timestamp(f"regexp_replace({sql}, '{_LATE_DAY}', '$1-01')")
    day = f"CAST(regexp_extract({sql}, '{_LATE_DAY}', 2) AS INT)"
    last = f"day(last_day(CAST({first} AS DATE)))"
    moved = f"{first} + make_dt_interval(least({day}, {last}) - 1)"
    return f"if({sql} RLIKE '{_LATE_DAY}', {moved}, NULL)"


def _midnight(sql: str) -> str:
    """Convert 24:00:00 to the end of the day."""
    date = plain_timestamp(f"regexp_replace({sql}, '{_MIDNIGHT}', '')")
    return f"if({sql} RLIKE '{_MIDNIGHT}', {date} + make_dt_interval(1), NULL)"


def temporal_to_temporal(sql: str, source: DataType, target: DataType) -> str | None:
    """Cast between date and time types; None if Flink has no such cast."""
    roots = (source.root, target.root)
    if roots in ((Root.DATE, Root.TIME), (Root.TIME, Root.DATE)):
        return None
    cast = f"CAST({sql} AS {target.spark_sql()})"
    if source.root is Root.TIME and target.root in TIMESTAMPS:
        at_epoch = f"make_timestamp_ntz(DATE'1970-01-01', {sql})"
        return f"CAST({at_epoch} AS {target.spark_sql()})"
    if source.root in TIMESTAMPS and target.root in TIMESTAMPS:
        moved = sql if source.root is target.root else cast
        return truncated(moved, precision_of(source), precision_of(target))
    return cast


def truncated(sql: str, digits: int, wanted: int) -> str:
    """Truncate, without rounding, the fractional digits of a timestamp."""
    if wanted >= min(digits, MICROSECOND_DIGITS):
        return sql
    unit = f"1e-{wanted}BD" if wanted else "1BD"
    beyond = f"extract(SECOND FROM {sql}) % {unit}"
    return f"({sql} - make_dt_interval(0, 0, 0, {beyond}))"
