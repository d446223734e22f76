"""`JdbcSource`: reads a table once, from its first to its last row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.preflight import Preflight, Resource
from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS, Source, Split
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.jdbc.java import checked, explain, java_table
from streamtable.connectors.jdbc.table import JdbcTable
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.types import quote, spark_ddl
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.literals import null

_FORMAT = "io.streamtable.jdbc.ScanSource"


@dataclass(frozen=True)
class JdbcSource(TableEndpoint[JdbcTable], Source):
    """Reads the rows that a table has when the scan runs, in one batch."""

    @property
    def is_bounded(self) -> bool:
        """True: a scan is bounded, as in Flink."""
        return True

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """Return a streaming DataFrame: row kind, fields, and other wanted columns."""
        id_ = str(uuid4())
        bridge, scanning = context.bridge, self.declared.scanning
        part = scanning.partitioning
        java = bridge.java.jdbc
        spec = java.ScanSpec(
            java_table(self.declared, bridge),
            # A query that reads no column, such as COUNT(*), reads one.
            spark_ddl(wanted.fields or self.declared.schema.physical[:1]),
            None if part is None else part.column,
            1 if part is None else part.tasks,
            0 if part is None else part.lower,
            0 if part is None else part.upper,
            scanning.fetch_size,
            scanning.auto_commit,
        )
        java.ScanSource.register(id_, spec)
        rows = context.spark.readStream.format(_FORMAT).option("scan", id_).load()
        none = null("binary")
        now = F.unix_millis(F.current_timestamp())
        rows = bridge.metered(rows, context.counters_of(self.table), (none, none, now))
        columns = [f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}"]
        columns += [quote(field.name) for field in wanted.fields]
        if wanted.order:
            split, position = ORDER_COLUMNS
            columns += [f"0 AS {split}", f"monotonically_increasing_id() AS {position}"]
        if wanted.splits:
            columns += [f"'{self._split}' AS __topic", "0 AS __of_partition"]
        return rows.selectExpr(*columns)

    def parallelism(self, bridge: Bridge, new_splits: Mapping[str, int]) -> int:  # noqa: ARG002
        """Return the number of tasks of the scan."""
        part = self.declared.scanning.partitioning
        return 1 if part is None else part.tasks

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:  # noqa: ARG002
        """Return an error: Spark's Real-time Mode supports only its own sources."""
        return StreamtableError(
            Condition.NOT_YET,
            at=self.at,
            what=f"a scan of table {self.table} of connector 'jdbc' in real-time mode",
            hint="SET 'execution.mode' = 'micro-batch'",
        )

    def examine(self, preflight: Preflight) -> Sequence[Resource]:
        """Check that the database has the table with its declared columns."""
        bridge = preflight.bridge
        names = bridge.java_list(f.name for f in self.declared.schema.physical)
        check = bridge.java.jdbc.TableCheck.columns
        checked(self.declared, bridge, lambda table: check(table, names))
        return ()

    def splits(self, bridge: Bridge) -> Sequence[Split]:  # noqa: ARG002
        """Return one split: the tasks of a scan have no order."""
        return (f"{self._split}/0",)

    def explain(self, sink: str, text: str) -> StreamtableError | None:  # noqa: ARG002
        """Translate an error of the database."""
        return explain(self.declared, text)

    @property
    def _split(self) -> str:
        return self.table.replace("'", "_")
