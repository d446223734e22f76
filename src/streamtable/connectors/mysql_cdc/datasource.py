"""The reader as a PySpark data source that returns a changelog as Arrow batches.

Spark calls the planning methods in a Python process of the driver, and `read` in its tasks. Spark's
checkpoint stores `Offset.to_json()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from streamtable.connectors.mysql_cdc.changelog import ChangelogRows, Out, RowSpec
from streamtable.connectors.mysql_cdc.reader import (
    ChunkPart,
    Offset,
    Part,
    Planner,
    SourceSpec,
    read,
)
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import quote

#: Rows per Arrow batch.
_ROWS = 8_192
ORDER = "__order"


@dataclass
class PartPartition(InputPartition):
    """One task of a batch."""

    part: Part

    def __post_init__(self) -> None:
        super().__init__(self.part)


class ChangelogReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the tables of one scan.

    Args:
        source: the tables to read.
        rows: the output of the scan.
        schema: Spark's schema, equal to `schema_ddl`.
    """

    def __init__(self, source: SourceSpec, rows: RowSpec, schema: StructType) -> None:
        self._source = source
        self._rows = rows
        self._schema = schema
        self._opened: Planner | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - PySpark's name
        """Return the start offset of a first run."""
        return self._planner.initial().to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return a limit of about the number of snapshot rows in a batch."""
        return ReadMaxRows(self._source.batch_rows)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: ARG002, N802
        """Return the end of the next batch; `start` if there is nothing to read."""
        begin = Offset.from_json(start)
        end = self._planner.next(begin)
        if end == begin:
            return start
        self._planner.changes(begin, end)
        return end.to_json()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Let the run end at the current end of the binlog, with complete snapshots."""
        self._planner.stop_at_end()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[PartPartition]:
        """Return the tasks of a batch; planning it again gives the same tasks."""
        planned = self._planner.parts(Offset.from_json(start), Offset.from_json(end))
        return [PartPartition(part) for part in planned]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of a task; rows of the same key keep their order."""
        assert isinstance(partition, PartPartition)  # noqa: S101 - of `partitions`
        schema = to_arrow_schema(self._schema, timezone="UTC")
        made = ChangelogRows(self._rows, self._source.settings)
        found = made.rows(read(self._source, partition.part))
        while block := list(islice(found, _ROWS)):
            yield self._batch(block, schema, partition.part)

    def _batch(self, block: list[Out], schema: pa.Schema, part: Part) -> pa.RecordBatch:
        kinds, rows, order = zip(*block, strict=True)
        columns = [kinds, *zip(*rows, strict=True), order]
        try:
            arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
        except (pa.ArrowException, OverflowError, TypeError) as error:
            place = part.chunks if isinstance(part, ChunkPart) else part.end
            raise StreamtableError(
                Condition.TABLE_UNREADABLE,
                table=self._rows.table,
                reason=f"a row of {place} does not fit the declared columns: {error}",
            ) from error
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def stop(self) -> None:
        """Close the planner's connections."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def _planner(self) -> Planner:
        if self._opened is None:
            self._opened = Planner(self._source)
        return self._opened


def schema_ddl(rows: RowSpec) -> str:
    """Return the output columns of the source: row kind, fields, order."""
    fields = [f"{quote(f.name)} {f.type.spark_sql()}" for f in rows.fields]
    return ", ".join([f"{ROW_KIND_COLUMN} TINYINT", *fields, f"{ORDER} BIGINT"])


def data_source(source: SourceSpec, rows: RowSpec, name: str) -> type[DataSource]:
    """Create the data source class of one scan, for registration under a name.

    The class takes no options, because Spark shows options. The password is part of the pickled
    class instead.
    """

    class MySqlChangelog(DataSource):
        """Changes of a server's tables."""

        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> str:
            return schema_ddl(rows)

        def streamReader(self, schema: StructType) -> ChangelogReader:  # noqa: N802
            return ChangelogReader(source, rows, schema)

    return MySqlChangelog
