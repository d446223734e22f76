"""Convert a job file into the spec of reader and tasks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from streamtable.connectors.kafka.options.options import ADD_TABLE_ID
from streamtable.connectors.mysql_cdc import server_options as server
from streamtable.connectors.mysql_cdc.reader import (
    MySqlSettings,
    SourceSpec,
    Startup,
    TableId,
    TableSchema,
    discover,
)
from streamtable.ingest.file import options as o
from streamtable.ingest.file.job_file import JobFile
from streamtable.ingest.file.rules import jdbc_properties
from streamtable.ingest.records.known import KnownTable
from streamtable.ingest.records.planning import plan_programs
from streamtable.ingest.records.rules import RecordRules, key_names


@dataclass(frozen=True)
class IngestSpec:
    """The value that driver and tasks share. It contains the password, which no text shows.

    Attributes:
        source: the tables to read.
        records: the rules that convert changes into records.
        status: the file to which the reader writes its progress.
    """

    source: SourceSpec
    records: RecordRules
    status: str = ""

    def with_known(self, tables: Mapping[TableId, KnownTable]) -> IngestSpec:
        """Return the job with its tables as it first read them."""
        return replace(self, records=replace(self.records, known=dict(tables)))

    def with_tables(self, tables: Iterable[TableSchema]) -> IngestSpec:
        """Return the job with the expressions of its transforms bound to tables.

        Raises:
            StreamtableError: the error of an expression.
        """
        programs = plan_programs(tables, self.records)
        return replace(self, records=replace(self.records, programs=programs))

    def find(self, table: TableId) -> TableSchema | None:
        """Return the current version of a table; None if there is none."""
        found = discover(self.source.settings, [re.escape(str(table))])
        return found[0] if found else None

    def is_copied(self, table: TableId) -> bool:
        """Return whether a table is not left out for the lack of a key."""
        if not self.records.ignore_keyless:
            return True
        found = self.find(table)
        return found is None or bool(key_names(found, self.records.transforms))

    def without_keyless(self) -> IngestSpec:
        """Return the job without the tables that it excludes because they have no key.

        Raises:
            StreamtableError: DATABASE_UNREACHABLE, DATABASE_LOGIN_FAILED or DATABASE_REFUSED.
        """
        if not self.records.ignore_keyless:
            return self
        there = discover(self.source.settings, self.source.patterns)
        keyless = (
            re.escape(str(table.id))
            for table in there
            if not key_names(table, self.records.transforms)
        )
        source = replace(self.source, excluded=(*self.source.excluded, *keyless))
        return replace(self, source=source, records=replace(self.records, selected=source.tables()))


def job_tasks(job: JobFile) -> int:
    """Return the number of tasks that read the chunks of a batch."""
    return job.pipeline.get(o.PARALLELISM) or os.cpu_count() or 1


def ingest_spec(job: JobFile) -> IngestSpec:
    """Return the spec of a job."""
    source, sink = job.source, job.sink
    settings = MySqlSettings(
        hostname=source[server.HOSTNAME],
        username=source[server.USERNAME],
        password=source[server.PASSWORD],
        port=source[server.PORT],
        server_ids=source.get(server.SERVER_ID),
        server_time_zone=source.get(server.TIME_ZONE),
        connect_timeout=source[server.CONNECT_TIMEOUT],
        connect_max_retries=source[server.MAX_RETRIES],
        jdbc=tuple(sorted(jdbc_properties(source).items())),
    )
    startup = Startup(
        source[server.STARTUP_MODE],
        file=source.get(server.STARTUP_FILE),
        pos=source.get(server.STARTUP_POS),
        gtid=source.get(server.STARTUP_GTID),
        timestamp_ms=source.get(server.STARTUP_TIMESTAMP),
    )
    source_spec = SourceSpec(
        settings,
        job.tables.regular_expressions,
        startup,
        excluded=job.excluded.regular_expressions if job.excluded else (),
        chunk_size=source[server.CHUNK_SIZE],
        fetch_size=source[server.FETCH_SIZE],
        chunk_keys=job.chunk_keys,
        row_keys=tuple(
            (pattern, transform.primary_keys)
            for transform in job.transforms
            for pattern in transform.pattern.regular_expressions
        ),
        tasks=job_tasks(job),
        snapshot_new_tables=True,
        starts_over=True,
        columns=job.columns.copies,
    )
    return IngestSpec(
        source_spec,
        RecordRules(
            selected=source_spec.tables(),
            routes=job.routes,
            transforms=job.transforms,
            columns=job.columns,
            behavior=job.pipeline[o.SCHEMA_BEHAVIOR],
            on_truncate=sink[o.ON_TRUNCATE],
            on_drop=sink[o.ON_DROP],
            add_table_id=sink[ADD_TABLE_ID],
            tinyint1_is_boolean=source[o.TINYINT1],
            ignore_keyless=source[o.NO_KEY],
            reads_op_ts=bool(source[o.METADATA_LIST]),
        ),
    )
