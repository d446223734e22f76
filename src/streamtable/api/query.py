"""Query: the rows of a SELECT, which arrive while it runs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from streamtable.api.family import one_family, refuse_call
from streamtable.api.fold import Folded
from streamtable.api.result import Result
from streamtable.api.row import Row, python_row
from streamtable.core.changelog import RowKind
from streamtable.core.options import Settings
from streamtable.plan.sink.sink import Collect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamtable.runtime.select import Receiver

#: Batches that wait for the reader of a result; the query waits while there are so many.
_WAITING = 16
_POLL_S = 0.2

#: One change: its row kind and its values.
Change = tuple[RowKind, tuple[Any, ...]]


class Runs(Protocol):
    """Runs a plan for a receiver, in the thread of the caller."""

    def __call__(
        self, plan: Collect, receiver: Receiver, stop: threading.Event, *, bounded: bool
    ) -> None:
        """Run a plan until its end, or until the event is set."""


@dataclass(frozen=True)
class Planned:
    """A planned SELECT.

    Attributes:
        texts: its plan with columns as text, for displays.
        values: returns its plan with typed columns.
        settings: the session's settings at the statement.
        run: runs one of the plans.
        batch: whether the query reads up to the current end of its topics.
    """

    texts: Collect
    values: Callable[[], Collect]
    settings: Settings
    run: Runs
    batch: bool


class Query(Result):
    """Rows of a SELECT.

    The query starts when its rows are asked for, runs until its input ends or the reader leaves,
    and starts from the beginning in the next call. An unbounded query ends with the loop over
    `collect()`, or with Ctrl-C. Read a query to the current end of its topics with
    `Table.to_dataframe`, or in batch mode: SET 'execution.runtime-mode' = 'batch'.
    """

    def __init__(self, planned: Planned) -> None:
        self.planned = planned
        self.fields = planned.texts.columns

    @property
    def bounded(self) -> bool:
        """Whether the query ends by itself."""
        if self.planned.batch:
            return True
        from streamtable.runtime.query.modes import is_bounded

        return is_bounded(self.planned.texts)

    def collect(self) -> Iterator[Row]:
        """Yield a row for each change, as it arrives; `Row.kind` is its row kind."""
        with one_family():
            plan = self.planned.values()
            with closing(self._batches(plan)) as batches:
                for changes in batches:
                    for kind, values in changes:
                        yield python_row(values, self.fields, kind)

    def texts(self) -> Generator[list[Change], None, None]:
        """Yield the changes of each batch with values as text, as Flink prints them.

        An empty list comes several times a second while there are no changes, so that a display
        can draw the last ones and look at the time.
        """
        with one_family():
            yield from self._batches(self.planned.texts)

    def values(self) -> Generator[list[Change], None, None]:
        """Yield the changes of each batch, as `texts` does, with the values of Spark."""
        with one_family():
            yield from self._batches(self.planned.values())

    def print(self) -> None:
        """Print the changes as they arrive; in batch mode, the final rows."""
        with one_family():
            from streamtable.runtime.printer import printer_of

            plan, settings = self.planned.texts, self.planned.settings
            printer = printer_of(plan, settings, print, bounded=self.bounded)
            printer.begin()
            with closing(self._batches(plan)) as batches:
                for changes in batches:
                    for kind, values in changes:
                        printer.add(kind, values)
            printer.end()

    def changes(self, *, bounded: bool = False) -> Iterator[Change]:
        """Yield every change with the values as Spark returns them.

        Args:
            bounded: whether to end at the current end of the topics.
        """
        for changes in self._batches(self.planned.values(), bounded=bounded):
            yield from changes

    def final_rows(self, *, bounded: bool = False) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that are left at the end, with the values as Spark returns them."""
        folded = Folded()
        for kind, values in self.changes(bounded=bounded):
            folded.add(kind, values)
        return folded.rows()

    def _final_rows(self, call: str) -> list[Row]:
        if not self.bounded:
            refuse_call(
                call,
                "the query is unbounded, so it has no final rows",
                "call it on sql_query(...), which reads up to the current end of the topics, or"
                " SET 'execution.runtime-mode' = 'batch'",
            )
        return [python_row(values, self.fields) for values in self.final_rows()]

    def _batches(
        self, plan: Collect, *, bounded: bool = False
    ) -> Generator[list[Change], None, None]:
        """Run a plan in a thread and yield the changes of its batches; leaving stops the query."""
        feed = _Feed()

        def run() -> None:
            try:
                self.planned.run(plan, feed, feed.stop, bounded=bounded or self.planned.batch)
            except BaseException as error:
                feed.failure = error
            finally:
                feed.close()

        thread = threading.Thread(target=run, name="streamtable-query", daemon=True)
        thread.start()
        try:
            yield from feed
        finally:
            feed.stop.set()
            thread.join()
        if feed.failure is not None:
            raise feed.failure


class _Feed:
    """Receiver that hands the changes of a query to another thread."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.failure: BaseException | None = None
        self._batches: queue.Queue[list[Change] | None] = queue.Queue(_WAITING)
        self._closed = threading.Event()

    def begin(self) -> None:
        """Nothing to show yet."""

    def take(self, batch: DataFrame, number: int) -> None:
        """Wait until there is room for the changes of a batch."""
        del number
        changes = [(RowKind(row[0]), tuple(row[1:])) for row in batch.collect()]
        while changes and not self.stop.is_set():
            try:
                self._batches.put(changes, timeout=_POLL_S)
            except queue.Full:
                continue
            return

    def end(self) -> None:
        """The thread of the query calls `close` in any case."""

    def close(self) -> None:
        """Mark the end of the query, and wake the reader, which may wait for a batch."""
        self._closed.set()
        with suppress(queue.Full):
            self._batches.put_nowait(None)

    def __iter__(self) -> Iterator[list[Change]]:
        while True:
            closed = self._closed.is_set()
            try:
                batch = self._batches.get(timeout=_POLL_S)
            except queue.Empty:
                if closed:
                    return
                yield []
                continue
            if batch is None:
                return
            yield batch
