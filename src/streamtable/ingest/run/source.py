"""The reader as a PySpark data source, whose rows are records, or changes that Spark computes.

Spark calls the planning methods in a Python process of the driver, and `read` in its tasks. The
reader writes its progress to a file, which the driver reads (`status`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from streamtable.connectors.mysql_cdc.reader import Offset, Part, Planner, TableId, read
from streamtable.ingest.records.known import KnownTable
from streamtable.ingest.records.records import RecordMaker
from streamtable.ingest.run.definitions import definitions, definitions_of
from streamtable.ingest.run.new_tables import ask_for_topics
from streamtable.ingest.run.rows import arrow_batches, schema_ddl
from streamtable.ingest.run.status import Lag, ReaderStatus, write_status
from streamtable.ingest.spec import IngestSpec


@dataclass
class PartPartition(InputPartition):
    """One task of a batch.

    Attributes:
        added: the tables that the reader has found since its start.
    """

    part: Part
    added: dict[TableId, KnownTable]

    def __post_init__(self) -> None:
        super().__init__(self.part)


class IngestReader(DataSourceStreamReader):
    """Reads the tables of a job.

    Args:
        spec: the spec of the job.
        schema: Spark's schema, equal to `schema_ddl`.
        bounded: whether to stop at the end of the binlog when the first batch is planned.
    """

    def __init__(self, spec: IngestSpec, schema: StructType, *, bounded: bool) -> None:
        self._spec = spec
        self._schema = schema
        self._bounded = bounded
        self._planner: Planner | None = None
        self._chunks = 0
        self._lag = Lag()
        self._notices: list[str] = []
        self._added: dict[TableId, KnownTable] = {}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - PySpark's name
        """Return the start offset of a first run."""
        return self._open().initial().to_json()

    def latestOffset(self, start: dict[str, Any], limit: object = None) -> dict[str, Any]:  # noqa: ARG002, N802
        """Return the end of the next batch; `start` if there is nothing to read."""
        planner = self._open()
        begin = Offset.from_json(start)
        asked = time.monotonic()
        end = planner.next(begin)
        if end != begin:
            end = self._with_definitions(planner, begin, end)
        behind = planner.behind(begin)
        # Other batches are capped, or alternate between changes and chunks.
        to_the_end = behind <= self._spec.source.batch_bytes and not end.chunks
        self._lag.plan(begin, end, asked, to_the_end=to_the_end)
        status = ReaderStatus(
            position=str(begin.position),
            pending=[list(table) for table in begin.pending],
            chunks=self._chunks,
            behind=behind,
            lag=self._lag.seconds(time.monotonic()),
            ended=end == begin and planner.ended(begin),
            idle=end == begin,
            notices=self._notices,
        )
        self._chunks += sum(map(len, end.chunks)) if end != begin else 0
        write_status(self._spec.status, status)
        return start if end == begin else end.to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[PartPartition]:
        """Return the tasks of a batch; planning it again gives the same tasks."""
        planned = self._open().parts(Offset.from_json(start), Offset.from_json(end))
        return [PartPartition(part, self._added) for part in planned]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the records of a task; records of the same key keep their order."""
        assert isinstance(partition, PartPartition)  # noqa: S101 - of `partitions`
        rules = self._spec.records
        rules = replace(rules, known={**rules.known, **partition.added})
        maker = RecordMaker(rules, self._spec.find)
        changes = read(self._spec.source, partition.part)
        schema = to_arrow_schema(self._schema, timezone="UTC")
        return arrow_batches(changes, maker, self._spec.records.programs, schema)

    def commit(self, end: dict[str, Any]) -> None:
        """Do nothing: the reader stores nothing for completed batches."""

    def stop(self) -> None:
        """Close the connections of the planner."""
        if self._planner is not None:
            self._planner.close()
            self._planner = None

    def _open(self) -> Planner:
        if self._planner is None:
            self._planner = Planner(self._spec.source)
            if self._bounded:
                self._planner.stop_at_end()
        return self._planner

    def _with_definitions(self, planner: Planner, begin: Offset, end: Offset) -> Offset:
        """Return a batch in which DDL statements and chunks do not affect the same tables.

        The snapshot must be read of a table that has rows which the binlog lacks: a RENAME has
        given it its name, or it was left out before it got a primary key.
        """
        start = end.begin or begin.position
        if start.order == end.position.order:
            return end
        spec = self._spec.source
        changes = planner.changes(begin, end)
        if changes is None:
            found = definitions(spec, start, end.position, end.server)
        else:
            found = definitions_of(spec, changes)
        if not found:
            return end
        self._notices += [
            f"{table}: an ALTER TABLE before {end.position} changed rows that the binlog does not"
            " have: the topic keeps the rows of before"
            for kind, table, _ in found
            if kind == "unlogged" and spec.tables()(table)
        ]
        keyless = self._spec.records.ignore_keyless
        filled = {new for _, _, new in found if new is not None}
        filled |= {table for kind, table, _ in found if kind == "key" and keyless}
        created = {table for kind, table, _ in found if kind == "create"}
        self._added |= ask_for_topics(self._spec.status, filled | created)
        if end.chunks:
            end = planner.without_chunks(end)
        renamed = dict.fromkeys(sorted(filter(self._spec.is_copied, filled)))
        read = tuple(table for table in renamed if end.pending.get(table, table) is not None)
        return replace(end, pending={**end.pending, **renamed}, renamed=read)


def source_class(spec: IngestSpec, name: str, *, bounded: bool) -> type[DataSource]:
    """Create the data source class of one job.

    The class takes no options, because Spark shows options. The password is part of the pickled
    class instead.
    """

    class IngestSource(DataSource):
        """Records of a job's tables."""

        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> str:
            return schema_ddl(spec.records.programs)

        def streamReader(self, schema: StructType) -> IngestReader:  # noqa: N802
            return IngestReader(spec, schema, bounded=bounded)

    return IngestSource
