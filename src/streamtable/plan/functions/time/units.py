"""Units of time: EXTRACT, FLOOR and CEIL TO, TIMESTAMPADD, TIMESTAMPDIFF.

For an instant (TIMESTAMP_LTZ), EXTRACT, FLOOR and CEIL use the session's time zone. Months are
added and counted in UTC, as in Flink. A TIMESTAMP is independent of time zones.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import INTERVALS, DataType, Root, timestamp
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.cast_time import truncated
from streamtable.plan.binding.coercion import precision_of
from streamtable.plan.binding.moments import EPOCH, from_utc, in_utc
from streamtable.plan.functions.model import Arguments

_UNIT_MICROS: Mapping[str, int] = {
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
_UNIT_MONTHS: Mapping[str, int] = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}

_OF_CLOCK = ("HOUR", "MINUTE", "SECOND")

ADDED = (*_UNIT_MICROS, *_UNIT_MONTHS)

_PARTS: Mapping[str, str] = {
    "YEAR": "year({0})",
    "QUARTER": "quarter({0})",
    "MONTH": "month({0})",
    "WEEK": "weekofyear({0})",
    "DAY": "day({0})",
    "DOY": "dayofyear({0})",
    "DOW": "dayofweek({0})",
    "ISODOW": "weekday({0}) + 1",
    "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "DECADE": "floor(year({0}) / 10BD)",
    "CENTURY": "ceil(year({0}) / 100BD)",
    "MILLENNIUM": "ceil(year({0}) / 1000BD)",
}
_CLOCK: Mapping[str, str] = {
    "HOUR": "hour({0})",
    "MINUTE": "minute({0})",
    "SECOND": "second({0})",
    "MILLISECOND": "extract(SECOND FROM {0}) % 1BD * 1000",
    "MICROSECOND": "extract(SECOND FROM {0}) % 1BD * 1000000",
    "NANOSECOND": "extract(SECOND FROM {0}) % 1BD * 1000000000",
}
EXTRACTED = (*_PARTS, *_CLOCK, "EPOCH")
_OF_INTERVAL = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def extract(arguments: Arguments) -> str:
    """Return Spark SQL of `EXTRACT(unit FROM value)` as BIGINT, from unit and value."""
    unit, value = str(arguments[0].constant), arguments[1]
    root = value.type.root
    if root in INTERVALS:
        if unit not in _OF_INTERVAL:
            raise _unit_error(arguments[0], f"EXTRACT({unit} FROM an interval)")
        return f"CAST(extract({unit} FROM {value.sql}) AS BIGINT)"
    if root is Root.TIME and unit not in _CLOCK:
        raise _unit_error(arguments[0], f"EXTRACT({unit} FROM a TIME)")
    if root is Root.DATE and unit in _CLOCK:
        return f"if({value.sql} IS NULL, NULL, 0L)"
    if unit == "EPOCH":
        # For an instant too, Flink returns the epoch of its local time.
        return f"((CAST({value.sql} AS TIMESTAMP_NTZ) - {EPOCH}) div INTERVAL '1' SECOND)"
    template = _PARTS.get(unit) or _CLOCK[unit]
    return f"CAST({template.format(value.sql)} AS BIGINT)"


def _unit_error(unit: Bound, what: str) -> StreamtableError:
    return StreamtableError(Condition.NOT_YET, at=unit.at, what=what)


_DATE_FLOORS: Mapping[str, str] = {
    "MILLENNIUM": "make_date(CAST(floor((year({0}) - 1) / 1000BD) * 1000 + 1 AS INT), 1, 1)",
    "CENTURY": "make_date(CAST(floor((year({0}) - 1) / 100BD) * 100 + 1 AS INT), 1, 1)",
    "DECADE": "make_date(CAST(floor(year({0}) / 10BD) * 10 AS INT), 1, 1)",
    "YEAR": "trunc({0}, 'YEAR')",
    "QUARTER": "trunc({0}, 'QUARTER')",
    "MONTH": "trunc({0}, 'MONTH')",
    "WEEK": "date_sub({0}, dayofweek({0}) - 1)",
    "DAY": "{0}",
}
_DATE_STEPS: Mapping[str, str] = {
    "MILLENNIUM": "add_months({0}, 12000)",
    "CENTURY": "add_months({0}, 1200)",
    "DECADE": "add_months({0}, 120)",
    "YEAR": "add_months({0}, 12)",
    "QUARTER": "add_months({0}, 3)",
    "MONTH": "add_months({0}, 1)",
    "WEEK": "date_add({0}, 7)",
    "DAY": "date_add({0}, 1)",
}
_CLOCK_RESTS: Mapping[str, str] = {
    "HOUR": "make_dt_interval(0, 0, minute({0}), extract(SECOND FROM {0}))",
    "MINUTE": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}))",
    "SECOND": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}) % 1BD)",
    "MILLISECOND": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}) % 0.001BD)",
}
_CLOCK_STEPS: Mapping[str, str] = {
    "HOUR": "make_dt_interval(0, 1)",
    "MINUTE": "make_dt_interval(0, 0, 1)",
    "SECOND": "make_dt_interval(0, 0, 0, 1)",
    "MILLISECOND": "make_dt_interval(0, 0, 0, 0.001)",
}
ROUNDED = (*_DATE_FLOORS, *_CLOCK_RESTS)


def floor(arguments: Arguments) -> str:
    """Return Spark SQL of `FLOOR(value TO unit)`; weeks begin on Sunday, as in Flink."""
    value, unit = arguments[0], str(arguments[1].constant)
    if value.type.root is Root.TIME:
        return _time_floor(value, arguments[1])
    if unit in _CLOCK_RESTS:
        if value.type.root is Root.DATE:
            return value.sql
        return f"({value.sql} - {_CLOCK_RESTS[unit].format(value.sql)})"
    return _as(value, _DATE_FLOORS[unit].format(_date(value)))


def ceil(arguments: Arguments) -> str:
    """Return Spark SQL of `CEIL(value TO unit)`; a whole value is not changed."""
    value, unit = arguments[0], str(arguments[1].constant)
    lower = floor(arguments)
    if value.type.root is Root.TIME:
        micros = f"time_to_micros({lower}) + {_UNIT_MICROS[unit]}L"
        upper = f"CAST(time_from_micros({micros}) AS {value.type.spark_sql()})"
        return f"if({lower} = {value.sql}, {value.sql}, {upper})"
    if unit in _CLOCK_RESTS:
        if value.type.root is Root.DATE:
            return value.sql
        upper = f"({lower} + {_CLOCK_STEPS[unit]})"
    else:
        upper = _as(value, _DATE_STEPS[unit].format(_DATE_FLOORS[unit].format(_date(value))))
    return f"if({lower} = {value.sql}, {value.sql}, {upper})"


def _time_floor(value: Bound, unit: Bound) -> str:
    if unit.constant not in _OF_CLOCK:
        raise _unit_error(unit, f"FLOOR of a TIME to {unit.constant}")
    return f"CAST(time_trunc('{unit.constant}', {value.sql}) AS {value.type.spark_sql()})"


def _date(value: Bound) -> str:
    return value.sql if value.type.root is Root.DATE else f"CAST({value.sql} AS DATE)"


def _as(value: Bound, date: str) -> str:
    if value.type.root is Root.DATE:
        return date
    return f"CAST({date} AS {value.type.spark_sql()})"


def added_type(arguments: Arguments) -> DataType:
    """Return the type of `TIMESTAMPADD(unit, count, value)`: DATE plus hours is a TIMESTAMP."""
    unit, _, value = arguments
    if value.type.root is Root.DATE and unit.constant in _OF_CLOCK:
        return timestamp(6)
    return value.type


def added(arguments: Arguments) -> str:
    """Return Spark SQL of `TIMESTAMPADD(unit, count, value)`."""
    unit, count, value = str(arguments[0].constant), arguments[1].sql, arguments[2]
    months = _UNIT_MONTHS.get(unit)
    if value.type.root is Root.TIME:
        if months is not None:
            raise _unit_error(arguments[0], f"TIMESTAMPADD of {unit} to a TIME")
        micros = f"time_to_micros({value.sql}) + {count} * {_UNIT_MICROS[unit]}L"
        back = f"time_from_micros(pmod({micros}, {_UNIT_MICROS['DAY']}L))"
        return f"CAST({back} AS {value.type.spark_sql()})"
    if value.type.root is Root.DATE:
        moment = f"timestampadd({unit}, {count}, CAST({value.sql} AS TIMESTAMP_NTZ))"
        if unit in _OF_CLOCK:
            return moment
        if arguments[1].type.root is Root.BIGINT:
            return f"CAST({moment} AS DATE)"  # Spark adds only an INT to a DATE
        if months is not None:
            return f"add_months({value.sql}, {count} * {months})"
        return f"date_add({value.sql}, {count} * {7 if unit == 'WEEK' else 1})"
    if value.type.root is Root.TIMESTAMP:
        return f"timestampadd({unit}, {count}, {value.sql})"
    if months is not None:
        return from_utc(f"timestampadd({unit}, {count}, {in_utc(value.sql)})")
    return f"timestamp_micros(unix_micros({value.sql}) + {count} * {_UNIT_MICROS[unit]}L)"


def difference(arguments: Arguments) -> str:
    """Return Spark SQL of `TIMESTAMPDIFF(unit, start, end)` in whole units, cut towards zero."""
    unit = str(arguments[0].constant)
    start, end = (_plain(argument) for argument in arguments[1:])
    if unit in _UNIT_MICROS:
        # Spark's own timestampdiff would convert both ends to the session's time zone.
        span = "INTERVAL '7' DAY" if unit == "WEEK" else f"INTERVAL '1' {unit}"
        return f"CAST(({end} - {start}) div {span} AS INT)"
    months = _months_between(start, end)
    return f"CAST({months} div {_UNIT_MONTHS[unit]} AS INT)"


def _plain(argument: Bound) -> str:
    """Cast to TIMESTAMP_NTZ with whole milliseconds."""
    if argument.type.root is Root.DATE:
        return f"CAST({argument.sql} AS TIMESTAMP_NTZ)"
    plain = argument.sql
    if argument.type.root is Root.TIMESTAMP_LTZ:
        plain = in_utc(plain)
    return truncated(plain, precision_of(argument.type), 3)


def _months_between(start: str, end: str) -> str:
    """Count months like Calcite's `subtractMonths`.

    From a day that a month lacks, the month is complete at its last day.
    """
    first, last = f"CAST({start} AS DATE)", f"CAST({end} AS DATE)"
    raw = f"((year({last}) - year({first})) * 12 + month({last}) - month({first}))"
    forward = f"{raw} - if(add_months({first}, {raw}) > {last}, 1, 0)"
    backward = f"{raw} + if(add_months({last}, -{raw}) > {first}, 1, 0)"
    days = f"if({last} >= {first}, {forward}, {backward})"
    later = f"CAST({end} AS TIME(3)) < CAST({start} AS TIME(3))"
    return f"({days} - if(add_months({first}, {days}) = {last} AND {later}, 1, 0))"
