"""Operators over batch DataFrames, a micro-batch each, with their state in the JVM's memory.

Put together between `begin` and the first `turn`, a DataFrame gives the next micro-batch at each of
its runs. For tests of many queries; one run at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamtable.jvm.bridge import Bridge


class Rehearsal:
    """One run; it forgets what an earlier one has left."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark: Any = spark
        self._bridge = Bridge(spark)
        self._java: Any = self._bridge.rehearsal
        self._java.begin()

    def table(self, name: str, rows: DataFrame, batches: int) -> DataFrame:
        """A table that gives the rows of the current micro-batch.

        Args:
            name: of the table.
            rows: of all micro-batches; the last column is the number of theirs, and not given.
            batches: how many there are.
        """
        jdf: Any = rows._jdf  # noqa: SLF001 - PySpark has no public way
        session = self._spark._jsparkSession  # noqa: SLF001
        return DataFrame(self._java.table(session, name, jdf, batches), self._spark)

    def rows(self, outputs: Sequence[DataFrame]) -> list[tuple[int, int, str]]:
        """What DataFrames of (case, row kind, text) give in this micro-batch, one after the other.

        Raises:
            Py4JJavaError: where one would give the same rows in every micro-batch.
        """
        frames: Any = [output._jdf for output in outputs]  # noqa: SLF001
        lines: str = self._java.rows(self._bridge.java_list(frames))
        found = []
        for line in lines.split("\n")[:-1]:
            case, kind, text = line.split("\t", 2)
            found.append((int(case), int(kind), text))
        return found

    def plan(self, query: int) -> None:
        """From now on operators of this query are put together."""
        self._java.plan(query)

    def watermark(self, query: int, moment_ms: int) -> None:
        """Lets a query have this watermark from the next `turn` on."""
        self._java.watermark(query, moment_ms)

    def turn(self, batch: int, now_ms: int = 0) -> None:
        """Goes on to a micro-batch, which begins at a moment of a clock of its own."""
        self._java.turn(batch, now_ms)

    @property
    def state_rows(self) -> int:
        """How many entries the state of all operators holds; timers count as such."""
        return int(self._java.stateRows())

    @property
    def state_bytes(self) -> int:
        """How many bytes these have, the keys of operators left out."""
        return int(self._java.stateBytes())
