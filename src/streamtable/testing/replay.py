"""Many queries over the same histories in one Spark job, without Kafka, compared at every batch.

The tables of a script are read from files, one file a micro-batch, in the shape in which the scan
of a topic gives them: upserts with the key alone in a delete, inserts, or complete changes. The
oracle is Spark's batch answer over the folded tables.
"""

# ruff: noqa: S608 - the queries are ours

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.plan.nodes import Scan, Sink
from streamtable.session import Session, fixed_settings
from streamtable.testing.folding import Fold, bag, listed
from streamtable.testing.replayed import PARTITION, Recorded, Replayed, Row
from streamtable.testing.state import state_rows

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
    """

    spark: SparkSession
    tables: Mapping[str, Replayed | Recorded]
    settings: Mapping[str, str] = field(default_factory=dict)

    def changes(self, cases: Sequence[Case]) -> list[list[Changes]]:
        """The changes that each case gives in each batch, in the order in which they come."""
        with _interpreted(self.spark), _scratch() as folder:
            batches = self._run([self._plan(case) for case in cases], folder)
        found: list[list[Changes]] = [[[] for _ in batches] for _ in cases]
        for number, rows in batches.items():
            for which, kind, text in rows:
                found[which][number].append((RowKind(kind), json.loads(text)))
        return found

    def state_rows(self, cases: Sequence[Case]) -> dict[str, int]:
        """What the state of all cases together holds in the end; see `state.state_rows`."""
        with _interpreted(self.spark), _scratch() as folder:
            self._run([self._plan(case) for case in cases], folder)
            return state_rows(self.spark, str(folder / "checkpoint"))

    def differences(self, cases: Sequence[Case]) -> list[Difference]:
        """Every case whose output differs, at the first batch at which it does."""
        with _interpreted(self.spark):
            return self._differences(cases)

    def _differences(self, cases: Sequence[Case]) -> list[Difference]:
        plans = [self._plan(case) for case in cases]
        with _scratch() as folder:
            batches = self._run(plans, folder)
        folded = [Fold(case.key) for case in cases]
        wrong: dict[int, Difference] = {}
        histories = {n: t for n, t in self.tables.items() if isinstance(t, Replayed)}
        every = zip(*(table.tables() for table in histories.values()), strict=True)
        for number, rows in enumerate(every):
            for which, kind, text in batches.get(number, []):
                folded[which].add(kind, json.loads(text, parse_float=_rounded))
            expected = self._expected(cases, dict(zip(histories, rows, strict=True)))
            for i, case in enumerate(cases):
                found, wanted = folded[i].rows(case.heaps), bag(expected[i], case.heaps)
                unborn = case.starts_empty and not found and _counts_none(expected[i])
                if i not in wrong and not unborn and not _fits(case, found, wanted):
                    wrong[i] = Difference(i, number, listed(found), listed(wanted))
        return [wrong[i] for i in sorted(wrong)]

    def _plan(self, case: Case) -> Sink:
        session = Session(settings=fixed_settings(self.settings))
        session.load(case.script(self.tables), "replay.sql")
        return session.plans[0]

    def _run(self, plans: Sequence[Sink], folder: Path) -> dict[int, list[tuple[int, int, str]]]:
        """Per batch: (case, row kind, row as json) in the order in which they came."""
        sources = {name: self._source(name, table, folder) for name, table in self.tables.items()}

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
        output: DataFrame | None = None
        for i, plan in enumerate(plans):
            rows = lower(plan.input, context).selectExpr(
                f"{i} AS case",
                f"{ROW_KIND_COLUMN} AS kind",
                f"{_json([f.name for f in plan.input.fields])} AS text",
            )
            output = rows if output is None else output.union(rows)
        assert output is not None, "at least one case"  # noqa: S101
        found: dict[int, list[tuple[int, int, str]]] = {}

        def take(rows: DataFrame, batch: int) -> None:
            found[batch] = [(r[0], r[1], r[2]) for r in rows.collect()]

        query = (
            output.writeStream.foreachBatch(take)
            .outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return found

    def _source(self, name: str, table: Replayed | Recorded, folder: Path) -> DataFrame:
        directory = folder / name
        directory.mkdir()
        offset = 0
        for i, rows in enumerate(table.records()):
            lines = []
            for row in rows:
                lines.append(json.dumps({**row, "__offset": offset}) + "\n")
                offset += 1
            file = directory / f"{i:05}.json"
            file.write_text("".join(lines), encoding="utf-8")
            # Spark reads the oldest file first.
            os.utime(file, (i, i))
        schema = f"{ROW_KIND_COLUMN} TINYINT, {table.columns}, {PARTITION} INT, __offset BIGINT"
        reader = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        return reader.json(str(directory))

    def _expected(
        self, cases: Sequence[Case], tables: Mapping[str, Sequence[Row]]
    ) -> dict[int, list[Any]]:
        for name, rows in tables.items():
            columns = self.tables[name].columns
            names = [column.split()[0] for column in columns.split(", ")]
            frame = self.spark.createDataFrame([[row[n] for n in names] for row in rows], columns)
            frame.createOrReplaceTempView(name)
        answers = []
        for i, case in enumerate(cases):
            names = [f"c{n}" for n in range(len(self.spark.sql(case.spark).columns))]
            answer = f"({case.spark}) AS answer({', '.join(names)})"
            answers.append(f"SELECT {i} AS case, {_json(names)} AS text FROM {answer}")
        found: dict[int, list[Any]] = {i: [] for i in range(len(cases))}
        for case_number, text in self.spark.sql(" UNION ALL ".join(answers)).collect():
            found[case_number].append(json.loads(text, parse_float=_rounded))
        return found


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


def _json(names: Iterable[str]) -> str:
    """The columns as a json array, whatever their types."""
    options = "map('ignoreNullFields', 'false')"
    objects = [f"to_json(struct({quote(name)} AS v), {options})" for name in names]
    values = [f"substring({text}, 6, length({text}) - 6)" for text in objects]
    return f"concat('[', concat_ws(',', {', '.join(values)}), ']')"


def _rounded(text: str) -> float:
    """Numbers that differ in their last digits only, because of the order of a sum, are equal."""
    return float(f"{float(text):.9g}")


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for state that no one needs after the test: in memory, if the machine can."""
    memory = "/dev/shm"  # noqa: S108 - a TemporaryDirectory of our own is made in it
    parent = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="replay-", dir=parent) as folder:
        yield Path(folder)


@contextmanager
def _interpreted(spark: SparkSession) -> Iterator[None]:
    """Plans that see few rows are not worth compiling."""
    quick = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    before = {key: spark.conf.get(key, None) for key in quick}
    try:
        for key, value in quick.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)
