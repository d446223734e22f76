"""`PartitionTimer`: commits partitions of a sink of files between the batches of its query."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.connector_api.sink import SinkTimer
from streamtable.connectors.filesystem.commit_options import PartitionCommit
from streamtable.connectors.filesystem.table import FilesystemTable
from streamtable.core.durations import milliseconds
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError, first_line

#: The message of Java's `PartitionCommits` about a partition whose values give no time.
_NO_TIME = re.compile(r"PARTITION_TIME_UNKNOWN partition '([^\n]*?)': ([^\n]*)")


def commit_options(commit: PartitionCommit) -> dict[str, str]:
    """Return the options of Java's `FileSinkProvider` for a partition commit."""
    found = {
        "successfile": commit.success_file,
        "commit.delay": str(milliseconds(commit.delay)),
        "commit.bytime": str(commit.by_time).lower(),
        "commit.zone": commit.zone,
        "commit.pattern": commit.pattern,
        "commit.formatter": commit.formatter,
    }
    return {key: value for key, value in found.items() if value is not None}


def check_commit(table: FilesystemTable, commit: PartitionCommit, bridge: Bridge) -> None:
    """Check the time zone and the format, which only Java can read.

    Raises:
        StreamtableError: OPTION_CONFLICT.
    """
    fault = bridge.java.files.PartitionCommits.fault(bridge.java_map(commit_options(commit)))
    if fault is not None:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            hint="'partition.time-extractor.timestamp-formatter' is a format of Java's"
            " DateTimeFormatter, 'sink.partition-commit.watermark-time-zone' a zone such as UTC,"
            " Europe/Berlin or GMT+08:00",
            reason=f"the partition commit of {table.table}: {first_line(str(fault))}",
        )


def no_time(table: FilesystemTable, text: str) -> StreamtableError | None:
    """Translate the exception about a partition without a time; None for others."""
    found = _NO_TIME.search(text)
    if found is None:
        return None
    return StreamtableError(
        Condition.PARTITION_TIME_UNKNOWN,
        at=table.at,
        hint="set 'partition.time-extractor.timestamp-pattern' and '...timestamp-formatter', or"
        " filter rows of this partition",
        partition=found[1],
        table=table.table,
        reason=found[2],
    )


@dataclass(frozen=True)
class PartitionTimer(SinkTimer):
    """Commits the waiting partitions of a table whose time has come.

    Attributes:
        table: the table.
        java: Java's `PartitionCommits`, which the writer of the query shares.
    """

    table: FilesystemTable
    java: Any

    @classmethod
    def open(
        cls, table: FilesystemTable, options: Mapping[str, str], bridge: Bridge
    ) -> PartitionTimer:
        """Read the waiting partitions from the checkpoint.

        Args:
            table: the table.
            options: those of Java's `FileSinkProvider`.
            bridge: the JVM side.
        """
        configuration = bridge.java_session.sessionState().newHadoopConf()
        commits = bridge.java.files.PartitionCommits
        java = commits.open(configuration, bridge.java_map(options))
        return cls(table, java)

    def advance(self, watermark: int) -> None:
        """Commit the partitions that the clock or the watermark has passed."""
        self._run(lambda: self.java.advance(watermark))

    def end_input(self) -> None:
        """Commit all waiting partitions, as Flink does at the end of the input."""
        self._run(self.java.endInput)

    def close(self) -> None:
        """Forget the object in Java."""
        self.java.close()

    def _run(self, call: Callable[[], object]) -> None:
        try:
            call()
        except JavaError as error:
            text = str(error.java_exception.getMessage())
            raise (no_time(self.table, text) or self._unusable(text)) from error

    def _unusable(self, reason: str) -> StreamtableError:
        return StreamtableError(
            Condition.PATH_UNUSABLE,
            at=self.table.at,
            hint="the next start commits the partitions that wait",
            path=self.table.path,
            table=self.table.table,
            reason=first_line(reason),
        )
