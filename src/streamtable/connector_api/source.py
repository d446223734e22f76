"""`Source`: reads a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from pyspark.sql import DataFrame

from streamtable.connector_api.findings import Finding, ScanFacts
from streamtable.connector_api.preflight import Notice, Preflight, Resource
from streamtable.connector_api.reading import ReadContext, ReadRequest, SourceObserver
from streamtable.connector_api.stored import StoredChanges
from streamtable.core.errors import InternalError, Span, StreamtableError
from streamtable.core.moment import Moment
from streamtable.core.options import Settings
from streamtable.jvm.bridge import Bridge

#: A part of a source whose records have an order, by a name that is stable between runs. The splits
#: of a topic are its partitions, "topic/partition".
Split = str

#: Columns that order the records of a source: the number of the split, and the position in the
#: split. The newest row of a key has the greatest position.
ORDER_COLUMNS = ("__partition", "__offset")


class Source(Protocol):
    """Reads one table. Equal sources read the same records in the same way."""

    @property
    def table(self) -> str:
        """The table's name, for messages, counters and metrics."""

    @property
    def at(self) -> Span | None:
        """The position of the table's declaration."""

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """Return a streaming DataFrame: row kind, then the columns in the order of `wanted`."""

    @property
    def is_bounded(self) -> bool:
        """Whether the scan is bounded even if the job is not."""
        return False

    @property
    def kept_bound(self) -> str | None:
        """Return the bound in words, if later runs of a checkpoint keep the ends of the first run.

        They keep the ends as long as the bound has the same words.
        """
        return None

    def scan_ends(self, bridge: Bridge) -> Mapping[Split, int] | None:
        """Determine the ends of a bounded scan, exclusive; None if it has no such ends.

        Raises:
            StreamtableError: OPTION_CONFLICT if the bound gives no ends; an error of the external
                system.
        """
        return None

    def ended_at(self, ends: Mapping[Split, int]) -> Source:
        """Return the source with these `scan_ends`, which it determines no more."""
        msg = f"the scan of {self.table} has no ends"
        raise InternalError(msg)

    def parallelism(self, bridge: Bridge, new_splits: Mapping[str, int]) -> int:
        """Return the number of tasks that scan in parallel.

        Args:
            bridge: the JVM side.
            new_splits: `Sink.new_splits` of the job's sinks.
        """
        return 1

    @property
    def reads_splits_alone(self) -> bool:
        """Whether each task can read one split, so that a repeated batch has the same tasks."""
        return True

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:
        """Return why the source does not support real-time mode; None if it does."""
        return None

    def examine(self, preflight: Preflight) -> Sequence[Resource]:
        """Check that the source exists; return the resources that must be created.

        Raises:
            StreamtableError: the source cannot be reached, or does not exist.
        """
        return ()

    def check_access(self, preflight: Preflight) -> None:
        """Check that the user may read the source.

        Raises:
            StreamtableError: ACCESS_DENIED, at the table.
        """
        return

    def findings(self, facts: ScanFacts, bridge: Bridge) -> Iterable[Finding]:
        """Return what a user should know about the source before a job starts.

        Raises:
            StreamtableError: an error of the external system.
        """
        return ()

    def newest(self, records: int, bridge: Bridge) -> Source | None:
        """Return a bounded source of about that many of the newest records, for samples.

        Returns None if the source cannot select its newest records.

        Raises:
            StreamtableError: an error of the external system.
        """
        return None

    @property
    def keeps_history(self) -> bool:
        """Whether `stored` returns the changes of the table."""
        return False

    def stored(
        self, wanted: ReadRequest, moments: Sequence[Moment], context: ReadContext
    ) -> StoredChanges:
        """Return the changes that the source keeps, up to the latest of some moments.

        The read writes nothing. A record that cannot be parsed is handled as in a job, but is not
        written to a dead-letter target.

        Args:
            wanted: the columns; `last_only` as in `read`.
            moments: the moments, which decide the `reached_column` of each change.
            context: the context of the read.

        Raises:
            StreamtableError: MOMENT_LOST if no change up to a moment is kept; INVALID_OPTION for
                offsets that the table does not have; ACCESS_DENIED; an error of the external
                system.
        """
        raise _no_history(self)

    def stored_between(
        self,
        wanted: ReadRequest,
        ranges: Mapping[Split, tuple[int, int]],
        context: ReadContext,
        *,
        committed: bool,
    ) -> StoredChanges:
        """Return the changes of ranges of the splits; the notices name what may be lost.

        Args:
            wanted: the columns; `last_only` as in `read`.
            ranges: first position and end, exclusive, by split; other splits are not read.
            context: the context of the read.
            committed: whether to wait for open transactions, and to read committed ones only.

        Raises:
            StreamtableError: MOMENT_LOST for deleted changes; an error of the external system.
        """
        raise _no_history(self)

    def records_between(
        self,
        ranges: Mapping[Split, tuple[int, int]],
        context: ReadContext,
        *,
        committed: bool,
    ) -> DataFrame:
        """Return the records of ranges of the splits, not decoded: the columns of `RECORD`.

        Args:
            ranges: as for `stored_between`.
            context: the context of the read.
            committed: as for `stored_between`.

        Raises:
            StreamtableError: as for `stored_between`.
        """
        raise _no_history(self)

    def decoded(self, wanted: ReadRequest, records: DataFrame, context: ReadContext) -> DataFrame:
        """Decode records of the table, as `stored_between`.

        Args:
            wanted: the columns.
            records: records of `records_between`, or `key` and `value` as `Sink.encode` of the same
                table has encoded them.
            context: the context of the read.
        """
        raise _no_history(self)

    def identities(self, bridge: Bridge, timeout_ms: int | None = None) -> Mapping[str, str]:
        """Return the ids of the objects that the source reads, such as topics, by their names.

        Objects that do not exist are absent. A checkpoint stores the ids, and a running job
        compares them.

        Args:
            bridge: the JVM side.
            timeout_ms: the longest wait; None for the default.

        Raises:
            StreamtableError: an error of the external system.
        """
        return {}

    def replaced(self, name: str, notice: Notice) -> None:
        """Handle an object whose id has changed: its former records are lost.

        Raises:
            StreamtableError: DATA_LOST, unless the script lets the job continue; then a notice.
        """
        return

    def splits(self, bridge: Bridge) -> Sequence[Split]:
        """Return the current splits."""
        return ()

    def later_splits(self, bridge: Bridge) -> Any:
        """Return the Java `Splits` that finds new splits; None if no splits are added."""
        return None

    def positions(self, reached: Iterable[str | None], bridge: Bridge) -> Mapping[Split, int]:
        """Return a query's positions in the splits of this source; the minimum of several.

        Args:
            reached: a position per source of the query, as Spark writes it. A source selects its
                own positions; a source that has not started has None.
            bridge: the JVM side.
        """
        return {}

    def ends_of(
        self, splits: Iterable[Split] | None, bridge: Bridge, timeout_ms: int | None = None
    ) -> Mapping[Split, int] | None:
        """Return the current ends of splits, exclusive; None if the source cannot determine them.

        Args:
            splits: the splits; None for all.
            bridge: the JVM side.
            timeout_ms: the longest wait; None for the default.

        Raises:
            StreamtableError: LOGIN_FAILED, ACCESS_DENIED or BROKER_FAILED.
        """
        return None

    def begins_of(self, bridge: Bridge) -> Mapping[Split, int] | None:
        """Return the first positions that splits still have; None if the source keeps no history.

        Raises:
            StreamtableError: an error of the external system.
        """
        return None

    def committed_by(self, group: str, bridge: Bridge) -> Mapping[Split, int]:
        """Return the committed positions of a consumer group; splits without one are absent.

        Only for sources with `begins_of`.

        Raises:
            StreamtableError: an error of the external system.
        """
        raise _no_history(self)

    def first_positions(self, bridge: Bridge) -> Mapping[Split, int] | str:
        """Return where any first run of the table has begun, whenever it started.

        If records have been deleted that a first run may have read, this is their position. If the
        first position depends on the time of the start, return the reason in words.

        Raises:
            StreamtableError: an error of the external system.
        """
        return f"the connector of {self.table} keeps no history of positions"

    def between(
        self, begins: Mapping[Split, int], ends: Mapping[Split, int], bridge: Bridge
    ) -> Source:
        """Return a source of the records between two positions of each split.

        A query that has read it to the end continues with the source itself. It writes no records
        aside that do not parse. Only for sources with `begins_of`.

        Args:
            begins: the first positions. Splits without one are read from their beginning; if there
                are none at all, the options of the table decide.
            ends: the end positions, exclusive; other splits are not read.
            bridge: the JVM side.
        """
        msg = f"the source of {self.table} keeps no history"
        raise InternalError(msg)

    def ends_ahead(self, bridge: Bridge) -> Mapping[Split, int]:
        """Return end positions that the splits have not reached yet; the scan waits for them."""
        return {}

    def explain(self, sink: str, text: str) -> StreamtableError | None:
        """Translate the exception that ended a query; None if the source does not know it.

        Args:
            sink: the table that the query writes.
            text: the exception with all its causes, as Spark prints it.
        """
        return None

    @property
    def supports_alignment(self) -> bool:
        """Whether the source supports source alignment (`execution.max-lead`)."""
        return False

    def observe(
        self, queries: Mapping[str, Sequence[Source]], bridge: Bridge, notice: Notice
    ) -> SourceObserver | None:
        """Return the observer of a job that reads the source; None if it needs no observer.

        Args:
            queries: the sources of each query of the job, by the name of the query.
            bridge: the JVM side.
            notice: called with one line for the user.
        """
        return None


def _no_history(source: Source) -> InternalError:
    return InternalError(f"the source of {source.table} keeps no history")
