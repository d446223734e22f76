"""`FilesystemSource`: reads files with Spark's readers; a format decodes lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.preflight import Preflight, Resource
from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS, Source, Split
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.filesystem.location import exists
from streamtable.connectors.filesystem.table import FilesystemTable, Lines
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import MAX_BATCH_RECORDS
from streamtable.core.types import Field, quote, spark_ddl
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.literals import null
from streamtable.jvm.specs.reader import ReaderSpec

_FORMAT = "io.streamtable.files.FileSource"

#: The column of Spark's text reader.
_LINE = "__line"

#: Assumed bytes per record, which convert the batch size into bytes. The number of records in a
#: file is unknown before the file is read.
_BYTES_PER_RECORD = 100

#: The path of a row's file without scheme and host. Spark gives a URI. `url_decode` would decode
#: its `+` as a space, so `+` is escaped first.
_PATH = (
    "url_decode(replace(regexp_replace(__file.path, '^[a-zA-Z][a-zA-Z0-9+.-]*:(//[^/]*)?', ''),"
    " '+', '%2B'))"
)
_METADATA = {
    "file.path": _PATH,
    "file.name": f"substring_index({_PATH}, '/', -1)",
    "file.size": "__file.size",
    "file.modification-time": "__file.modified",
}


@dataclass(frozen=True)
class FilesystemSource(TableEndpoint[FilesystemTable], Source):
    """Reads the files of a table, in the order in which they were found."""

    @property
    def is_bounded(self) -> bool:
        """Whether no `source.monitor-interval` is set."""
        return self.declared.interval is None

    @property
    def reads_splits_alone(self) -> bool:
        """False: a task reads parts of several files."""
        return False

    def read(self, wanted: ReadRequest, context: ReadContext) -> DataFrame:
        """Return a streaming DataFrame: row kind, fields, and other wanted columns."""
        table = self.declared
        metadata = {c.name: c.key for c in table.schema.metadata}
        data = tuple(f for f in table.data if f in wanted.fields)
        rows = self._rows(data, self._files(data, wanted, context), context)
        columns = [f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}"]
        for field in wanted.fields:
            name = quote(field.name)
            source = name
            if field.name in metadata:
                source = _METADATA[metadata[field.name]]
            elif field.name in table.schema.partition_keys:
                source = self._partition_value(field)
            columns.append(f"{source} AS {name}")
        if wanted.order:
            split, position = ORDER_COLUMNS
            columns += [f"0 AS {split}", f"__file.position AS {position}"]
        if wanted.splits:
            columns += [f"'{self._split}' AS __topic", "0 AS __of_partition"]
        return rows.selectExpr(*columns)

    def _files(
        self, data: tuple[Field, ...], wanted: ReadRequest, context: ReadContext
    ) -> DataFrame:
        """Return the rows of Spark's file reader, with the file of each row as `__file`."""
        table = self.declared
        lines = isinstance(table.content, Lines)
        limit = context.settings[MAX_BATCH_RECORDS] * _BYTES_PER_RECORD
        reader = (
            context.spark.readStream.format(_FORMAT)
            .schema(f"{_LINE} STRING" if lines else spark_ddl(data))
            .option("directory", table.path)
            .option("reader", "text" if lines else "parquet")
            .option("bounded", str(self.is_bounded))
            .option("interval", _milliseconds(table.interval or timedelta(0)))
            .option("batchbytes", limit)
            .option("positions", str(wanted.order))
        )
        pattern = self._pattern()
        return (reader if pattern is None else reader.option("pattern", pattern)).load()

    def _rows(self, data: tuple[Field, ...], files: DataFrame, context: ReadContext) -> DataFrame:
        """Return the wanted columns of the files and `__file`, and count the rows."""
        counters, bridge = context.counters_of(self.table), context.bridge
        content = self.declared.content
        none = null("binary")
        value = F.col(_LINE).cast("binary") if isinstance(content, Lines) else none
        time = F.unix_millis("__file.modified")
        counted = bridge.metered(files, counters, (none, value, time))
        if not isinstance(content, Lines):
            return counted
        held = data if content.format.projectable else self.declared.data
        names = [f.name for f in held]
        ddl = f"{ROW_KIND_COLUMN} TINYINT"
        spec = ReaderSpec(
            key=None,
            value=content.format.decoder(held, content.settings),
            key_positions=[-1] * len(data),
            value_positions=[names.index(f.name) for f in data],
            upsert=False,
            skip_key_errors=False,
            skip_value_errors=content.format.skips_errors(content.settings),
            output_ddl=f"{ddl}, {spark_ddl(data)}" if data else ddl,
            place="file '%s'",
        )
        record = (none, value, F.expr(_PATH), F.expr("0"), F.expr("0L"))
        row = bridge.read(spec, counters, record).alias("__row")
        decoded = counted.select("__file", row)
        kept = decoded.where("__row IS NOT NULL")
        return kept.select(*(F.col(f"__row.{quote(f.name)}") for f in data), "__file")

    def _pattern(self) -> str | None:
        """Return the pattern of paths: the table's pattern and its partition directories."""
        table = self.declared
        partitions = self._directories("[^/]*")
        if partitions is None:
            return table.pattern
        return partitions if table.pattern is None else f"(?={table.pattern}$){partitions}"

    def _directories(self, value: str) -> str | None:
        """Return a regular expression of partition directories, with `value` for each value."""
        keys = self.declared.schema.partition_keys
        if not keys:
            return None
        parts = "".join(f"/{_escaped(key)}={value}" for key in keys)
        return f".*{parts}/.*"

    def _partition_value(self, field: Field) -> str:
        """Return the Spark SQL of a partition column: from the path, unescaped, cast."""
        number = self.declared.schema.partition_keys.index(field.name) + 1
        pattern = self._directories("([^/]*)")
        found = f"regexp_extract({_PATH}, {_text(pattern or '')}, {number})"
        value = f"url_decode(replace({found}, '+', '%2B'))"
        null = _text(self.declared.default_partition)
        return f"CAST(nullif({value}, {null}) AS {field.type.spark_sql()})"

    def real_time_obstacle(self, settings: Settings) -> StreamtableError | None:  # noqa: ARG002
        """Return an error: Spark's Real-time Mode supports only its own sources."""
        return StreamtableError(
            Condition.NOT_YET,
            at=self.at,
            what=f"table {self.table} of connector 'filesystem' in real-time mode",
            hint="SET 'execution.mode' = 'micro-batch'",
        )

    def examine(self, preflight: Preflight) -> Sequence[Resource]:
        """Check that the path of a bounded table exists; other paths may be created later."""
        found = exists(self.declared, self.table, self.at, preflight.bridge)
        if self.is_bounded and not found:
            raise StreamtableError(
                Condition.PATH_MISSING,
                at=self.at,
                hint="check 'path'; with 'source.monitor-interval' the table waits for files",
                path=self.declared.path,
                table=self.table,
            )
        return ()

    def splits(self, bridge: Bridge) -> Sequence[Split]:  # noqa: ARG002
        """Return one split: files are read in the order in which they were found."""
        return (f"{self._split}/0",)

    @property
    def _split(self) -> str:
        return self.table.replace("'", "_")


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def _escaped(name: str) -> str:
    """Return a column's name as in directories (Hive's rule), as a regular expression."""
    special = "\"#%'*/:=?\\\x7f{[]^"
    escaped = (f"%{ord(c):02X}" if c in special or c < " " else c for c in name)
    return re.escape("".join(escaped))


def _text(value: str) -> str:
    """Return a raw string literal of Spark SQL, without escapes."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
