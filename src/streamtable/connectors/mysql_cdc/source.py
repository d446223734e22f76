"""`MySqlSource`: the `Source` of a table that is read from MySQL."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from pyspark.sql import DataFrame

from streamtable.connector_api.preflight import Preflight, Resource
from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS, Source, Split
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.mysql_cdc.changelog import (
    RowSpec,
    conversion,
    missing_column,
    place_of,
)
from streamtable.connectors.mysql_cdc.datasource import ORDER, data_source
from streamtable.connectors.mysql_cdc.factory import MySqlTable
from streamtable.connectors.mysql_cdc.names import StartupMode
from streamtable.connectors.mysql_cdc.reader import (
    MySqlSettings,
    SourceSpec,
    Startup,
    TableId,
    check,
)
from streamtable.connectors.mysql_cdc.reader.check import server_zone
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import EXECUTION_MODE, MAX_BATCH_RECORDS
from streamtable.core.types import Field, quote
from streamtable.jvm.bridge import Bridge

T = TypeVar("T")

#: Assumed bytes of binlog per record, which convert the batch size from records into bytes.
_BYTES_OF_RECORD = 64


@dataclass(frozen=True)
class _Declared:
    """Selects the columns that a table declares; MySQL's column names are case-insensitive."""

    names: frozenset[str]

    def __call__(self, table: TableId, column: str) -> bool:  # noqa: ARG002
        return column.lower() in self.names


@dataclass(frozen=True)
class MySqlSource(TableEndpoint[MySqlTable], Source):
    """Reads the changes of one or several tables; they have one order and therefore one split."""

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """Return a streaming DataFrame: row kind, fields, and other wanted columns."""
        spec = self._spec(
            context.settings[MAX_BATCH_RECORDS], context.spark.sparkContext.defaultParallelism
        )
        rows = self._rows(wanted.fields, self._at(lambda: server_zone(spec)))
        digest = hashlib.sha256(f"{context.query}|{self.table}|{wanted}".encode()).hexdigest()
        name = f"streamtable_mysql_{digest[:16]}"
        context.spark.dataSource.register(data_source(spec, rows, name))
        columns = [ROW_KIND_COLUMN, *(quote(field.name) for field in wanted.fields)]
        if wanted.order:
            split, position = ORDER_COLUMNS
            columns += [f"0 AS {split}", f"{ORDER} AS {position}"]
        if wanted.splits:
            columns += [f"'{self._split}' AS __topic", "0 AS __of_partition"]
        return context.spark.readStream.format(name).load().selectExpr(*columns)

    @property
    def is_bounded(self) -> bool:
        """Whether only the snapshot is read."""
        return self.declared.start.mode is StartupMode.SNAPSHOT

    def parallelism(self, bridge: Bridge, new_splits: Mapping[str, int]) -> int:  # noqa: ARG002
        """Return the number of tasks: one for the binlog, and those of the snapshot."""
        return 1 + self._spec(1, bridge.default_parallelism).snapshot_tasks

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:  # noqa: ARG002
        """Return an error: Spark's Real-time Mode supports only its own sources."""
        return StreamtableError(
            Condition.NOT_YET,
            at=self.at,
            what=f"table {self.table} of connector 'mysql-cdc' in real-time mode",
            hint=f"SET '{EXECUTION_MODE.key}' = 'micro-batch'",
        )

    def examine(self, preflight: Preflight) -> Sequence[Resource]:
        """Check the server's settings and grants, and the declared columns."""
        spec = self._spec(1, 1)
        checked = self._at(lambda: check(spec))
        for notice in checked.notices:
            preflight.notice(f"{self.table}: {notice}")
        rows = self._rows(self.declared.schema.physical, checked.zone)
        for table in checked.tables:
            for field in rows.fields:
                place = place_of(table, field.name)
                if place is None:
                    raise missing_column(rows, table, field.name).located(self.at)
                self._at(partial(conversion, rows, table, place, field))
        return ()

    def splits(self, bridge: Bridge) -> Sequence[Split]:  # noqa: ARG002
        """Return one split: changes have one order."""
        return (f"{self._split}/0",)

    @property
    def _split(self) -> str:
        return self.table.replace("'", "_")

    def _rows(self, fields: tuple[Field, ...], zone: str) -> RowSpec:
        table = self.declared
        return RowSpec(
            table=table.table,
            fields=fields,
            metadata=tuple((c.name, c.key) for c in table.schema.metadata),
            key=table.schema.primary_key,
            zone=zone,
            binary=table.binary,
            append_only=table.append_only,
        )

    def _spec(self, records: int, tasks: int) -> SourceSpec:
        table = self.declared
        access, start = table.access, table.start
        return SourceSpec(
            settings=MySqlSettings(
                hostname=access.hostname,
                username=access.username,
                password=access.password,
                port=access.port,
                server_ids=access.server_ids,
                server_time_zone=access.time_zone,
                connect_timeout=access.timeout,
                connect_max_retries=access.retries,
                jdbc=access.jdbc,
            ),
            patterns=(table.pattern,),
            startup=Startup(start.mode, start.file, start.pos, start.gtid, start.timestamp_ms),
            chunk_size=table.chunk_size,
            fetch_size=table.fetch_size,
            chunk_keys=((table.pattern, table.chunk_key),) if table.chunk_key else (),
            row_keys=((table.pattern, table.schema.primary_key),),
            batch_rows=min(records, 500_000),
            batch_bytes=min(64 << 20, max(1 << 16, records * _BYTES_OF_RECORD)),
            tasks=tasks,
            snapshot_new_tables=table.new_tables,
            columns=_Declared(frozenset(f.name.lower() for f in table.schema.physical)),
        )

    def _at(self, ask: Callable[[], T]) -> T:
        """Query the server; locate an error at the table."""
        try:
            return ask()
        except StreamtableError as error:
            raise error.located(self.at) from None
