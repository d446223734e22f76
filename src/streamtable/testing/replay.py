"""Many queries over the same histories in one Spark job, without Kafka, compared at every batch.

Either as a streaming query, or rehearsed: the same operators with their state in memory, a batch in
milliseconds (see `jvm.rehearsal`).

The tables of a script are read from files, one file a micro-batch, in the shape in which the scan
of a topic gives them: upserts with the key alone in a delete, inserts, or complete changes. The
oracle is Spark's batch answer over the folded tables.
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
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.planned_batches import END_WATERMARK_MS
from streamtable.jvm.rehearsal import Rehearsal
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.plan.nodes import Sink
from streamtable.plan.time_attributes import waits
from streamtable.runtime.modes import Extent, with_empty_batches
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
from streamtable.testing.replayed import PARTITION, Recorded, Replayed, Row
from streamtable.testing.scans import ReplayedScans
from streamtable.testing.state import state_rows

#: Which batch a record of a rehearsal belongs to.
_BATCH = "__batch"
#: Rows with their kinds, in the order in which they come.
Changes = list[tuple[RowKind, Any]]


@dataclass
class Replay:
    """Runs cases over tables; `differences` tells where they are wrong.

    Attributes:
        settings: of the session that plans and lowers, as `SET` takes them.
        pause_s: how long to wait after each batch, where state goes by the clock; a rehearsal puts
            its clock forward.
        rehearsed: whether operators run without a streaming query, and nothing is left behind.
    """

    spark: SparkSession
    tables: Mapping[str, Replayed | Recorded]
    settings: Mapping[str, str] = field(default_factory=dict)
    pause_s: float = 0
    rehearsed: bool = False

    def changes(self, cases: Sequence[Case]) -> list[list[Changes]]:
        """The changes that each case gives in each batch, in the order in which they come."""
        with set_for_a_while(self.spark, INTERPRETED):
            return _by_case(self._batches(cases), len(cases))

    def changes_in(self, cases: Sequence[Case], folder: Path) -> list[list[Changes]]:
        """The same of a streaming query that keeps what it has in a folder.

        Where `folder/query` is a checkpoint of it already, it goes on behind the batches that this
        has seen, as long as the folder is called as it was then.
        """
        with set_for_a_while(self.spark, INTERPRETED):
            plans = [self.plan(case) for case in cases]
            return _by_case(self._run(plans, folder), len(cases))

    def state_rows(self, cases: Sequence[Case]) -> dict[str, int]:
        """What the state of all cases together holds in the end; see `state.state_rows`."""
        with set_for_a_while(self.spark, INTERPRETED), _scratch() as folder:
            self._run([self.plan(case) for case in cases], folder)
            return state_rows(self.spark, str(folder / "query"))

    def state_size(self, cases: Sequence[Case]) -> tuple[int, int]:
        """Entries and bytes that the state of all cases together holds in the end, rehearsed."""
        with set_for_a_while(self.spark, INTERPRETED):
            rehearsal = Rehearsal(self.spark)
            self._rehearse([self.plan(case) for case in cases], rehearsal)
        return rehearsal.state_rows, rehearsal.state_bytes

    def differences(self, cases: Sequence[Case]) -> list[Difference]:
        """Every case whose output differs, at the first batch at which it does."""
        with set_for_a_while(self.spark, INTERPRETED):
            return self._differences(cases, self._batches(cases))

    def differences_and_entries(self, cases: Sequence[Case]) -> tuple[list[Difference], int]:
        """The same, and how many entries the state of all cases holds in the end; rehearsed."""
        with set_for_a_while(self.spark, INTERPRETED):
            rehearsal = Rehearsal(self.spark)
            batches = self._rehearse([self.plan(case) for case in cases], rehearsal)
            return self._differences(cases, batches), rehearsal.state_rows

    def _batches(self, cases: Sequence[Case]) -> dict[int, list[tuple[int, int, str]]]:
        """Per batch: (case, row kind, row as json) in the order in which they came."""
        plans = [self.plan(case) for case in cases]
        if self.rehearsed:
            return self._rehearse(plans, Rehearsal(self.spark))
        with _scratch() as folder:
            return self._run(plans, folder)

    def _differences(
        self, cases: Sequence[Case], batches: Mapping[int, Sequence[tuple[int, int, str]]]
    ) -> list[Difference]:
        folded = [Fold(case.key) for case in cases]
        wrong: dict[int, Difference] = {}
        answers = list(self.answers(cases))
        for number, expected in enumerate(answers):
            last = number == len(answers) - 1
            for batch in range(number, max(batches) + 1 if last else number + 1):
                for which, kind, text in batches.get(batch, []):
                    folded[which].add(kind, json.loads(text, parse_float=rounded))
            for i, case in enumerate(cases):
                if case.at_end and not last:
                    continue
                found = difference(case, i, number, folded[i], expected[i])
                if found is not None:
                    wrong.setdefault(i, found)
        return [wrong[i] for i in sorted(wrong)]

    def answers(self, cases: Sequence[Case]) -> Iterator[dict[int, list[Any]]]:
        """The rows that Spark answers each case with after each batch."""
        histories = {n: t for n, t in self.tables.items() if isinstance(t, Replayed)}
        for rows in zip(*(table.tables() for table in histories.values()), strict=True):
            tables = {
                name: (table.columns, live)
                for (name, table), live in zip(histories.items(), rows, strict=True)
            }
            yield answer(self.spark, [case.spark for case in cases], tables)

    def plan(self, case: Case) -> Sink:
        """What is run for a case."""
        session = Session(settings=fixed_settings(self.settings))
        session.load(case.script(self.tables), "replay.sql")
        return session.plans[0]

    def _run(self, plans: Sequence[Sink], folder: Path) -> dict[int, list[tuple[int, int, str]]]:
        """`_batches` of a streaming query; it keeps tables and checkpoint in a folder."""
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

    def _rehearse(
        self, plans: Sequence[Sink], rehearsal: Rehearsal
    ) -> dict[int, list[tuple[int, int, str]]]:
        """`_batches` without a streaming query."""
        records = {
            name: [_numbered(i, rows) for i, rows in enumerate(_with_offsets(table))]
            for name, table in self.tables.items()
        }
        batches = max(map(len, records.values()))
        sources = {}
        for name, table in self.tables.items():
            rows = (row for batch in records[name] for row in batch)
            frame = frame_of(self.spark, f"{_schema(table)}, {_BATCH} INT", rows)
            sources[name] = rehearsal.table(name, frame, batches)
        with set_for_a_while(self.spark, PLANNED_ONCE):
            context = self._context(sources)
            outputs = []
            for i, plan in enumerate(plans):
                rehearsal.plan(i)
                outputs.append(_output(i, plan, replace(context, query=str(i))))
            timed = [i for i, plan in enumerate(plans) if waits(plan.input)]
            found = {}
            # Behind the last rows come two batches without any: what they have made of the
            # watermark, and the end of the input.
            for batch in range(batches + 2 if timed else batches):
                for i in timed:
                    moment = END_WATERMARK_MS if batch > batches else _watermark(context, str(i))
                    rehearsal.watermark(i, moment)
                rehearsal.turn(batch, int(batch * self.pause_s * 1000))
                found[batch] = rehearsal.rows(outputs)
        return found

    def _context(self, sources: Mapping[str, DataFrame]) -> LoweringContext:
        return LoweringContext(
            self.spark,
            Bridge(self.spark),
            fixed_settings(self.settings).current(),
            bounded=True,
            scanned=ReplayedScans(self.tables, sources),
            rehearsed=self.rehearsed,
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


def _output(number: int, plan: Sink, context: LoweringContext) -> DataFrame:
    """Rows of (case, row kind, row as json)."""
    return lower(plan.input, context).selectExpr(
        f"{number} AS case",
        f"{ROW_KIND_COLUMN} AS kind",
        f"{as_json([f.name for f in plan.input.fields])} AS text",
    )


def _watermark(context: LoweringContext, query: str) -> int:
    """What a query's partitions have come to; 0 as long as one of them has shown nothing."""
    heard = context.watermarks.heard(query).values()
    return min(partition.watermark or 0 for scan in heard for partition in scan.values())


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
    """The records of each batch, numbered through."""
    offset = count()
    for rows in table.records():
        yield [{**row, "__offset": next(offset)} for row in rows]


def _numbered(batch: int, rows: Iterable[Row]) -> list[Row]:
    return [{**row, _BATCH: batch} for row in rows]


def _schema(table: Replayed | Recorded) -> str:
    columns = table.columns.replace("TIMESTAMP(3)", "TIMESTAMP_NTZ")
    return f"{ROW_KIND_COLUMN} TINYINT, {columns}, {PARTITION} INT, __offset BIGINT"


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for state that no one needs after the test: in memory, if the machine can."""
    memory = "/dev/shm"  # noqa: S108 - a TemporaryDirectory of our own is made in it
    parent = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="replay-", dir=parent) as folder:
        yield Path(folder)
