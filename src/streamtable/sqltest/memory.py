"""Run the INSERTs of a script over the rows of a case, in memory."""

# ruff: noqa: S608 - the SQL is generated here, from checked values

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import Source, Split
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.settings.session import python_files
from streamtable.core.table import Table
from streamtable.core.types import Root, quote
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.jvm.streaming.planned_batches import END_WATERMARK_MS
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink.sink import checked_rows
from streamtable.plan.join.connector_lookup_join import lookup_joins
from streamtable.plan.rules.tree import every
from streamtable.plan.rules.watermarks import processing_windows, waits
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.static_table import StaticTable
from streamtable.plan.source.values import Values
from streamtable.plan.window.watermark import WatermarkAssigner
from streamtable.runtime.session.foreign import copy_of
from streamtable.runtime.session.user_functions import register
from streamtable.sqltest.bind import input_fields
from streamtable.sqltest.found_values import json_sql, read_found
from streamtable.sqltest.model import Batch, Bound, InputRow
from streamtable.sqltest.values import sql_value
from streamtable.testing.answers import INTERPRETED, PLANNED_ONCE
from streamtable.testing.operator_harness import OperatorHarness

_BATCH = "__batch"
_ORDER = ("__partition", "__offset")
#: The changes that a table receives, in order.
Changes = list[tuple[RowKind, tuple[Any, ...]]]


class _MemorySource(Source):
    """The rows of a case for one table."""

    def __init__(self, table: Table, partitions: int, rows: DataFrame) -> None:
        self._table, self._partitions, self._rows = table, partitions, rows

    @property
    def table(self) -> str:
        """The table's name."""
        return self._table.name

    @property
    def at(self) -> Span | None:
        """The position of the table's declaration."""
        return self._table.at

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:  # noqa: ARG002
        """Return row kind, fields, and other wanted columns."""
        columns = [quote(name) for name in (ROW_KIND_COLUMN, *(f.name for f in wanted.fields))]
        if wanted.order:
            columns += _ORDER
        if wanted.splits:
            columns += [f"'{self._table.name}' AS __topic", "__partition AS __of_partition"]
        return self._rows.selectExpr(*columns)

    def splits(self, bridge: Bridge) -> Sequence[Split]:  # noqa: ARG002
        """Return a split for each partition that has a row, and those below it."""
        return [f"{self._table.name}/{number}" for number in range(self._partitions)]


@dataclass(frozen=True)
class Memory:
    """Runs the cases of one test file."""

    spark: SparkSession
    bound: Bound

    @staticmethod
    def of(spark: SparkSession, bound: Bound) -> Memory:
        """Return a runner in a copy of a Spark session.

        Raises:
            StreamtableError: NOT_YET for a script that cannot run in memory.
        """
        for plan in bound.plans:
            _check(plan)
        settings = bound.session.job_settings
        own = copy_of(spark, settings)
        zone = str(bound.zone) if hasattr(bound.zone, "key") else None
        more = {"spark.sql.session.timeZone": zone or "UTC"} if bound.zone is UTC or zone else {}
        for key, value in {**INTERPRETED, **PLANNED_ONCE, **more}.items():
            own.conf.set(key, value)
        Bridge(own).register_functions()
        register(bound.session.catalog.functions.made, python_files(settings), own)
        return Memory(own, bound)

    def run(self, batches: Sequence[Batch]) -> dict[str, Changes]:
        """Return the changes of each sink table, by its name.

        Raises:
            StreamtableError: an error of a row, such as a NULL in a NOT NULL column.
        """
        with Bridge(self.spark).active():
            plans = self.bound.plans
            try:
                return self._run(batches)
            except (JavaError, PySparkException) as error:
                names = ", ".join(sorted({plan.table.name for plan in plans}))
                raise job_fault(names, str(error)) from error

    def _run(self, batches: Sequence[Batch]) -> dict[str, Changes]:
        harness, bridge = OperatorHarness(self.spark), Bridge(self.spark)
        harness.use_clock()
        given = {
            name: [row for batch in batches for row in batch.rows.get(name, ())]
            for name in self.bound.sources
        }
        sources = {
            name: _MemorySource(
                table,
                max((row.partition for row in given[name]), default=0) + 1,
                harness.table(name, self._frame(table, batches), len(batches)),
            )
            for name, table in self.bound.sources.items()
        }
        context = LoweringContext(
            self.spark,
            bridge,
            self.bound.session.job_settings,
            bounded=True,
            source_of=lambda table: sources[table.name],
            in_memory=True,
        )
        outputs = []
        for i, plan in enumerate(self.bound.plans):
            harness.plan(i)
            rows = checked_rows(plan, replace(context, query=str(i)))
            text = json_sql(plan.table.schema.persisted)
            outputs.append(
                rows.selectExpr(f"{i} AS case", f"{ROW_KIND_COLUMN} AS kind", f"{text} AS text")
            )
        found: dict[str, Changes] = {plan.table.name: [] for plan in self.bound.plans}
        for number, batch in enumerate(_with_last(batches, self.bound.plans)):
            for i, plan in enumerate(self.bound.plans):
                if waits(plan.input):
                    harness.watermark(i, _watermark(context, i, plan, number, batch, self.bound))
            harness.turn(number, batch.clock_ms)
            for which, kind, line in harness.rows(outputs):
                table = self.bound.plans[which].table
                values = read_found(line, table.schema.persisted)
                found[table.name].append((RowKind(kind), values))
        return found

    def _frame(self, table: Table, batches: Sequence[Batch]) -> DataFrame:
        """Return the rows of a table: row kind, columns, position, and batch."""
        fields = input_fields(table)
        lines, offset = [], 0
        for number, batch in enumerate(batches):
            for row in batch.rows.get(table.name, ()):
                lines.append(_line(row, fields, offset, number))
                offset += 1
        names = [quote(ROW_KIND_COLUMN), *(quote(f.name) for f in fields), *_ORDER, _BATCH]
        if not lines:
            empty = InputRow(RowKind.INSERT, (None,) * len(fields), 0)
            line = _line(empty, fields, 0, 0)
            return self.spark.sql(
                f"SELECT * FROM VALUES {line} AS t({', '.join(names)}) WHERE false"
            )
        return self.spark.sql(f"SELECT * FROM VALUES {', '.join(lines)} AS t({', '.join(names)})")


def _line(row: InputRow, fields: Sequence[Any], offset: int, batch: int) -> str:
    values = (sql_value(v, f.type) for v, f in zip(row.values, fields, strict=True))
    ends = (str(row.partition), f"{offset}L", str(batch))
    return f"({', '.join([f'{row.kind.value}Y', *values, *ends])})"


def _with_last(batches: Sequence[Batch], plans: Sequence[Sink]) -> Iterator[Batch]:
    """Yield the batches, and one without rows for the watermark after the last rows."""
    yield from batches
    if batches and any(waits(plan.input) for plan in plans):
        yield Batch({}, batches[-1].clock_ms)


def _watermark(
    context: LoweringContext, query: int, plan: Sink, number: int, batch: Batch, bound: Bound
) -> int:
    """Return the watermark of a query for a batch, in milliseconds; 0 if there is none yet."""
    if batch.ends:
        return END_WATERMARK_MS
    if processing_windows(plan.input):
        return batch.clock_ms - 1
    context.watermarks.settle(str(query), number)
    activity = context.watermarks.activity(str(query)).values()
    found = min((split.watermark or 0 for scan in activity for split in scan.values()), default=0)
    if batch.watermark is None:
        return found
    instants = any(
        f.name == node.column and f.type.root is Root.TIMESTAMP_LTZ
        for node in every(plan.input)
        if isinstance(node, WatermarkAssigner)
        for f in node.fields
    )
    zone = bound.zone if instants else UTC
    moment = batch.watermark if batch.watermark.tzinfo else batch.watermark.replace(tzinfo=zone)
    return max(found, round(moment.timestamp() * 1000))


def _check(plan: Sink) -> None:
    """Refuse operators that read something other than tables with rows of the case."""
    what = None
    if next(lookup_joins(plan.input), None) is not None:
        what = "a lookup join with a connector in a unit test"
    elif any(isinstance(node, Values | StaticTable) for node in every(plan.input)):
        what = "VALUES as a source in a unit test"
    if what is not None:
        raise StreamtableError(
            Condition.NOT_YET, at=plan.at, what=what, hint="test this INSERT with `run --bounded`"
        )
