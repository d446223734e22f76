"""Records that a topic should hold, read from the tables as the job reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from streamtable.connectors.mysql_cdc.reader import (
    Change,
    Part,
    Planner,
    Position,
    SchemaChange,
    TableId,
    parts,
    read,
)
from streamtable.ingest.records.records import RecordMaker
from streamtable.ingest.run.computing import computed
from streamtable.ingest.run.rows import arrow_batches, schema_ddl
from streamtable.ingest.spec import IngestSpec
from streamtable.jvm.bridge import Bridge

#: Key and value of a record; a null value is a tombstone.
Pair = tuple[bytes, bytes | None]


class ExpectedRecords:
    """Reads tables of a job and converts their rows into records.

    Args:
        spec: the job, with its transforms bound to its tables.
        spark: evaluates the expressions of transforms.
    """

    def __init__(self, spec: IngestSpec, spark: SparkSession) -> None:
        self._spec = spec
        self._spark = spark

    def rows(self, topic: str, tables: Sequence[TableId]) -> tuple[Position, dict[bytes, bytes]]:
        """Read all rows of some tables at one position: key -> value, as the job writes them."""
        rows: dict[bytes, bytes] = {}
        with Planner(self._spec.source) as planner:
            at = planner.initial()
            at = replace(at, pending=dict.fromkeys(tables))
            while at.pending:
                end = planner.next(at)
                for part in parts(at, end):
                    for key, value in self.records(part, topic):
                        if value is None:
                            rows.pop(key, None)
                        else:
                            rows[key] = value
                at = end
        return at.position, rows

    def records(self, part: Part, topic: str) -> Iterator[Pair]:
        """Yield the records of a part for one topic, without the records of DDL statements."""
        programs = self._spec.records.programs
        maker = RecordMaker(self._spec.records, self._spec.find)
        found = read(self._spec.source, part)
        changes = (change for change in found if not isinstance(change, SchemaChange))
        if not programs.all:
            yield from self._plain(changes, maker, topic)
            return
        schema = StructType.fromDDL(schema_ddl(programs))
        assert isinstance(schema, StructType)  # noqa: S101 - fromDDL of columns
        arrow = to_arrow_schema(schema, timezone="UTC")
        for batch in arrow_batches(changes, maker, programs, arrow):
            rows = self._spark.createDataFrame(pa.Table.from_batches([batch]), schema)
            records = computed(rows, programs, Bridge(self._spark))
            for row in records.collect():
                if row.topic == topic:
                    yield bytes(row.key), None if row.value is None else bytes(row.value)

    def _plain(self, changes: Iterator[Change], maker: RecordMaker, topic: str) -> Iterator[Pair]:
        for change in changes:
            for record in maker.records(change):
                if record.topic == topic and record.key is not None:
                    yield record.key, record.value
