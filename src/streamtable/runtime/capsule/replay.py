"""Compare both sides of a capsule again, over its records alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import Source, Split
from streamtable.connector_api.stored import RECORD, StoredChanges
from streamtable.core.errors import InternalError, Span
from streamtable.core.table import Table
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.capsule.file import Capsule, RawRecord
from streamtable.runtime.proof.compare import Verdict
from streamtable.runtime.proof.comparison import Writer, comparison


@dataclass(frozen=True)
class CapsuleSource(Source):
    """Reads the records of a capsule with the formats of a table; it needs no broker."""

    real: Source
    records: DataFrame

    @property
    def table(self) -> str:
        """The table's name."""
        return self.real.table

    @property
    def at(self) -> Span | None:
        """The position of the table's declaration."""
        return self.real.at

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """Refuse a stream: a replay is a batch."""
        del wanted, context
        msg = f"the records of {self.table} in a capsule are no stream"
        raise InternalError(msg)

    @property
    def keeps_history(self) -> bool:
        """True: the records are the history."""
        return True

    def stored_between(
        self,
        wanted: ReadRequest,
        ranges: Mapping[Split, tuple[int, int]],
        context: ReadContext,
        *,
        committed: bool,
    ) -> StoredChanges:
        """Return the rows of the records; the capsule has only records of the ranges."""
        del ranges, committed
        return StoredChanges(self.decoded(wanted, self.records, context), wanted.fields)

    def decoded(self, wanted: ReadRequest, records: DataFrame, context: ReadContext) -> DataFrame:
        """Decode records as the table does."""
        return self.real.decoded(wanted, records, context)

    def positions(self, reached: Iterable[str | None], bridge: Bridge) -> Mapping[Split, int]:
        """Return the positions of a commit in the splits of the table."""
        return self.real.positions(reached, bridge)


@dataclass(frozen=True)
class Replayed:
    """The result of a replay.

    Attributes:
        capsule: the capsule.
        verdict: the result for the key.
        expected: the row of the batch answer as JSON; None for no row.
        found: the row of the sink; None for no row.
    """

    capsule: Capsule
    verdict: Verdict
    expected: str | None
    found: str | None

    @property
    def reproduced(self) -> bool:
        """Whether the key differs again."""
        return self.verdict not in (Verdict.EQUAL, Verdict.REPEATED)

    @property
    def same_rows(self) -> bool:
        """Whether both rows are those that the proof has compared."""
        capsule = self.capsule
        return (self.expected, self.found) == (capsule.expected, capsule.found)

    def lines(self) -> Iterator[str]:
        """Yield the origin of the capsule, both rows, and the result."""
        capsule = self.capsule
        inputs = ", ".join(f"{len(found):,} of {name}" for name, found in capsule.inputs.items())
        versions = ", ".join(f"{name} {version}" for name, version in capsule.versions.items())
        yield (
            f"{capsule.query}: batch {capsule.commit.batch} of job {capsule.checkpoint['job']};"
            f" input records: {inputs}; sink records: {len(capsule.target):,}; {versions}"
        )
        yield f"  {capsule.key}: expected {_row(self.expected)}, found {_row(self.found)}"
        if not self.same_rows:
            rows = f"expected {_row(capsule.expected)}, found {_row(capsule.found)}"
            yield f"  the proof had other rows: {rows}"
        yield f"the difference is {'' if self.reproduced else 'not '}reproduced"

    def as_json(self) -> dict[str, Any]:
        """Return the result as data."""
        capsule = self.capsule
        return {
            "query": capsule.query,
            "table": capsule.table,
            "batch": capsule.commit.batch,
            "key": capsule.key,
            "reproduced": self.reproduced,
            "verdict": self.verdict.value,
            "expected": self.expected,
            "found": self.found,
            "proof": {"expected": capsule.expected, "found": capsule.found},
            "written": capsule.written,
            "checkpoint": dict(capsule.checkpoint),
            "versions": dict(capsule.versions),
            "records": {name: len(found) for name, found in capsule.inputs.items()},
            "sink_records": len(capsule.target),
        }


def replayed(capsule: Capsule, sink: Sink, lowering: LoweringContext) -> Replayed:
    """Compute the batch answer over the records of a capsule, and compare the key with its sink.

    Args:
        capsule: the capsule.
        sink: the query of its script.
        lowering: the context of the session; its sources are not read.

    Raises:
        StreamtableError: an error of a format.
    """
    spark = lowering.spark
    frames = {name: frame_of(spark, records) for name, records in capsule.inputs.items()}
    target = frame_of(spark, capsule.target)

    def input_of(table: Table) -> Source:
        real = source_of(table)
        return CapsuleSource(real, frames[table.name]) if table.name in frames else real

    both = comparison(
        [Writer(sink, capsule.commit)],
        replace(lowering, source_of=input_of),
        replace(lowering, source_of=lambda table: CapsuleSource(source_of(table), target)),
    )
    rows = both.compared.of_key(capsule.key).frame.collect()
    if not rows:
        return Replayed(capsule, Verdict.EQUAL, None, None)
    (row,) = rows
    return Replayed(capsule, Verdict(row["verdict"]), row["expected"], row["found"])


def frame_of(spark: SparkSession, records: Sequence[RawRecord]) -> DataFrame:
    """Return records as a DataFrame with the columns of `RECORD`."""
    types = {**RECORD, "timestamp": "BIGINT"}
    struct = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    text = f"[{', '.join(record.line() for record in records)}]"
    # Rows of Python values would start Python workers. Spark reads bytes in JSON as Base64.
    query = f"SELECT inline(from_json(:records, 'ARRAY<STRUCT<{struct}>>'))"
    frame = spark.sql(query, {"records": text})
    columns = (f"timestamp_millis({n}) AS {n}" if n == "timestamp" else n for n in RECORD)
    return frame.selectExpr(*columns)


def _row(row: str | None) -> str:
    return row or "no row"
