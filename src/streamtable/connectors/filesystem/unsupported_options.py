"""Flink's options of `filesystem` tables that streamtable refuses or that have no effect here."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from streamtable.core.option_kinds import BOOLEAN, DURATION, TEXT, Kind, integer
from streamtable.core.options import Option

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30}
_UNITS["gb"] = _UNITS["g"]
_SIZE = re.compile(r"(\d+)\s*([a-z]*)")


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None or found[2] not in _UNITS:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2]]


_MEMORY: Kind[int] = Kind("MemorySize", "a size such as '128 mb'", _bytes)

_CLOSED = "a micro-batch closes its files"
_ROLLS = f"{_CLOSED}; 'auto-compaction' writes a single file per partition"
_TIMESTAMPS = "timestamps are INT64 microseconds; TIMESTAMP values have no time zone"

UNSUPPORTED: tuple[Option[Any], ...] = (
    Option("compaction.file-size", _MEMORY, not_yet=_ROLLS, doc="Target size of compacted files."),
    Option(
        "sink.rolling-policy.file-size",
        _MEMORY,
        default=128 << 20,
        no_effect=_CLOSED,
        doc="Size at which a file is closed.",
    ),
    Option(
        "sink.rolling-policy.rollover-interval",
        DURATION,
        default=timedelta(minutes=30),
        no_effect=_CLOSED,
        doc="Age at which a file is closed.",
    ),
    Option(
        "sink.rolling-policy.inactivity-interval",
        DURATION,
        default=timedelta(minutes=30),
        no_effect=_CLOSED,
        doc="Time without new rows after which a file is closed.",
    ),
    Option(
        "sink.rolling-policy.check-interval",
        DURATION,
        default=timedelta(minutes=1),
        no_effect=_CLOSED,
        doc="Interval at which the ages of files are checked.",
    ),
    Option(
        "sink.partition-commit.policy.class",
        TEXT,
        not_yet="only the policy 'success-file' is supported",
        doc="Class of a `custom` policy.",
    ),
    Option(
        "sink.partition-commit.policy.class.parameters",
        TEXT,
        not_yet="only the policy 'success-file' is supported",
        doc="Parameters of the constructor of that class.",
    ),
    Option(
        "parquet.utc-timezone",
        BOOLEAN,
        not_yet=_TIMESTAMPS,
        doc="Whether timestamps of `parquet` files are in UTC.",
    ),
    Option(
        "parquet.timestamp.time.unit",
        TEXT,
        not_yet=_TIMESTAMPS,
        doc="Unit of INT64 timestamps of `parquet` files.",
    ),
    Option(
        "parquet.write.int64.timestamp",
        BOOLEAN,
        not_yet=_TIMESTAMPS,
        doc="Whether timestamps of `parquet` files are INT64.",
    ),
    Option(
        "parquet.batch-size",
        integer(minimum=1),
        not_yet="Spark's reader chooses the number of rows per batch",
        doc="Number of rows per batch when reading `parquet` files.",
    ),
)
