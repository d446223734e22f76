"""`DatagenSource`: row numbers of a Java source, and Spark expressions that compute the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamtable.connector_api.preflight import Preflight, Resource
from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS, Source, Split
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.datagen.factory import DatagenTable
from streamtable.connectors.datagen.values import value_sql
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge

_FORMAT = "io.streamtable.datagen.RowNumberSource"


@dataclass(frozen=True)
class DatagenSource(TableEndpoint[DatagenTable], Source):
    """Reads generated rows; they have one order and therefore one split."""

    @property
    def is_bounded(self) -> bool:
        """Whether the table has a number of rows."""
        return self.declared.rows is not None

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """Return a streaming DataFrame: row kind, fields, and other wanted columns."""
        table = self.declared
        tasks = table.tasks or context.spark.sparkContext.defaultParallelism
        numbers = (
            context.spark.readStream.format(_FORMAT)
            .option("rowsPerSecond", table.rows_per_second)
            .option("rows", -1 if table.rows is None else table.rows)
            .option("tasks", tasks)
            .load()
        )
        columns = [f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}"]
        for field in wanted.fields:
            value = value_sql(field, table.columns[field.name], field.name.replace("'", "_"))
            columns.append(f"{value} AS {quote(field.name)}")
        if wanted.order:
            split, position = ORDER_COLUMNS
            columns += [f"0 AS {split}", f"number AS {position}"]
        if wanted.splits:
            columns += [f"'{self._split}' AS __topic", "0 AS __of_partition"]
        return numbers.selectExpr(*columns)

    def parallelism(self, bridge: Bridge, new_splits: Mapping[str, int]) -> int:  # noqa: ARG002 - no external system
        """Return the number of generating tasks."""
        return self.declared.tasks or bridge.default_parallelism

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:  # noqa: ARG002
        """Return an error: Spark's Real-time Mode supports only its own sources."""
        return StreamtableError(
            Condition.NOT_YET,
            at=self.at,
            what=f"table {self.table} of connector 'datagen' in real-time mode",
            hint="SET 'execution.mode' = 'micro-batch'",
        )

    def examine(self, preflight: Preflight) -> Sequence[Resource]:
        """Refuse a bounded run over an unbounded table."""
        if preflight.bounded and not self.is_bounded:
            raise StreamtableError(
                Condition.MISSING_OPTION,
                at=self.at,
                hint="set it, or run without --bounded",
                table=self.table,
                option="number-of-rows",
                owner="a bounded run",
            )
        return ()

    def splits(self, bridge: Bridge) -> Sequence[Split]:  # noqa: ARG002
        """Return one split: the rows have one order."""
        return (f"{self._split}/0",)

    @property
    def _split(self) -> str:
        return self.table.replace("'", "_")
