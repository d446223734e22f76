"""Shadow run: a query over its history, whose records are kept in files instead of written."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.source import Source
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.table import Table
from streamtable.jvm.specs.restored import RestoredQuery
from streamtable.jvm.streaming.watermarks import Watermarks
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink.sink import lower_sink
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.storage.trees import replace_tree
from streamtable.runtime.checkpoint.storage.whole_files import write_whole
from streamtable.runtime.endpoints import explains
from streamtable.runtime.query.modes import Extent, with_empty_batches, with_trigger
from streamtable.runtime.query.query_run import QueryRun
from streamtable.runtime.upgrade.ranges import ReadRange

#: Columns of the records in the files, after `key` and `value`: the batch, and the place in it.
BATCH, PLACE = "__batch", "__place"

#: Number that stands for a batch before the first one.
_BEFORE = -1
_POLL_S = 0.2
_REPORT_S = 10.0


class Shadow:
    """The shadow run of one query.

    Its directory is a checkpoint of Spark, with which the query itself continues. The folder
    `upgrade` in it has the files of the upgrade.

    Args:
        name: name of the query.
        plan: its plan.
        directory: directory of its offsets and state.
        range: what it reads.
        context: context of the upgrade.
        stop: event of a stop request.
        notice: takes one line for the user.
    """

    #: Folder with the files of the upgrade, in the directory of the query.
    FOLDER = "upgrade"

    def __init__(
        self,
        name: str,
        plan: Sink,
        directory: CheckpointPath,
        range_: ReadRange,
        context: LoweringContext,
        stop: threading.Event,
        notice: Notice,
    ) -> None:
        self.name, self.plan, self.directory, self.range = name, plan, directory, range_
        self._stop, self._notice = stop, notice
        self._source_of = context.source_of
        self.folder = directory / self.FOLDER
        directory.mkdir(exist_ok=True)
        self.folder.mkdir(exist_ok=True)
        self.context = replace(
            context,
            mode=ExecutionMode.MICRO_BATCH,
            query=name,
            source_of=self._source,
            watermarks=Watermarks(self.watermarks),
        )

    @property
    def watermarks(self) -> dict[str, int]:
        """The watermark of each split at the newest commit, as `partition_watermarks` names it."""
        file = self.folder / "watermarks.json"
        found: dict[str, int] = json.loads(file.read_text("utf-8")) if file.exists() else {}
        return found

    def run(self) -> None:
        """Read the range; continue an interrupted run.

        Raises:
            StreamtableError: an error of the query; JOB_FAILED after a stop request.
        """
        rows = lower_sink(self.plan, self.context)
        settings, spark = self.context.settings, self.context.spark
        plan = self.plan.input
        trigger = with_trigger(rows, plan, self.context.mode, settings, Extent.AVAILABLE)
        writer = trigger.queryName(self.name).option("checkpointLocation", str(self.directory))
        try:
            with with_empty_batches(spark, [plan], Extent.AVAILABLE):
                run = QueryRun(self.name, writer.foreachBatch(self._capture), explains([self.plan]))
            self._await(run)
        finally:
            self._keep_watermarks()
            self.context.watermarks.close()

    def restore(self, state: RestoredQuery, positions: CheckpointPath) -> None:
        """Start the query with the state of another one; the rows of all groups are its records.

        The range is empty. An interrupted call is repeated.

        Args:
            state: the state of its operators.
            positions: folder with the positions at which the first run of the old query began. A
                later rebuild begins there, too.

        Raises:
            StreamtableError: as `run`.
        """
        groups = replace(state, groups=replace(state.groups, emitted=True))
        self._capture(lower_sink(self.plan, replace(self.context, restored=groups)), _BEFORE)
        self.context = replace(self.context, restored=state)
        self.run()
        replace_tree(positions, self.directory / positions.name)

    def records(self) -> DataFrame | None:
        """Return the captured records: key, value, `BATCH`, `PLACE`; None if there are none."""
        folder = self.folder / "captured"
        if not folder.is_dir() or not any(folder.iterdir()):
            return None
        read = self.context.spark.read.parquet(str(folder))
        return read.selectExpr("key", "value", BATCH, PLACE)

    def write(self, writer: DataStreamWriter) -> None:
        """Run a query that writes records of the upgrade to its end."""
        self._await(QueryRun(self.name, writer, explains([self.plan])))

    def _source(self, table: Table) -> Source:
        begins, ends = self.range.begins, self.range.ends
        return self._source_of(table).between(begins, ends, self.context.bridge)

    def _capture(self, batch: DataFrame, number: int) -> None:
        """Keep the records of a batch; a batch that runs again replaces its files."""
        place = F.monotonically_increasing_id().alias(PLACE)
        records = batch.select("key", "value", place)
        records.write.mode("overwrite").parquet(str(self.folder / "captured" / f"{BATCH}={number}"))

    def _await(self, run: QueryRun) -> None:
        reported = time.monotonic()
        try:
            while not run.has_ended():
                run.wait_for_end(self._stop, _POLL_S)
                if self._stop.is_set():
                    raise StreamtableError(
                        Condition.JOB_FAILED,
                        sink=self.name,
                        reason="the command was stopped",
                        hint="the same command continues it",
                    )
                self._keep_watermarks()
                if time.monotonic() - reported > _REPORT_S and run.progress is not None:
                    reported = time.monotonic()
                    self._notice(f"{self.name}: {run.newest_batch()} batches read")
        finally:
            run.stop()

    def _keep_watermarks(self) -> None:
        now = self.context.watermarks.committed()
        if now and now != self.watermarks:
            write_whole(self.folder / "watermarks.json", json.dumps(now))
