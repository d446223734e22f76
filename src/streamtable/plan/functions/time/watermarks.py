"""CURRENT_WATERMARK: its argument, type and Spark SQL, and where a plan calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamtable.core.types import DataType, Root, quote, timestamp, timestamp_ltz
from streamtable.plan.binding.bound import Bound
from streamtable.plan.functions.model import Arguments, Kind

_CALLS = {
    Root.TIMESTAMP: ("flink_current_watermark", timestamp(3)),
    Root.TIMESTAMP_LTZ: ("flink_current_watermark_ltz", timestamp_ltz(3)),
}
_CALL = re.compile(r"flink_current_watermark(?:_ltz)?\(`((?:[^`]|``)+)`\)")


def _column(argument: Bound) -> Bound | None:
    plain = [name for name in argument.fields if argument.sql == quote(name)]
    return argument if plain and argument.type.root in _CALLS else None


#: A column; `rules.event_time` checks that it is the event time.
EVENT_TIME = Kind("an event time", _column)


def watermark_type(arguments: Arguments) -> DataType:
    """Return the type of the event time with three digits, as in Flink."""
    return _CALLS[arguments[0].type.root][1]


def watermark_of(arguments: Arguments) -> str:
    """Return the call of Java's `CurrentWatermark`; the argument is only for the check."""
    return f"{_CALLS[arguments[0].type.root][0]}({arguments[0].sql})"


def watermark_arguments(sql: str) -> Iterator[str]:
    """Yield the field of each call in Spark SQL."""
    for found in _CALL.findall(sql):
        yield found.replace("``", "`")
