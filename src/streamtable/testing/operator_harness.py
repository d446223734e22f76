"""A test harness of operators: micro-batches as batch DataFrames, state in the JVM's memory.

A DataFrame that is built between `begin` and the first `turn` returns the next micro-batch each
time it runs. The harness is for tests of many queries, one run at a time. Its Java side is in its
own jar, which no job loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.install.compile import harness_jar

_JAVA_CLASS = "io.streamtable.testing.OperatorHarness"
_JAVA_CLOCK = "io.streamtable.testing.HarnessClock"


class OperatorHarness:
    """One run; it deletes the state of an earlier run."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark: Any = spark
        self._bridge = Bridge(spark)
        if not self._bridge.has_class(_JAVA_CLASS):
            self._bridge.add_jar(harness_jar())
        self._java: Any = self._bridge.java_class(_JAVA_CLASS)
        self._java.begin()

    def use_clock(self) -> None:
        """Let PROCTIME() and similar functions of the session read the harness's own clock."""
        self._bridge.java_class(_JAVA_CLOCK).register(self._bridge.java_session)

    def table(self, name: str, rows: DataFrame, batches: int) -> DataFrame:
        """Return a table with the rows of the current micro-batch.

        Args:
            name: the name of the table.
            rows: the rows of all micro-batches; the last column is the number of the micro-batch,
                and is not returned.
            batches: the number of micro-batches.
        """
        jdf: Any = rows._jdf  # noqa: SLF001 - PySpark has no public way
        session = self._spark._jsparkSession  # noqa: SLF001
        return DataFrame(self._java.table(session, name, jdf, batches), self._spark)

    def rows(self, outputs: Sequence[DataFrame]) -> list[tuple[int, int, str]]:
        """Run DataFrames of (case, row kind, text) in this micro-batch, one after the other.

        Raises:
            Py4JJavaError: a DataFrame would return the same rows in every micro-batch.
        """
        frames: Any = [output._jdf for output in outputs]  # noqa: SLF001
        lines: str = self._java.rows(self._bridge.java_list(frames))
        found = []
        for line in lines.split("\n")[:-1]:
            case, kind, text = line.split("\t", 2)
            found.append((int(case), int(kind), text))
        return found

    def plan(self, query: int) -> None:
        """Assign the operators that are built from now on to a query."""
        self._java.plan(query)

    def watermark(self, query: int, moment_ms: int, reached_ms: int = 0) -> None:
        """Set the watermark of a query from the next `turn` on.

        Args:
            query: the number of the query.
            moment_ms: the watermark with which the micro-batch begins.
            reached_ms: the watermark at which its timers fire, if it is higher.
        """
        self._java.watermark(query, moment_ms, reached_ms)

    def turn(self, batch: int, now_ms: int = 0) -> None:
        """Advance to a micro-batch, with a start time of the harness's own clock."""
        self._java.turn(batch, now_ms)

    @property
    def state_rows(self) -> int:
        """The number of state entries of all operators, including timers."""
        return int(self._java.stateRows())

    @property
    def state_writes(self) -> int:
        """How many state entries of all operators were written in this run, including timers."""
        return int(self._java.stateWrites())

    @property
    def state_bytes(self) -> int:
        """The size of these entries in bytes, without the keys of operators."""
        return int(self._java.stateBytes())
