"""`FilesystemTable`: a table of files with checked options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamtable.connector_api.dataset import Dataset
from streamtable.connector_api.format import LineFormat, row_options
from streamtable.connectors.filesystem.commit_options import PartitionCommit
from streamtable.core import types
from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.table import Schema
from streamtable.core.types import DataType, Field

if TYPE_CHECKING:
    from streamtable.connectors.filesystem.sink import FilesystemSink
    from streamtable.connectors.filesystem.source import FilesystemSource

#: Metadata of a row's file: Flink's keys and types.
METADATA: Mapping[str, DataType] = {
    "file.path": types.STRING.with_nullable(False),
    "file.name": types.STRING.with_nullable(False),
    "file.size": types.BIGINT.with_nullable(False),
    "file.modification-time": types.timestamp_ltz(3).with_nullable(False),
}

_GLOB = frozenset("*?[{")


@dataclass(frozen=True)
class Lines:
    """Files whose lines are records of a format."""

    format: LineFormat
    settings: Settings

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.format.identifier


@dataclass(frozen=True)
class Parquet:
    """Parquet files.

    Attributes:
        options: options of Spark's writer.
    """

    options: Mapping[str, str]
    name: str = "parquet"


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Settings of the file writer.

    Attributes:
        tasks: the highest number of writing tasks; None for the query's parallelism.
        by_partition: whether one task gets all rows of a partition.
        compacts: whether a batch writes one file for each partition.
        commit: when partitions get a marker file; None for never.
    """

    tasks: int | None = None
    by_partition: bool = False
    compacts: bool = False
    commit: PartitionCommit | None = None


@dataclass(frozen=True, kw_only=True)
class FilesystemTable:
    """A table of files.

    Attributes:
        table: its name, for messages.
        path: a directory, a file or a glob.
        content: the content of the files.
        interval: how often the source looks for new files; None for a bounded table.
        pattern: the pattern of file paths; None for any.
        default_partition: the partition name for NULL.
    """

    table: str
    schema: Schema
    path: str
    content: Lines | Parquet
    interval: timedelta | None
    pattern: str | None
    default_partition: str
    writing: Writing
    at: Span | None = None
    name: str = "filesystem"
    reads: ChangelogMode = APPEND
    writes: ChangelogMode = APPEND
    writable_metadata: tuple[str, ...] = ()

    @property
    def data(self) -> tuple[Field, ...]:
        """The columns that files contain."""
        return tuple(f for f in self.schema.physical if f.name not in self.schema.partition_keys)

    @property
    def partitions(self) -> tuple[Field, ...]:
        """The columns in directory names, the outermost first."""
        by_name = {f.name: f for f in self.schema.physical}
        return tuple(by_name[name] for name in self.schema.partition_keys)

    @property
    def waits_for_watermark(self) -> bool:
        """Whether partitions are committed by the watermark."""
        return self.writing.commit is not None and self.writing.commit.by_time

    def metadata_type(self, key: str) -> DataType:
        """Return Flink's type of a metadata key."""
        return METADATA[key]

    def check_source(self) -> None:
        """Accept every table: all tables of files can be read."""

    def check_sink(self) -> None:
        """Raise NOT_WRITABLE for a glob."""
        if _GLOB & set(self.path):
            raise StreamtableError(
                Condition.NOT_WRITABLE,
                at=self.at,
                hint="its path is a pattern; name a directory to write into",
                table=self.table,
                connector=self.name,
            )

    def describe(self) -> str:
        """Return connector, path and format."""
        return f"{self.name}, {self.path}, {self.content.name}"

    def datasets(self) -> Sequence[Dataset]:
        """Return the directory or files."""
        uri = urlsplit(self.path)
        namespace = f"{uri.scheme}://{uri.netloc}" if uri.netloc else "file"
        return (Dataset(namespace, uri.path),)

    def fingerprint(self) -> dict[str, object]:
        """Return the path and the content of the files."""
        return {
            "connector": self.name,
            "path": self.path,
            "format": self.content.name,
            "columns": [f"{field.name} {field.type}" for field in self.schema.physical],
            "partitions": list(self.schema.partition_keys),
            "bounded": self.interval is None,
        }

    def row_options(self, *, written: bool) -> Mapping[str, str]:
        """Return the options of the lines' format on which rows depend."""
        content = self.content
        if isinstance(content, Parquet):
            return {}
        return row_options(content.format, content.settings, written=written)

    def source(self) -> FilesystemSource:
        """Return the source of the table."""
        from streamtable.connectors.filesystem.source import FilesystemSource  # needs Spark

        return FilesystemSource(self)

    def sink(self) -> FilesystemSink:
        """Return the sink of the table."""
        from streamtable.connectors.filesystem.sink import FilesystemSink  # needs Spark

        return FilesystemSink(self)
