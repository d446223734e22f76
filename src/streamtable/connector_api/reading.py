"""What a source gets to read, and from whom: the request, and the context of the job."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.core.options import Settings
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.types import DataType, Field
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import Counters


class ReadContext(Protocol):
    """The context of the query that reads a source."""

    @property
    def spark(self) -> SparkSession:
        """The session."""

    @property
    def bridge(self) -> Bridge:
        """The JVM side of the session."""

    @property
    def settings(self) -> Settings:
        """The session's settings; `execution.micro-batch.max-records` is the batch size."""

    @property
    def bounded(self) -> bool:
        """Whether the run stops at the current end of the source."""

    @property
    def mode(self) -> ExecutionMode:
        """The execution mode: micro-batch or real-time."""

    @property
    def query(self) -> str:
        """The name of the query that reads."""

    @property
    def one_split_per_task(self) -> bool:
        """Whether a task must not read several splits (`Sink.names_tasks_by_split`)."""

    @property
    def alignments(self) -> Mapping[str, str]:
        """The id of each table's source alignment, for the tables that the query aligns."""

    def counters_of(self, table: str) -> Counters:
        """Return the counters of the skipped records of a table."""


@dataclass(frozen=True)
class ReadRequest:
    """The columns and properties of a scan that an operator needs.

    Attributes:
        fields: physical and metadata columns, in order; metadata columns have the connector's type.
        order: whether `ORDER_COLUMNS` follow.
        splits: whether the split of each row follows, as the columns of `Source.split_columns`.
        last_only: whether a record with several changes gives only the last change of each row.
        parts: the types of ROW columns of which only some fields are read. A source may return
            these parts, or whole columns.
    """

    fields: tuple[Field, ...]
    order: bool = False
    splits: bool = False
    last_only: bool = False
    parts: Mapping[str, DataType] = field(default_factory=dict)


class SourceObserver(Protocol):
    """Observes the queries of a running job for a source."""

    def on_progress(
        self, newest: Mapping[str, StreamingQueryProgress | None], finished: Collection[str]
    ) -> None:
        """Process the newest batch of each query; called several times a second.

        Args:
            newest: by the name of the query; None before the first batch of this run.
            finished: queries that have read their input to its end, in this run or an earlier one.

        Raises:
            StreamtableError: an error that must end the job.
        """

    def close(self) -> None:
        """Note that the queries have ended."""
