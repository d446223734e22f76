"""WITH options of a `filesystem` table; source: Flink's *FileSystem SQL Connector* page."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import (
    BOOLEAN,
    DURATION,
    NOT_EMPTY,
    TEXT,
    Kind,
    Option,
    OptionSet,
    Rule,
    Settings,
    choice,
    duration,
    integer,
)


class CommitTrigger(Enum):
    """Commit trigger of a partition."""

    PROCESS_TIME = "process-time"
    PARTITION_TIME = "partition-time"


class Statistics(Enum):
    """File statistics for Flink's optimizer."""

    ALL = "ALL"
    NONE = "NONE"


class Compression(Enum):
    """Compression of parquet pages."""

    UNCOMPRESSED = "UNCOMPRESSED"
    SNAPPY = "SNAPPY"
    GZIP = "GZIP"
    ZSTD = "ZSTD"
    LZ4_RAW = "LZ4_RAW"


_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30}
_UNITS["gb"] = _UNITS["g"]
_SIZE = re.compile(r"(\d+)\s*([a-z]*)")


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None or found[2] not in _UNITS:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2]]


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error:
        raise ValueError(text) from None
    return text


def _policies(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not set(names) <= {"success-file", "metastore", "custom"}:
        raise ValueError(text)
    return names


_MEMORY: Kind[int] = Kind("MemorySize", "a size such as '128 mb'", _bytes)
_POLICIES: Kind[tuple[str, ...]] = Kind(
    "List<String>", "success-file, metastore, custom, or several with commas between", _policies
)
_MILLISECOND = timedelta(milliseconds=1)

CONNECTOR = Option("connector", TEXT, required=True, doc="`filesystem`.")
PATH = Option(
    "path",
    NOT_EMPTY,
    required=True,
    doc="A directory, or its URI; of a table that is only read also a file or a glob such as"
    " `/logs/2026-*`.",
)
FORMAT = Option(
    "format",
    NOT_EMPTY,
    required=True,
    doc="`csv`, `json`, `parquet`, or another format whose records are lines of text.",
)
MONITOR_INTERVAL = Option(
    "source.monitor-interval",
    duration(_MILLISECOND),
    doc="How often the source looks for new files; without it the table is bounded: it has the"
    " files that are there at the first start of a checkpoint.",
)
PATTERN = Option(
    "source.path.regex-pattern",
    Kind("String", "a regular expression", _pattern),
    doc="What the absolute path of a file, without scheme and host, must match as a whole.",
)
STATISTICS = Option(
    "source.report-statistics",
    choice(Statistics),
    default=Statistics.ALL,
    doc="Whether Flink's optimizer looks at statistics of files; no plan here needs them, so that"
    " both values mean the same.",
)
DEFAULT_PARTITION = Option(
    "partition.default-name",
    NOT_EMPTY,
    default="__DEFAULT_PARTITION__",
    doc="The name of the partition whose column is NULL or empty.",
)
PARALLELISM = Option(
    "sink.parallelism",
    integer(minimum=1),
    doc="How many tasks write files at most; as many as the query has.",
)
SHUFFLE = Option(
    "sink.shuffle-by-partition.enable",
    BOOLEAN,
    default=False,
    doc="Whether one task writes all rows of a partition: fewer files, but more work per task.",
)
COMPACTION = Option(
    "auto-compaction",
    BOOLEAN,
    default=False,
    doc="Whether a micro-batch writes one file for each partition, however many tasks have its"
    " rows; of a table without partitions one file.",
)
POLICY = Option(
    "sink.partition-commit.policy.kind",
    _POLICIES,
    doc="`success-file` writes a file into each partition that a micro-batch has added rows to.",
)
SUCCESS_FILE = Option(
    "sink.partition-commit.success-file.name",
    NOT_EMPTY,
    default="_SUCCESS",
    doc="The name of that file.",
)
COMPRESSION = Option(
    "parquet.compression",
    choice(Compression),
    default=Compression.SNAPPY,
    doc="Of format `parquet`: how files are compressed.",
)
BLOCK_SIZE = Option(
    "parquet.block.size",
    integer(minimum=1),
    default=128 << 20,
    doc="Of format `parquet`: bytes of a row group.",
)
PAGE_SIZE = Option(
    "parquet.page.size",
    integer(minimum=1),
    default=1 << 20,
    doc="Of format `parquet`: bytes of a page.",
)
#: Options of the writer that are passed to Spark under the same key.
PARQUET = (COMPRESSION, BLOCK_SIZE, PAGE_SIZE)

_ROLLS = "a micro-batch ends its files; 'auto-compaction' makes them one for each partition"
_BY_TIME = "a partition is committed with each micro-batch that adds to it"
_OF_PARTITION_TIME = "only the trigger 'process-time' is there"
_TIMESTAMPS = "timestamps are INT64 microseconds, those without a zone of no zone"

_REFUSED: tuple[Option[Any], ...] = (
    Option(
        "compaction.file-size", _MEMORY, not_yet=_ROLLS, doc="The size that compaction aims at."
    ),
    Option(
        "sink.rolling-policy.file-size",
        _MEMORY,
        default=128 << 20,
        not_yet=_ROLLS,
        doc="The size after which a file ends.",
    ),
    Option(
        "sink.rolling-policy.rollover-interval",
        DURATION,
        default=timedelta(minutes=30),
        not_yet=_ROLLS,
        doc="The age after which a file ends.",
    ),
    Option(
        "sink.rolling-policy.inactivity-interval",
        DURATION,
        default=timedelta(minutes=30),
        not_yet=_ROLLS,
        doc="How long a file may get no row before it ends.",
    ),
    Option(
        "sink.rolling-policy.check-interval",
        DURATION,
        default=timedelta(minutes=1),
        not_yet=_ROLLS,
        doc="How often ages of files are looked at.",
    ),
    Option(
        "sink.partition-commit.trigger",
        choice(CommitTrigger),
        default=CommitTrigger.PROCESS_TIME,
        not_yet=_BY_TIME,
        doc="What the moment of a partition's commit goes by.",
    ),
    Option(
        "sink.partition-commit.delay",
        DURATION,
        default=timedelta(0),
        not_yet=_BY_TIME,
        doc="How long a partition waits for its commit.",
    ),
    Option(
        "sink.partition-commit.watermark-time-zone",
        TEXT,
        default="UTC",
        not_yet=_OF_PARTITION_TIME,
        doc="The zone of the watermark of `partition-time`.",
    ),
    Option(
        "sink.partition-commit.policy.class",
        TEXT,
        not_yet="only the policy 'success-file' is there",
        doc="The class of a `custom` policy.",
    ),
    Option(
        "sink.partition-commit.policy.class.parameters",
        TEXT,
        not_yet="only the policy 'success-file' is there",
        doc="What that class is made with.",
    ),
    Option(
        "partition.time-extractor.kind",
        TEXT,
        default="default",
        not_yet=_OF_PARTITION_TIME,
        doc="How the time of a partition is read.",
    ),
    Option(
        "partition.time-extractor.class",
        TEXT,
        not_yet=_OF_PARTITION_TIME,
        doc="The class that reads it.",
    ),
    Option(
        "partition.time-extractor.timestamp-pattern",
        TEXT,
        not_yet=_OF_PARTITION_TIME,
        doc="The text of the time, made of columns.",
    ),
    Option(
        "partition.time-extractor.timestamp-formatter",
        TEXT,
        not_yet=_OF_PARTITION_TIME,
        doc="How that text is read.",
    ),
    Option(
        "parquet.utc-timezone",
        BOOLEAN,
        not_yet=_TIMESTAMPS,
        doc="Of format `parquet`: whether timestamps are of UTC.",
    ),
    Option(
        "parquet.timestamp.time.unit",
        TEXT,
        not_yet=_TIMESTAMPS,
        doc="Of format `parquet`: the unit of INT64 timestamps.",
    ),
    Option(
        "parquet.write.int64.timestamp",
        BOOLEAN,
        not_yet=_TIMESTAMPS,
        doc="Of format `parquet`: whether timestamps are INT64.",
    ),
    Option(
        "parquet.batch-size",
        integer(minimum=1),
        not_yet="Spark's reader chooses how many rows it reads at once",
        doc="Of format `parquet`: rows that are read at once.",
    ),
)


def _needs(option: Option[Any], of: Option[Any]) -> Rule:
    """Refuse an option without the option that it belongs to."""

    def check(settings: Settings, table: str) -> None:
        if settings.has(option) and not settings.has(of):
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(option),
                reason=f"table {table} sets '{option.key}' without '{of.key}'",
            )

    return check


def _success_files_only(settings: Settings, table: str) -> None:
    """Refuse `metastore`, which needs Hive tables, and `custom`, which names a class for Flink."""
    for policy in settings.get(POLICY) or ():
        if policy != "success-file":
            raise StreamtableError(
                Condition.NOT_YET,
                at=settings.at(POLICY),
                what=f"the policy '{policy}' in '{POLICY.key}' of {table}",
                hint="'success-file' is there",
            )


def _of_parquet(settings: Settings, table: str) -> None:
    """Refuse options of `parquet` with another format."""
    for option in PARQUET:
        if settings.has(option) and settings[FORMAT] != "parquet":
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(option),
                reason=f"table {table} sets '{option.key}' and has format '{settings[FORMAT]}'",
            )


OPTIONS = OptionSet(
    "connector 'filesystem'",
    (
        CONNECTOR,
        PATH,
        FORMAT,
        MONITOR_INTERVAL,
        PATTERN,
        STATISTICS,
        DEFAULT_PARTITION,
        PARALLELISM,
        SHUFFLE,
        COMPACTION,
        POLICY,
        SUCCESS_FILE,
        *PARQUET,
        *_REFUSED,
    ),
    rules=(_needs(SUCCESS_FILE, POLICY), _success_files_only, _of_parquet),
)
