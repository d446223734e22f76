"""The source of connector `lines`: Spark reads the files, the format decodes the lines."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import Source
from streamtable.connector_api.tables import TableEndpoint
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.types import quote, spark_ddl
from streamtable.jvm.specs.reader import ReaderSpec
from streamtable_lines.connector import LinesTable


@dataclass(frozen=True)
class LinesSource(TableEndpoint[LinesTable], Source):
    """What a source does not offer keeps the default answer of `Source`, which declines."""

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """A streaming DataFrame: the row kind, then the wanted columns."""
        table, bridge = self.declared, context.bridge
        if wanted.order or wanted.splits:
            raise StreamtableError(
                Condition.NOT_YET, at=self.at, what=f"a query by the order of rows of {self.table}"
            )
        files = context.spark.readStream.format("text").load(table.directory)
        lines = files.selectExpr("value", "_metadata.file_path AS path")
        value, none = F.col("value").cast("binary"), F.lit(None).cast("binary")
        counters = context.counters_of(self.table)
        # Key, value and time; then the place of a record for messages: name, part, position.
        lines = bridge.metered(lines, counters, (none, value, F.unix_millis(F.now())))
        place = (F.col("path"), F.lit(0), F.lit(0).cast("bigint"))
        held = [field.name for field in table.schema.physical]
        spec = ReaderSpec(
            key=None,
            value=table.format.decoder(table.schema.physical, table.settings),
            key_positions=[-1] * len(wanted.fields),
            value_positions=[held.index(field.name) for field in wanted.fields],
            upsert=False,
            skip_key_errors=False,
            skip_value_errors=table.format.skips_errors(table.settings),
            output_ddl=f"{ROW_KIND_COLUMN} TINYINT, {spark_ddl(wanted.fields)}",
            place="file '%s'",
        )
        row = bridge.read(spec, counters, (none, value, *place)).alias("row")
        columns = [F.col(f"row.{quote(field.name)}") for field in wanted.fields]
        rows = lines.select(row).where("row IS NOT NULL")
        return rows.select(F.col(f"row.{ROW_KIND_COLUMN}"), *columns)

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:  # noqa: ARG002
        """Spark's Real-time Mode accepts only some sources."""
        return StreamtableError(
            Condition.NOT_YET, at=self.at, what=f"table {self.table} in real-time mode"
        )
