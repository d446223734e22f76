"""Temporal functions. `units` does the arithmetic of calendars, `parsing` and `formatting` texts.

CURRENT_TIMESTAMP and its kin are what Spark makes of them: one value for a whole micro-batch,
where Flink looks at the clock for every record.
"""

from __future__ import annotations

from zoneinfo import available_timezones

from streamtable.core.types import (
    BIGINT,
    CHARACTER,
    DATE,
    INT,
    INTERVALS,
    STRING,
    TIMESTAMPS,
    DataType,
    Root,
    time,
    timestamp,
    timestamp_ltz,
)
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.cast_time import from_text, truncated
from streamtable.plan.binding.moments import from_utc
from streamtable.plan.functions import units
from streamtable.plan.functions.formatting import ONLY_IN_FORMATTER, formatted
from streamtable.plan.functions.kinds import (
    ANY,
    LONG,
    REAL,
    TEXT,
    WHOLE,
)
from streamtable.plan.functions.model import (
    Arguments,
    Category,
    Function,
    Kind,
    Nulls,
    Overload,
    constant,
    keyword,
    lacking,
    of_roots,
    one,
)
from streamtable.plan.functions.parsing import lenient, parsed_timestamp
from streamtable.plan.functions.patterns import DEFAULT

_TEMPORAL = Category.TEMPORAL
_PATTERN = constant(TEXT)
_EXTRACTABLE = of_roots(
    "a date, a time or an interval",
    {Root.DATE, Root.TIME, *TIMESTAMPS, *INTERVALS},
    timestamp(3),
)
_ADDABLE = of_roots("a date or a time", {Root.DATE, Root.TIME, *TIMESTAMPS}, timestamp(3))
_UNPARSED = "-9223372036854775808"


def _extracting(name: str, unit: str) -> Function:
    def sql(arguments: Arguments) -> str:
        unit_word = Bound("", INT, constant=unit)
        return units.extract((unit_word, arguments[0]))

    return one(name, _TEMPORAL, (_EXTRACTABLE,), BIGINT, sql, f"EXTRACT({unit} FROM value).")


def _date_format(arguments: Arguments) -> str:
    moment, pattern = arguments
    if moment.type.root in CHARACTER:
        return formatted(truncated(lenient(moment.sql, None), 6, 0), pattern)
    local = moment.sql
    if moment.type.root is Root.TIMESTAMP_LTZ:
        local = f"CAST({local} AS TIMESTAMP_NTZ)"
    return formatted(local, pattern)


def _from_unixtime(arguments: Arguments) -> str:
    moment = f"CAST(timestamp_seconds({arguments[0].sql}) AS TIMESTAMP_NTZ)"
    pattern = arguments[1] if len(arguments) > 1 else Bound("", STRING, constant=DEFAULT)
    return formatted(moment, pattern, refused=ONLY_IN_FORMATTER)


def _unix_timestamp(arguments: Arguments) -> str:
    text, *pattern = arguments
    read = lenient(text.sql, pattern[0] if pattern else None)
    seconds = f"unix_timestamp(CAST({read} AS TIMESTAMP_LTZ))"
    return f"coalesce({seconds}, if({text.sql} IS NULL, NULL, CAST({_UNPARSED} AS BIGINT)))"


def _to_timestamp(arguments: Arguments) -> str:
    text, *pattern = arguments
    return parsed_timestamp(text.sql, pattern[0] if pattern else None)


def _to_instant(arguments: Arguments) -> str:
    """A text is read in UTC, whatever the session's zone."""
    return from_utc(_to_timestamp(arguments))


def _to_instant_in(arguments: Arguments) -> str:
    text, pattern, zone = arguments
    return from_utc(f"convert_timezone({zone.sql}, 'UTC', {_to_timestamp((text, pattern))})")


def _convert_zone(arguments: Arguments) -> str:
    """Reads and writes `yyyy-MM-dd HH:mm:ss`, as `SimpleDateFormat` does."""
    text, source, target = arguments
    local = f"convert_timezone({source.sql}, {target.sql}, {lenient(text.sql, None)})"
    return f"left(CAST({local} AS STRING), {len(DEFAULT)})"


def _known_zone(argument: Bound) -> Bound | None:
    known = argument.constant in available_timezones()
    return argument if known and argument.type.root in CHARACTER else None


def _epoch_instant(arguments: Arguments) -> str:
    number, *precision = arguments
    digits = precision[0].constant if precision else 3
    if number.type.root in (Root.FLOAT, Root.DOUBLE):
        whole = f"CAST({number.sql} AS BIGINT)"
    else:
        whole = number.sql
    return f"timestamp_millis({whole})" if digits == 3 else f"timestamp_seconds({whole})"


def _to_date(arguments: Arguments) -> str:
    text, *pattern = arguments
    if not pattern:
        return str(from_text(text.sql, DATE))
    return f"CAST({lenient(text.sql, pattern[0])} AS DATE)"


def _alike(arguments: Arguments) -> DataType:
    return arguments[0].type


def _now(kind: DataType, sql: str, name: str, doc: str) -> Function:
    overload = Overload((), kind, sql, nulls=Nulls.NEVER, deterministic=False)
    return Function(name, _TEMPORAL, (overload,), doc)


_INSTANT = "date_trunc('MILLISECOND', current_timestamp())"
_LOCAL = f"CAST({_INSTANT} AS TIMESTAMP_NTZ)"
_PRECISION = Kind("0 or 3", lambda a: WHOLE.take(a) if a.constant in (0, 3) else None)
_ZONE = Kind("a time zone (a literal)", _known_zone)


def _differences() -> tuple[Overload, ...]:
    """Both ends are instants, or neither is."""
    unit = keyword(*units.ADDED)
    local = of_roots("a DATE or TIMESTAMP", {Root.DATE, Root.TIMESTAMP}, timestamp(3))
    instant = of_roots("a TIMESTAMP_LTZ", {Root.TIMESTAMP_LTZ}, timestamp_ltz(3))
    return (
        Overload((unit, local, local), INT, units.difference),
        Overload((unit, instant, instant), INT, units.difference),
    )


TEMPORAL = (
    _extracting("YEAR", "YEAR"),
    _extracting("QUARTER", "QUARTER"),
    _extracting("MONTH", "MONTH"),
    _extracting("WEEK", "WEEK"),
    _extracting("DAYOFYEAR", "DOY"),
    _extracting("DAYOFMONTH", "DAY"),
    _extracting("DAYOFWEEK", "DOW"),
    _extracting("HOUR", "HOUR"),
    _extracting("MINUTE", "MINUTE"),
    _extracting("SECOND", "SECOND"),
    one(
        "EXTRACT",
        _TEMPORAL,
        (keyword(*units.EXTRACTED), _EXTRACTABLE),
        BIGINT,
        units.extract,
        "A part of a date, a time or an interval.",
    ),
    one(
        "DATE_FORMAT",
        _TEMPORAL,
        (
            of_roots(
                "a TIMESTAMP, TIMESTAMP_LTZ or string", {*TIMESTAMPS, *CHARACTER}, timestamp(3)
            ),
            _PATTERN,
        ),
        STRING,
        _date_format,
        "A timestamp as text, by a Java pattern.",
        nulls=Nulls.ALWAYS,
        more=(lacking("DATE_FORMAT by a pattern that is no literal", ANY, TEXT),),
    ),
    one(
        "TIMESTAMPADD",
        _TEMPORAL,
        (keyword(*units.ADDED), WHOLE, _ADDABLE),
        units.added_type,
        units.added,
        "So many units later.",
        more=(lacking("TIMESTAMPADD of a BIGINT", keyword(*units.ADDED), LONG, _ADDABLE),),
    ),
    Function("TIMESTAMPDIFF", _TEMPORAL, _differences(), "Whole units between two times."),
    one(
        "TO_TIMESTAMP",
        _TEMPORAL,
        (TEXT, _PATTERN),
        timestamp(3),
        _to_timestamp,
        "A text as TIMESTAMP(3), by a Java pattern; NULL where it is none.",
        optional=1,
        nulls=Nulls.ALWAYS,
        more=(lacking("TO_TIMESTAMP by a pattern that is no literal", TEXT, TEXT),),
    ),
    Function(
        "TO_TIMESTAMP_LTZ",
        _TEMPORAL,
        (
            Overload((LONG, _PRECISION), timestamp_ltz(3), _epoch_instant, 1, nulls=Nulls.ALWAYS),
            Overload((REAL, _PRECISION), timestamp_ltz(3), _epoch_instant, 1, nulls=Nulls.ALWAYS),
            Overload((TEXT, _PATTERN), timestamp_ltz(3), _to_instant, 1, nulls=Nulls.ALWAYS),
            Overload((TEXT, _PATTERN, _ZONE), timestamp_ltz(3), _to_instant_in, nulls=Nulls.ALWAYS),
        ),
        "An epoch number (seconds for 0, milliseconds for 3) or a text in UTC as an instant.",
    ),
    one(
        "TO_DATE",
        _TEMPORAL,
        (TEXT, _PATTERN),
        DATE,
        _to_date,
        "A text as DATE; NULL where it is none.",
        optional=1,
        nulls=Nulls.ALWAYS,
        more=(lacking("TO_DATE by a pattern that is no literal", TEXT, TEXT),),
    ),
    Function(
        "UNIX_TIMESTAMP",
        _TEMPORAL,
        (
            Overload((), BIGINT, "unix_timestamp()", nulls=Nulls.NEVER, deterministic=False),
            Overload((TEXT, _PATTERN), BIGINT, _unix_timestamp, 1),
            lacking("UNIX_TIMESTAMP by a pattern that is no literal", TEXT, TEXT),
        ),
        "Seconds since the epoch of a text in the session's zone.",
    ),
    one(
        "FROM_UNIXTIME",
        _TEMPORAL,
        (LONG, _PATTERN),
        STRING,
        _from_unixtime,
        "Epoch seconds as text in the session's zone.",
        optional=1,
        nulls=Nulls.ALWAYS,
        more=(lacking("FROM_UNIXTIME by a pattern that is no literal", LONG, TEXT),),
    ),
    one(
        "CONVERT_TZ",
        _TEMPORAL,
        (TEXT, _ZONE, _ZONE),
        STRING,
        _convert_zone,
        "A timestamp as text, moved from one zone to another.",
        nulls=Nulls.ALWAYS,
        more=(lacking("CONVERT_TZ with such a time zone", TEXT, TEXT, TEXT),),
    ),
    _now(DATE, "current_date()", "CURRENT_DATE", "The date in the session's zone."),
    _now(time(), f"CAST({_LOCAL} AS TIME(0))", "CURRENT_TIME", "The time in the session's zone."),
    _now(time(), f"CAST({_LOCAL} AS TIME(0))", "LOCALTIME", "Same as CURRENT_TIME."),
    _now(timestamp(3), _LOCAL, "LOCALTIMESTAMP", "Date and time in the session's zone."),
    _now(timestamp_ltz(3), _INSTANT, "CURRENT_TIMESTAMP", "Now."),
    _now(timestamp_ltz(3), _INSTANT, "CURRENT_ROW_TIMESTAMP", "Now."),
    _now(timestamp_ltz(3), _INSTANT, "NOW", "Now."),
    Function(
        "PROCTIME",
        _TEMPORAL,
        (
            Overload(
                (),
                timestamp_ltz(3),
                _INSTANT,
                nulls=Nulls.NEVER,
                deterministic=False,
                time_attribute="proc",
            ),
        ),
        "Processing time, as a time attribute.",
    ),
)

FLOORS = Overload((_ADDABLE, keyword(*units.ROUNDED)), _alike, units.floor)
CEILS = Overload((_ADDABLE, keyword(*units.ROUNDED)), _alike, units.ceil)
