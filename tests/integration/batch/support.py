"""Batch answers of planned queries over the histories of replayed tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from streamtable.batch.answer import answer
from streamtable.batch.carried import Carried
from streamtable.batch.context import BatchContext
from streamtable.batch.refusals import refusal
from streamtable.connector_api.stored import NUMBER_COLUMN, TIME_COLUMN
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.position import POSITION
from streamtable.session import fixed_settings
from streamtable.testing.answers import (
    INTERPRETED,
    PLANNED_ONCE,
    as_json,
    frame_of,
    rounded,
    set_for_a_while,
)
from streamtable.testing.folding import bag
from streamtable.testing.replayed import PARTITION, Recorded, Replayed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from streamtable.plan.sink.sink import Sink
    from streamtable.plan.source.scan import Scan


@dataclass
class Answers:
    """Batch answers of plans over tables. `refused` counts plans without an answer by reason."""

    spark: SparkSession
    tables: Mapping[str, Replayed | Recorded]
    settings: Mapping[str, str]
    refused: Counter[str] = field(default_factory=Counter)
    doubted: Counter[str] = field(default_factory=Counter)
    carried: Carried | None = None
    watermark_ms: int | None = None

    def rows(
        self, plans: Sequence[Sink], heaps: Sequence[Sequence[int]] = ()
    ) -> dict[int, Counter[str]]:
        """Return the counted rows of each answer by the number of its plan.

        One Spark job computes all answers. Plans without an answer are missing.
        """
        frames: dict[int, DataFrame] = {}
        doubts: list[tuple[int, str, DataFrame]] = []
        found: dict[int, Counter[str]] = {}
        with set_for_a_while(self.spark, {**INTERPRETED, **PLANNED_ONCE}):
            for i, plan in enumerate(plans):
                unanswered = refusal(plan.input)
                if unanswered is not None:
                    self.refused[unanswered.reason] += 1
                    continue
                context = self.context()
                text = as_json([f.name for f in plan.input.fields])
                frames[i] = answer(plan.input, context).selectExpr(f"{i} AS i", f"{text} AS text")
                doubts += [(i, d.reason, d.cases) for d in context.doubts if d.cases is not None]
            texts = reduce(DataFrame.union, frames.values()).collect()
            flags = [cases.selectExpr(f"{n} AS n") for n, (_, _, cases) in enumerate(doubts)]
            raised = reduce(DataFrame.union, flags).distinct().collect() if flags else []
        for i in frames:
            rows = [json.loads(text, parse_float=rounded) for number, text in texts if number == i]
            found[i] = bag(rows, heaps[i] if heaps else ())
        for (n,) in raised:
            i, reason, _ = doubts[n]
            self.doubted[reason] += 1
            found.pop(i, None)
        return found

    def context(self) -> BatchContext:
        """Return a context over the tables."""
        lowering = LoweringContext(
            self.spark,
            Bridge(self.spark),
            fixed_settings(self.settings).current(),
            bounded=True,
        )
        return BatchContext(lowering, self.changes, self.carried, self.watermark_ms)

    def changes(self, scan: Scan) -> DataFrame:
        """Return the changes of a scan's table in the form of `StoredChanges.rows`."""
        table = self.tables[scan.table.name]
        rows = [row for batch in table.records() for row in batch]
        numbered = [{**row, "__offset": i} for i, row in enumerate(rows)]
        columns = table.columns.replace("TIMESTAMP(3)", "TIMESTAMP_NTZ")
        schema = f"{ROW_KIND_COLUMN} TINYINT, {columns}, {PARTITION} INT, __offset BIGINT"
        fields = [quote(f.name) for f in scan.fields if f not in POSITION]
        return frame_of(self.spark, schema, numbered).selectExpr(
            ROW_KIND_COLUMN,
            *fields,
            PARTITION,
            "__offset",
            f"0 AS {NUMBER_COLUMN}",
            f"timestamp_seconds(__offset) AS {TIME_COLUMN}",
        )
