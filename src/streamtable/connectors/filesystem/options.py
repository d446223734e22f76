"""WITH options of a `filesystem` table; source: Flink's *FileSystem SQL Connector* page."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import Enum

from streamtable.connectors.filesystem.commit_options import COMMIT_OPTIONS, COMMIT_RULES
from streamtable.connectors.filesystem.unsupported_options import UNSUPPORTED
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import (
    BOOLEAN,
    NOT_EMPTY,
    TEXT,
    Kind,
    choice,
    duration,
    integer,
    long_integer,
)
from streamtable.core.options import Option, OptionSet, Settings


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


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error:
        raise ValueError(text) from None
    return text


_MILLISECOND = timedelta(milliseconds=1)

CONNECTOR = Option("connector", TEXT, required=True, doc="`filesystem`.")
PATH = Option(
    "path",
    NOT_EMPTY,
    required=True,
    doc="A directory or its URI. A table that is only read may also have a file or a glob such as"
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
    doc="Interval at which the source looks for new files. Without it the table is bounded and"
    " consists of the files that exist at the first start with a checkpoint.",
)
PATTERN = Option(
    "source.path.regex-pattern",
    Kind("String", "a regular expression", _pattern),
    doc="Regular expression that the whole absolute path of a file must match, without scheme and"
    " host.",
)
STATISTICS = Option(
    "source.report-statistics",
    choice(Statistics),
    default=Statistics.ALL,
    doc="Whether Flink's optimizer reads file statistics. Plans of streamtable do not use them, so"
    " both values have the same result.",
)
DEFAULT_PARTITION = Option(
    "partition.default-name",
    NOT_EMPTY,
    default="__DEFAULT_PARTITION__",
    doc="Name of the partition for rows whose partition column is NULL or empty.",
)
PARALLELISM = Option(
    "sink.parallelism",
    integer(minimum=1),
    doc="Maximum number of tasks that write files. Default: the number of tasks of the query.",
)
SHUFFLE = Option(
    "sink.shuffle-by-partition.enable",
    BOOLEAN,
    default=False,
    doc="Whether one task writes all rows of a partition. This gives fewer files, but more work per"
    " task.",
)
COMPACTION = Option(
    "auto-compaction",
    BOOLEAN,
    default=False,
    doc="Whether a micro-batch writes a single file per partition. A table without"
    " partitions gets a single file.",
)
COMPRESSION = Option(
    "parquet.compression",
    choice(Compression),
    default=Compression.SNAPPY,
    doc="Compression of `parquet` files.",
)
BLOCK_SIZE = Option(
    "parquet.block.size",
    long_integer(minimum=1),
    default=128 << 20,
    doc="Size of a row group of `parquet` files, in bytes.",
)
PAGE_SIZE = Option(
    "parquet.page.size",
    integer(minimum=1),
    default=1 << 20,
    doc="Size of a page of `parquet` files, in bytes.",
)
#: Options of the writer that are passed to Spark under the same key.
PARQUET = (COMPRESSION, BLOCK_SIZE, PAGE_SIZE)


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
        *COMMIT_OPTIONS,
        *PARQUET,
        *UNSUPPORTED,
    ),
    rules=(*COMMIT_RULES, _of_parquet),
)
