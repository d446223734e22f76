"""Options of the partition commit of `filesystem` tables: when a partition gets its marker file.

Source: the section *Partition Commit* of Flink's *FileSystem SQL Connector* page.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import DURATION, NOT_EMPTY, TEXT, Kind, choice
from streamtable.core.options import Option, Rule, Settings


class CommitTrigger(Enum):
    """Commit trigger of a partition."""

    PROCESS_TIME = "process-time"
    PARTITION_TIME = "partition-time"


class Extractor(Enum):
    """Extractor of a partition's time."""

    DEFAULT = "default"
    CUSTOM = "custom"


def _policies(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not set(names) <= {"success-file", "metastore", "custom"}:
        raise ValueError(text)
    return names


_POLICIES: Kind[tuple[str, ...]] = Kind(
    "List<String>", "success-file, metastore, custom, or several with commas between", _policies
)

POLICY = Option(
    "sink.partition-commit.policy.kind",
    _POLICIES,
    doc="`success-file` writes a marker file into each partition that is committed. Without this"
    " option no partition is committed.",
)
#: Without a policy Flink commits no partition.
_WITH_POLICY = (POLICY.key, None)
_BY_TIME = ("sink.partition-commit.trigger", CommitTrigger.PARTITION_TIME.value)

SUCCESS_FILE = Option(
    "sink.partition-commit.success-file.name",
    NOT_EMPTY,
    default="_SUCCESS",
    doc="Name of the marker file.",
)
TRIGGER = Option(
    _BY_TIME[0],
    choice(CommitTrigger),
    default=CommitTrigger.PROCESS_TIME,
    only_with=_WITH_POLICY,
    doc="`process-time` commits a partition a delay after its first rows. `partition-time` commits"
    " it when the watermark of the query is above the time of the partition plus the delay.",
)
DELAY = Option(
    "sink.partition-commit.delay",
    DURATION,
    default=timedelta(0),
    only_with=_WITH_POLICY,
    doc="Delay of a partition's commit.",
)
ZONE = Option(
    "sink.partition-commit.watermark-time-zone",
    NOT_EMPTY,
    default="UTC",
    only_with=_BY_TIME,
    doc="Time zone of partition times for `partition-time`: UTC for an event time TIMESTAMP, the"
    " session's zone for TIMESTAMP_LTZ.",
)
EXTRACTOR = Option(
    "partition.time-extractor.kind",
    choice(Extractor),
    default=Extractor.DEFAULT,
    only_with=_BY_TIME,
    not_yet="write a pattern in 'partition.time-extractor.timestamp-pattern'",
    doc="How the time of a partition is extracted from its values.",
)
EXTRACTOR_CLASS = Option(
    "partition.time-extractor.class",
    TEXT,
    only_with=_BY_TIME,
    not_yet="a class of Flink cannot be used; write a pattern in"
    " 'partition.time-extractor.timestamp-pattern'",
    doc="Class that extracts the time of a partition.",
)
PATTERN_OF_TIME = Option(
    "partition.time-extractor.timestamp-pattern",
    NOT_EMPTY,
    only_with=_BY_TIME,
    doc="Pattern that combines partition columns to a timestamp, such as `$dt $hour:00:00`."
    " Default: the first partition column.",
)
FORMATTER = Option(
    "partition.time-extractor.timestamp-formatter",
    NOT_EMPTY,
    only_with=_BY_TIME,
    doc="Format of that timestamp, as in Java's `DateTimeFormatter`. Default:"
    " `yyyy-MM-dd HH:mm:ss` or `yyyy-MM-dd`.",
)


def _needs_policy(settings: Settings, table: str) -> None:
    """Refuse the name of a marker file without a policy."""
    if settings.has(SUCCESS_FILE) and not settings.has(POLICY):
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(SUCCESS_FILE),
            reason=f"table {table} sets '{SUCCESS_FILE.key}' without '{POLICY.key}'",
        )


def _success_files_only(settings: Settings, table: str) -> None:
    """Refuse `metastore`, which needs Hive tables, and `custom`, which names a class for Flink."""
    for policy in settings.get(POLICY) or ():
        if policy != "success-file":
            raise StreamtableError(
                Condition.NOT_YET,
                at=settings.at(POLICY),
                what=f"the policy '{policy}' in '{POLICY.key}' of {table}",
                hint="use 'success-file'",
            )


COMMIT_OPTIONS: tuple[Option[Any], ...] = (
    POLICY,
    SUCCESS_FILE,
    TRIGGER,
    DELAY,
    ZONE,
    EXTRACTOR,
    EXTRACTOR_CLASS,
    PATTERN_OF_TIME,
    FORMATTER,
)
COMMIT_RULES: tuple[Rule, ...] = (_needs_policy, _success_files_only)


@dataclass(frozen=True, kw_only=True)
class PartitionCommit:
    """When partitions are committed, and the marker that they get.

    Attributes:
        success_file: name of the marker file.
        delay: delay of a commit.
        by_time: whether the watermark must pass the time of the partition; else the clock counts.
        zone: time zone of partition times.
        pattern: pattern of the time; None for the first partition column.
        formatter: format of the time; None for Flink's default.
    """

    success_file: str
    delay: timedelta
    by_time: bool
    zone: str
    pattern: str | None
    formatter: str | None


def partition_commit(settings: Settings) -> PartitionCommit | None:
    """Return the partition commit that checked options ask for; None without a policy."""
    if settings.get(POLICY) is None:
        return None
    return PartitionCommit(
        success_file=settings[SUCCESS_FILE],
        delay=settings[DELAY],
        by_time=settings[TRIGGER] is CommitTrigger.PARTITION_TIME,
        zone=settings[ZONE],
        pattern=settings.get(PATTERN_OF_TIME),
        formatter=settings.get(FORMATTER),
    )
