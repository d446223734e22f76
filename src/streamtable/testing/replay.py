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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import from_json

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.rehearsal import Rehearsal
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.plan.nodes import Scan, Sink
from streamtable.runtime.modes import Extent, with_empty_batches
from streamtable.session import Session, fixed_settings
from streamtable.testing.answers import (
    INTERPRETED,
    PLANNED_ONCE,
    answer,
    as_json,
    rounded,
    set_for_a_while,
)
from streamtable.testing.folding import Fold, bag, listed
from streamtable.testing.replayed import PARTITION, Recorded, Replayed, Row
from streamtable.testing.state import state_rows

#: Which batch a record of a rehearsal belongs to.
_BATCH = "__batch"
#: Rows with their kinds, in the order in which they come.
Changes = list[tuple[RowKind, Any]]


@dataclass(frozen=True)
class Case:
    """One query into one sink.

    Attributes:
        sink: the CREATE TABLE of the table `out`.
        flink: the query.
        spark: the same in Spark's SQL.
        key: positions of the sink's key; None for a sink of complete changes.
        starts_empty: whether the answer may be missing until the query's first row has come; its
            first column then counts the rows.
        heaps: positions of columns whose values come in any order.
        one_of_each: whether several rows of the answer may have one key; then one of them is seen.
    """

    sink: str
    flink: str
    spark: str
    key: tuple[int, ...] | None = None
    starts_empty: bool = False
    heaps: tuple[int, ...] = ()
    one_of_each: bool = False

    def script(self, tables: Mapping[str, Replayed | Recorded]) -> str:
        """Everything as Flink SQL."""
        sources = "\n".join(table.ddl(name) for name, table in tables.items())
        return f"{sources}\n{self.sink}\nINSERT INTO out {self.flink};"


@dataclass(frozen=True)
class Difference:
    """Where a query's folded output is not the batch answer."""

    case: int
    batch: int
    found: Sequence[Any]
    expected: Sequence[Any]


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
        with set_for_a_while(self.spark, INTERPRETED), _scratch() as folder:
            plans = [self.plan(case) for case in cases]
            if self.rehearsed:
                batches = self._rehearse(plans, Rehearsal(self.spark))
            else:
                batches = self._run(plans, folder, folder / "checkpoint")
        found: list[list[Changes]] = [[[] for _ in batches] for _ in cases]
        for number, rows in batches.items():
            for which, kind, text in rows:
                found[which][number].append((RowKind(kind), json.loads(text)))
        return found

    def state_rows(self, cases: Sequence[Case]) -> dict[str, int]:
        """What the state of all cases together holds in the end; see `state.state_rows`."""
        with set_for_a_while(self.spark, INTERPRETED), _scratch() as folder:
            checkpoint = folder / "checkpoint"
            self._run([self.plan(case) for case in cases], folder, checkpoint)
            return state_rows(self.spark, str(checkpoint))

    def state_size(self, cases: Sequence[Case]) -> tuple[int, int]:
        """Entries and bytes that the state of all cases together holds in the end, rehearsed."""
        with set_for_a_while(self.spark, INTERPRETED):
            rehearsal = Rehearsal(self.spark)
            self._rehearse([self.plan(case) for case in cases], rehearsal)
        return rehearsal.state_rows, rehearsal.state_bytes

    def differences(self, cases: Sequence[Case]) -> list[Difference]:
        """Every case whose output differs, at the first batch at which it does."""
        with set_for_a_while(self.spark, INTERPRETED):
            return self._differences(cases)

    def _differences(self, cases: Sequence[Case]) -> list[Difference]:
        plans = [self.plan(case) for case in cases]
        with _scratch() as folder:
            if self.rehearsed:
                batches = self._rehearse(plans, Rehearsal(self.spark))
            else:
                batches = self._run(plans, folder, folder / "checkpoint")
        folded = [Fold(case.key) for case in cases]
        wrong: dict[int, Difference] = {}
        for number, expected in enumerate(self.answers(cases)):
            for which, kind, text in batches.get(number, []):
                folded[which].add(kind, json.loads(text, parse_float=rounded))
            for i, case in enumerate(cases):
                found, wanted = folded[i].rows(case.heaps), bag(expected[i], case.heaps)
                unborn = case.starts_empty and not found and _counts_none(expected[i])
                if i not in wrong and not unborn and not _fits(case, found, wanted):
                    wrong[i] = Difference(i, number, listed(found), listed(wanted))
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

    def _run(
        self, plans: Sequence[Sink], folder: Path, checkpoint: Path
    ) -> dict[int, list[tuple[int, int, str]]]:
        """Per batch: (case, row kind, row as json) in the order in which they came."""
        tables = self.tables.items()
        sources = {name: self._source(name, table, folder) for name, table in tables}
        output = reduce(DataFrame.union, self._outputs(plans, sources))
        found: dict[int, list[tuple[int, int, str]]] = {}

        def take(rows: DataFrame, batch: int) -> None:
            found[batch] = [(r[0], r[1], r[2]) for r in rows.collect()]
            time.sleep(self.pause_s)

        writer = output.writeStream.foreachBatch(take).outputMode("update")
        writer = writer.option("checkpointLocation", str(checkpoint))
        inputs = [plan.input for plan in plans]
        with with_empty_batches(self.spark, inputs, Extent.AVAILABLE):
            query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return found

    def _rehearse(
        self, plans: Sequence[Sink], rehearsal: Rehearsal
    ) -> dict[int, list[tuple[int, int, str]]]:
        """The same as `_run`, without a streaming query."""
        sources = {}
        records = {
            name: [_numbered(i, rows) for i, rows in enumerate(_with_offsets(table))]
            for name, table in self.tables.items()
        }
        batches = max(map(len, records.values()))
        for name, table in self.tables.items():
            texts = [(json.dumps(row),) for rows in records[name] for row in rows]
            schema = f"{_schema(table)}, {_BATCH} INT"
            frame = self.spark.createDataFrame(texts, "text STRING")
            all_rows = frame.select(from_json("text", schema).alias("row")).select("row.*")
            sources[name] = rehearsal.table(name, all_rows, batches)
        found: dict[int, list[tuple[int, int, str]]] = {batch: [] for batch in range(batches)}
        with set_for_a_while(self.spark, PLANNED_ONCE):
            outputs = list(self._outputs(plans, sources))
            for output in outputs:
                rehearsal.check(output)
            for batch, rows in found.items():
                rehearsal.turn(batch, int(batch * self.pause_s * 1000))
                # One by one: Spark analyzes a union of all of them anew with each that is added.
                rows += [(r[0], r[1], r[2]) for output in outputs for r in output.collect()]
        return found

    def _outputs(
        self, plans: Sequence[Sink], sources: Mapping[str, DataFrame]
    ) -> Iterator[DataFrame]:
        """Rows of (case, row kind, row as json) of each plan over these scans."""

        def scanned(node: Scan, positions: bool) -> DataFrame:
            columns = [quote(name) for name in (ROW_KIND_COLUMN, *(f.name for f in node.fields))]
            columns += [PARTITION, "__offset"] if positions else []
            return sources[node.table.name].select(*columns)

        context = LoweringContext(
            self.spark,
            Bridge(self.spark),
            fixed_settings(self.settings).current(),
            bounded=True,
            scanned=scanned,
        )
        for i, plan in enumerate(plans):
            yield lower(plan.input, context).selectExpr(
                f"{i} AS case",
                f"{ROW_KIND_COLUMN} AS kind",
                f"{as_json([f.name for f in plan.input.fields])} AS text",
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


def _with_offsets(table: Replayed | Recorded) -> Iterator[list[Row]]:
    """The records of each batch, numbered through."""
    offset = count()
    for rows in table.records():
        yield [{**row, "__offset": next(offset)} for row in rows]


def _numbered(batch: int, rows: Iterable[Row]) -> list[Row]:
    return [{**row, _BATCH: batch} for row in rows]


def _schema(table: Replayed | Recorded) -> str:
    return f"{ROW_KIND_COLUMN} TINYINT, {table.columns}, {PARTITION} INT, __offset BIGINT"


def _fits(case: Case, found: Counter[str], wanted: Counter[str]) -> bool:
    if not case.one_of_each or case.key is None:
        return found == wanted
    keys = [{_key(text, case.key) for text in rows} for rows in (found, wanted)]
    return set(found) <= set(wanted) and keys[0] == keys[1] and len(found) == len(keys[0])


def _key(text: str, key: Sequence[int]) -> str:
    row = json.loads(text)
    return json.dumps([row[i] for i in key])


def _counts_none(rows: Sequence[Sequence[Any]]) -> bool:
    return len(rows) == 1 and rows[0][0] == 0


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for state that no one needs after the test: in memory, if the machine can."""
    memory = "/dev/shm"  # noqa: S108 - a TemporaryDirectory of our own is made in it
    parent = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="replay-", dir=parent) as folder:
        yield Path(folder)
