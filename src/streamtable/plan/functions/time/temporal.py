"""Temporal functions. See `units` for calendar arithmetic, `parsing` and `formatting` for texts.

CURRENT_TIMESTAMP and related functions read the clock for every record, as in Flink's streaming
mode.
"""

from __future__ import annotations

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
from streamtable.plan.binding.bound import Bound, text_literal
from streamtable.plan.binding.cast_time import from_text
from streamtable.plan.binding.moments import from_utc, in_utc
from streamtable.plan.functions.kinds import (
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
    keyword,
    of_roots,
    one,
)
from streamtable.plan.functions.text.formatting import DEFAULT, cut_from
from streamtable.plan.functions.time import units
from streamtable.plan.functions.time.watermarks import EVENT_TIME, watermark_of, watermark_type

_TEMPORAL = Category.TEMPORAL
_USUAL = text_literal(DEFAULT)
_EXTRACTABLE = of_roots(
    "a date, a time or an interval",
    {Root.DATE, Root.TIME, *TIMESTAMPS, *INTERVALS},
    timestamp(3),
)
_ADDABLE = of_roots("a date or a time", {Root.DATE, Root.TIME, *TIMESTAMPS}, timestamp(3))
_DECIMAL = of_roots("a DECIMAL", {Root.DECIMAL}, INT)
_UNPARSED = "-9223372036854775808"


def _extracting(name: str, unit: str) -> Function:
    def sql(arguments: Arguments) -> str:
        unit_word = Bound("", INT, constant=unit)
        return units.extract((unit_word, arguments[0]))

    return one(name, _TEMPORAL, (_EXTRACTABLE,), BIGINT, sql, f"EXTRACT({unit} FROM value).")


def _date_format(arguments: Arguments) -> str:
    moment, pattern = arguments
    if moment.type.root in CHARACTER:
        read = f"flink_parse_legacy({moment.sql}, {_USUAL}, 'UTC')"
        return f"flink_format_legacy(unix_seconds({read}), {pattern.sql}, 'UTC')"
    local = moment.sql
    if moment.type.root is Root.TIMESTAMP_LTZ:
        local = f"CAST({local} AS TIMESTAMP_NTZ)"
    return cut_from(local, pattern) or f"flink_format({local}, {pattern.sql})"


def _from_unixtime(arguments: Arguments) -> str:
    seconds, *given = arguments
    pattern = given[0] if given else Bound(_USUAL, STRING, constant=DEFAULT)
    moment = f"CAST(timestamp_seconds({seconds.sql}) AS TIMESTAMP_NTZ)"
    cut = cut_from(moment, pattern)
    return cut or f"flink_format_legacy({seconds.sql}, {pattern.sql}, current_timezone())"


def _unix_timestamp(arguments: Arguments) -> str:
    text, *pattern = arguments
    form = pattern[0].sql if pattern else _USUAL
    read = f"unix_millis(flink_parse_legacy({text.sql}, {form}, current_timezone())) div 1000"
    missing = " OR ".join(f"{a.sql} IS NULL" for a in arguments)
    return f"coalesce({read}, if({missing}, NULL, CAST({_UNPARSED} AS BIGINT)))"


def _to_timestamp(arguments: Arguments) -> str:
    text, *pattern = arguments
    if pattern:
        return f"flink_parse({text.sql}, {pattern[0].sql})"
    return str(from_text(text.sql, timestamp(3)))


def _to_instant(arguments: Arguments) -> str:
    """Parse a string in UTC, independent of the session's time zone."""
    return from_utc(_to_timestamp(arguments))


def _epoch_instant(arguments: Arguments) -> str:
    number, *precision = arguments
    digits = precision[0].constant if precision else 3
    if number.type.root in (Root.FLOAT, Root.DOUBLE):
        millis = number.sql if digits == 3 else f"({number.sql} * 1000)"
        return f"flink_epoch_millis(CAST({millis} AS BIGINT))"
    whole = number.sql
    if number.type.root is Root.DECIMAL:
        whole = f"CAST({number.sql} AS BIGINT)"
    return f"flink_epoch_millis({whole})" if digits == 3 else f"flink_epoch_seconds({whole})"


def _to_date(arguments: Arguments) -> str:
    text, *pattern = arguments
    if not pattern:
        return str(from_text(text.sql, DATE))
    read = f"flink_parse_legacy({text.sql}, {pattern[0].sql}, 'UTC')"
    return f"CAST({in_utc(read)} AS DATE)"


def _alike(arguments: Arguments) -> DataType:
    return arguments[0].type


def _now(kind: DataType, sql: str, name: str, doc: str) -> Function:
    overload = Overload((), kind, sql, nulls=Nulls.NEVER, deterministic=False)
    return Function(name, _TEMPORAL, (overload,), doc)


_INSTANT = "flink_now()"
_LOCAL = f"CAST({_INSTANT} AS TIMESTAMP_NTZ)"
_PRECISION = Kind("0 or 3", lambda a: WHOLE.take(a) if a.constant in (0, 3) else None)


def _differences() -> tuple[Overload, ...]:
    """Return the overloads: both ends are instants, or neither is."""
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
            TEXT,
        ),
        STRING,
        _date_format,
        "A timestamp as text, by a Java pattern.",
        nulls=Nulls.ALWAYS,
    ),
    Function(
        "TIMESTAMPADD",
        _TEMPORAL,
        tuple(
            Overload((keyword(*units.ADDED), count, _ADDABLE), units.added_type, units.added)
            for count in (WHOLE, LONG)
        ),
        "So many units later.",
    ),
    Function("TIMESTAMPDIFF", _TEMPORAL, _differences(), "Whole units between two times."),
    one(
        "TO_TIMESTAMP",
        _TEMPORAL,
        (TEXT, TEXT),
        timestamp(3),
        _to_timestamp,
        "A text as TIMESTAMP(3), by a Java pattern; NULL where it is none.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    Function(
        "TO_TIMESTAMP_LTZ",
        _TEMPORAL,
        (
            Overload((LONG, _PRECISION), timestamp_ltz(3), _epoch_instant, 1, nulls=Nulls.ALWAYS),
            Overload(
                (_DECIMAL, _PRECISION), timestamp_ltz(3), _epoch_instant, 1, nulls=Nulls.ALWAYS
            ),
            Overload((REAL, _PRECISION), timestamp_ltz(3), _epoch_instant, 1, nulls=Nulls.ALWAYS),
            Overload((TEXT, TEXT), timestamp_ltz(3), _to_instant, 1, nulls=Nulls.ALWAYS),
            Overload(
                (TEXT, TEXT, TEXT),
                timestamp_ltz(3),
                "flink_parse_in({0}, {1}, {2})",
                nulls=Nulls.ALWAYS,
            ),
        ),
        "An epoch number (seconds for 0, milliseconds for 3) or a text in UTC as an instant; NULL"
        " for a number outside of the years 0 to 9999.",
    ),
    one(
        "TO_DATE",
        _TEMPORAL,
        (TEXT, TEXT),
        DATE,
        _to_date,
        "A text as DATE; NULL where it is none.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    Function(
        "UNIX_TIMESTAMP",
        _TEMPORAL,
        (
            Overload(
                (),
                BIGINT,
                "(unix_millis(flink_now()) div 1000)",
                nulls=Nulls.NEVER,
                deterministic=False,
            ),
            Overload((TEXT, TEXT), BIGINT, _unix_timestamp, 1),
        ),
        "Seconds since the epoch of a text in the session's zone.",
    ),
    one(
        "FROM_UNIXTIME",
        _TEMPORAL,
        (LONG, TEXT),
        STRING,
        _from_unixtime,
        "Epoch seconds as text in the session's zone.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    one(
        "CONVERT_TZ",
        _TEMPORAL,
        (TEXT, TEXT, TEXT),
        STRING,
        "flink_convert_tz({0}, {1}, {2})",
        "A timestamp as text, moved from one zone to another.",
        nulls=Nulls.ALWAYS,
    ),
    Function(
        "CURRENT_WATERMARK",
        _TEMPORAL,
        (
            Overload(
                (EVENT_TIME,),
                watermark_type,
                watermark_of,
                nulls=Nulls.ALWAYS,
                deterministic=False,
            ),
        ),
        "The watermark with which the micro-batch of the row began, or NULL before the first one.",
    ),
    _now(DATE, f"CAST({_LOCAL} AS DATE)", "CURRENT_DATE", "The date in the session's zone."),
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
