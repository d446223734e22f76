"""Replay many queries over the same histories in one Spark job, and compare every batch.

The replay runs without Kafka, either as a streaming query or in memory. In memory, the same
operators run in a test harness, and a batch takes milliseconds (see `testing.operator_harness`).

The tables of a script are read from files, one file per micro-batch. Their rows have the form of
the scan of a topic: upserts with only the key in a delete, inserts, or a full changelog. The oracle
is Spark's batch result over the folded tables.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import InternalError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import END_WATERMARK_MS
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.plan.rules.watermarks import waits
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.query.modes import Extent, with_empty_batches
from streamtable.session import Session, fixed_settings
from streamtable.testing.answers import (
    INTERPRETED,
    PLANNED_ONCE,
    answer,
    as_json,
    frame_of,
    rounded,
    set_for_a_while,
)
from streamtable.testing.cases import Case, Difference, difference
from streamtable.testing.folding import Fold
from streamtable.testing.operator_harness import OperatorHarness
from streamtable.testing.replayed import PARTITION, Recorded, Replayed, Row
from streamtable.testing.scans import ReplayedScans
from streamtable.testing.state import state_rows

#: The column with the batch number of a record, for runs in memory.
_BATCH = "__batch"
#: Rows with row kinds, in arrival order.
Changes = list[tuple[RowKind, Any]]


@dataclass
class Replay:
    """Runs cases over tables; `differences` returns the failures.

    Attributes:
        settings: settings of the session that plans and lowers, as for `SET`.
        pause_s: the wait after each batch, in seconds, for state that depends on the clock; a run
            in memory advances its clock instead.
        in_memory: whether operators run in a test harness, without a streaming query; no files
            remain.
        reached: whether timers of a run in memory fire at the watermark that the rows of their own
            batch reach, as in a job, and not in the next batch.
    """

    spark: SparkSession
    tables: Mapping[str, Replayed | Recorded]
    settings: Mapping[str, str] = field(default_factory=dict)
    pause_s: float = 0
    in_memory: bool = False
    reached: bool = False

    def changes(self, cases: Sequence[Case]) -> list[list[Changes]]:
        """Return the changes that each case emits in each batch, in order."""
        with set_for_a_while(self.spark, INTERPRETED):
            return _by_case(self._batches(cases), len(cases))

    def changes_in(
        self, cases: Sequence[Case], folder: Path, lacking: frozenset[str] = frozenset()
    ) -> list[list[Changes]]:
        """Return the changes of a streaming query that stores its files in a folder.

        If `folder/query` is already a checkpoint of the query, the query continues after the
        batches of that checkpoint. The folder must still have the same name. `lacking` is
        `Sink.lacking` of each case.
        """
        with set_for_a_while(self.spark, INTERPRETED):
            plans = [replace(self.plan(case), lacking=lacking) for case in cases]
            return _by_case(self._run(plans, folder), len(cases))

    def state_rows(self, cases: Sequence[Case]) -> dict[str, int]:
        """Return the state entries of all cases together at the end; see `state.state_rows`."""
        with set_for_a_while(self.spark, INTERPRETED), _scratch() as folder:
            self._run([self.plan(case) for case in cases], folder)
            return state_rows(self.spark, str(folder / "query"))

    def state_size(self, cases: Sequence[Case]) -> tuple[int, int]:
        """Return entries and bytes of the state of all cases together at the end, in memory."""
        with set_for_a_while(self.spark, INTERPRETED):
            harness = OperatorHarness(self.spark)
            self._run_in_memory([self.plan(case) for case in cases], harness)
        return harness.state_rows, harness.state_bytes

    def state_writes(self, cases: Sequence[Case]) -> int:
        """Return how many state entries all cases together write in a run in memory."""
        with set_for_a_while(self.spark, INTERPRETED):
            plans = [self.plan(case) for case in cases]
            marks = self._marks(plans)
            harness = OperatorHarness(self.spark)
            self._run_in_memory(plans, harness, marks)
        return harness.state_writes

    def differences(self, cases: Sequence[Case]) -> list[Difference]:
        """Return every case whose output differs, at its first differing batch."""
        with set_for_a_while(self.spark, INTERPRETED):
            return self._differences(cases, self._batches(cases))

    def differences_and_entries(self, cases: Sequence[Case]) -> tuple[list[Difference], int]:
        """Return the differences, and the number of state entries at the end, in memory."""
        with set_for_a_while(self.spark, INTERPRETED):
            harness = OperatorHarness(self.spark)
            batches = self._run_in_memory([self.plan(case) for case in cases], harness)
            return self._differences(cases, batches), harness.state_rows

    def _batches(self, cases: Sequence[Case]) -> dict[int, list[tuple[int, int, str]]]:
        """Return per batch: (case, row kind, row as JSON) in arrival order."""
        plans = [self.plan(case) for case in cases]
        if self.in_memory:
            marks = self._marks(plans)
            return self._run_in_memory(plans, OperatorHarness(self.spark), marks)
        with _scratch() as folder:
            return self._run(plans, folder)

    def _marks(self, plans: Sequence[Sink]) -> dict[tuple[int, int], int]:
        """Return watermarks for `_run_in_memory`; a first run shows which ones batches reach."""
        marks: dict[tuple[int, int], int] = {}
        if self.reached:
            self._run_in_memory(plans, OperatorHarness(self.spark), marks)
        return marks

    def _differences(
        self, cases: Sequence[Case], batches: Mapping[int, Sequence[tuple[int, int, str]]]
    ) -> list[Difference]:
        folded = [Fold(case.key) for case in cases]
        wrong: dict[int, Difference] = {}
        answers = list(self.answers(cases))
        plans = [self.plan(case) for case in cases]
        required = [*map(_required, plans)]
        for number, expected in enumerate(answers):
            last = number == len(answers) - 1
            for batch in range(number, max(batches) + 1 if last else number + 1):
                for which, kind, text in batches.get(batch, []):
                    if kind not in plans[which].input.mode.kinds:
                        msg = f"the plan emits no {RowKind(kind).short}: {cases[which].flink}"
                        raise InternalError(msg)
                    folded[which].add(kind, json.loads(text, parse_float=rounded))
            for i, case in enumerate(cases):
                if any(row[place] is None for row in expected[i] for place in required[i]):
                    msg = f"the plan says NOT NULL of a column with NULLs: {case.flink}"
                    raise InternalError(msg)
                if case.at_end and not last:
                    continue
                found = difference(case, i, number, folded[i], expected[i])
                if found is not None:
                    wrong.setdefault(i, found)
        return [wrong[i] for i in sorted(wrong)]

    def answers(self, cases: Sequence[Case]) -> Iterator[dict[int, list[Any]]]:
        """Yield the rows of Spark's batch result of each case after each batch."""
        histories = {n: t for n, t in self.tables.items() if isinstance(t, Replayed)}
        for rows in zip(*(table.tables() for table in histories.values()), strict=True):
            tables = {
                name: (_in_spark(table.columns), live)
                for (name, table), live in zip(histories.items(), rows, strict=True)
            }
            yield answer(self.spark, [case.spark for case in cases], tables)

    def plan(self, case: Case) -> Sink:
        """Return the plan of a case."""
        session = Session(settings=fixed_settings(self.settings))
        session.load(case.script(self.tables), "replay.sql")
        return session.plans[0]

    def _run(self, plans: Sequence[Sink], folder: Path) -> dict[int, list[tuple[int, int, str]]]:
        """Run `_batches` as a streaming query; it stores tables and checkpoint in a folder."""
        tables = self.tables.items()
        sources = {name: self._source(name, table, folder) for name, table in tables}
        context = self._context(sources)
        output = reduce(DataFrame.union, (_output(i, p, context) for i, p in enumerate(plans)))
        found: dict[int, list[tuple[int, int, str]]] = {}

        def take(rows: DataFrame, batch: int) -> None:
            found[batch] = [(r[0], r[1], r[2]) for r in rows.collect()]
            time.sleep(self.pause_s)

        writer = output.writeStream.foreachBatch(take).outputMode("update")
        writer = writer.option("checkpointLocation", str(folder / "query"))
        inputs = [plan.input for plan in plans]
        with with_empty_batches(self.spark, inputs, Extent.AVAILABLE):
            query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return found

    def _run_in_memory(
        self,
        plans: Sequence[Sink],
        harness: OperatorHarness,
        marks: dict[tuple[int, int], int] | None = None,
    ) -> dict[int, list[tuple[int, int, str]]]:
        """Run `_batches` without a streaming query.

        Args:
            plans: the plans of the cases.
            harness: a new harness.
            marks: (query, batch) -> the watermark with which the batch begins, if it is known from
                an earlier run. The run adds those that are not.
        """
        marks = {} if marks is None else marks
        records = {
            name: [_numbered(i, rows) for i, rows in enumerate(_with_offsets(table))]
            for name, table in self.tables.items()
        }
        batches = max(map(len, records.values()))
        sources = {}
        for name, table in self.tables.items():
            rows = (row for batch in records[name] for row in batch)
            frame = frame_of(self.spark, f"{_schema(table)}, {_BATCH} INT", rows)
            sources[name] = harness.table(name, frame, batches)
        with set_for_a_while(self.spark, PLANNED_ONCE):
            context = self._context(sources)
            outputs = []
            for i, plan in enumerate(plans):
                harness.plan(i)
                outputs.append(_output(i, plan, replace(context, query=str(i))))
            timed = [i for i, plan in enumerate(plans) if waits(plan.input)]
            found = {}
            # Two batches without rows follow the last rows: one for the watermark after these rows,
            # and one for the end of the input.
            for batch in range(batches + 2 if timed else batches):
                for i in timed:
                    over = batch > batches
                    moment = END_WATERMARK_MS if over else _watermark(context, str(i), batch)
                    reached = marks.get((i, batch + 1), 0) if batch < batches else 0
                    harness.watermark(i, moment, reached)
                    marks[i, batch] = moment
                harness.turn(batch, int(batch * self.pause_s * 1000))
                found[batch] = harness.rows(outputs)
        return found

    def _context(self, sources: Mapping[str, DataFrame]) -> LoweringContext:
        return LoweringContext(
            self.spark,
            Bridge(self.spark),
            fixed_settings(self.settings).current(),
            bounded=True,
            source_of=ReplayedScans(self.tables, sources),
            in_memory=self.in_memory,
        )

    def _source(self, name: str, table: Replayed | Recorded, folder: Path) -> DataFrame:
        directory = folder / name
        directory.mkdir()
        for i, rows in enumerate(_with_offsets(table)):
            file = directory / f"{i:05}.json"
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            # Spark reads the oldest file first.
            os.utime(file, (i, i))
        reader = self.spark.readStream.schema(_schema(table)).option("maxFilesPerTrigger", 1)
        return reader.json(str(directory))


def _required(plan: Sink) -> list[int]:
    """Return the positions of the columns that cannot be NULL by the plan of their query."""
    return [i for i, field in enumerate(plan.input.fields) if not field.type.nullable]


def _output(number: int, plan: Sink, context: LoweringContext) -> DataFrame:
    """Return rows of (case, row kind, row as JSON)."""
    return lower(plan.input, replace(context, lacking=plan.lacking)).selectExpr(
        f"{number} AS case",
        f"{ROW_KIND_COLUMN} AS kind",
        f"{as_json([f.name for f in plan.input.fields])} AS text",
    )


def _watermark(context: LoweringContext, query: str, batch: int) -> int:
    """Return the watermark of a query's splits; 0 while a split has no event time."""
    context.watermarks.settle(query, batch)
    activity = context.watermarks.activity(query).values()
    return min(split.watermark or 0 for scan in activity for split in scan.values())


def _by_case(
    batches: Mapping[int, Sequence[tuple[int, int, str]]], cases: int
) -> list[list[Changes]]:
    numbers = sorted(batches)
    found: list[list[Changes]] = [[[] for _ in numbers] for _ in range(cases)]
    for place, number in enumerate(numbers):
        for which, kind, text in batches[number]:
            found[which][place].append((RowKind(kind), json.loads(text)))
    return found


def _with_offsets(table: Replayed | Recorded) -> Iterator[list[Row]]:
    """Yield the records of each batch with consecutive numbers."""
    offset = count()
    for rows in table.records():
        yield [{**row, "__offset": next(offset)} for row in rows]


def _numbered(batch: int, rows: Iterable[Row]) -> list[Row]:
    return [{**row, _BATCH: batch} for row in rows]


def _schema(table: Replayed | Recorded) -> str:
    columns = _in_spark(table.columns)
    return f"{ROW_KIND_COLUMN} TINYINT, {columns}, {PARTITION} INT, __offset BIGINT"


def _in_spark(columns: str) -> str:
    return columns.replace("TIMESTAMP(3)", "TIMESTAMP_NTZ")


@contextmanager
def _scratch() -> Iterator[Path]:
    """Create a temporary folder for the state of a test, in memory if possible."""
    memory = "/dev/shm"  # noqa: S108 - a TemporaryDirectory of our own is made in it
    parent = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="replay-", dir=parent) as folder:
        yield Path(folder)
