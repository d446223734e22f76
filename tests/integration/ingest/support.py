"""A database, the job that copies it, and the records of its topics."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pymysql
from tests.integration.jobs.support import Cli, run
from tests.mariadb import PASSWORD, USER, MariaDb

from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pathlib import Path

JOB = """\
source:
  type: mysql
  hostname: 127.0.0.1
  port: ${{port}}
  username: {user}
  password: ${{secret_values.mysql-password}}
  tables: {database}.\\.*
  server-id: 8601-8604
  scan.incremental.snapshot.chunk.size: 100
{source}
sink:
  type: upsert-kafka
  properties.bootstrap.servers: ${{servers}}
{sink}
route:
  - source-table: {database}.\\.*
    sink-table: {database}_<>
    replace-symbol: <>
pipeline:
  parallelism: 2
  schema.change.behavior: evolve
{more}"""


@dataclass
class Shop:
    """A database of the server. A job copies its tables into topics `<database>_<table>`."""

    server: MariaDb
    database: str
    servers: str
    folder: Path

    def write_job(self, source: str = "", sink: str = "", more: str = "") -> None:
        """Write the job file. The arguments are lines to add to its sections, with their indent."""
        text = JOB.format(user=USER, database=self.database, source=source, sink=sink, more=more)
        (self.folder / "job.yaml").write_text(text)
        (self.folder / "mysql-password").write_text(PASSWORD + "\n")

    def sql(self, *statements: str) -> None:
        self.server.run(f"USE {self.database}", *statements)

    def arguments(self, command: str, *more: str) -> tuple[str, ...]:
        given = ("--var", f"port={self.server.port}", "--var", f"servers={self.servers}")
        secret = ("--var", f"secret_values.mysql-password={PASSWORD}")
        return (command, str(self.folder / "job.yaml"), *given, *secret, *more)

    @property
    def checkpoint(self) -> tuple[str, str]:
        return "--checkpoint", str(self.folder / "checkpoint")

    def start(self) -> Cli:
        return Cli.start(*self.arguments("run", *self.checkpoint))

    def bounded(self) -> str:
        """Run the job to the end of the current input and return its standard error."""
        code, _, said = run(*self.arguments("run", *self.checkpoint, "--bounded"))
        assert code == 0, said
        return said

    def topic(self, table: str) -> dict[bytes, dict[str, Any]]:
        """Return the last committed value of each key in the topic of a table."""
        return {k: json.loads(v, parse_float=Decimal) for k, v in self.records(table).items()}

    def records(self, table: str) -> dict[bytes, bytes]:
        return folded(self.messages(table))

    def messages(self, table: str) -> list[Any]:
        return records(self.servers, f"{self.database}_{table}")

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return all rows of a table, with the values that JSON has."""
        connection = self.server.connect(self.database)
        with connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute(f"SELECT * FROM `{table}`")
            found = [{k: _plain(v) for k, v in row.items()} for row in cursor.fetchall()]
        connection.close()
        return found

    def check_copied(self, table: str, *keys: str) -> None:
        """Check that the topic equals the table: each row under its key, and no other keys."""
        wanted = {
            json.dumps(
                {k: row[k] for k in keys}, separators=(",", ":"), ensure_ascii=False
            ).encode(): row
            for row in self.rows(table)
        }
        there = self.topic(table)
        missing, extra = wanted.keys() - there.keys(), there.keys() - wanted.keys()
        assert not missing, [wanted[k] for k in sorted(missing)[:5]]
        assert not extra, [(k, there[k]) for k in sorted(extra)[:5]]
        different = [k for k, row in wanted.items() if not _same(there[k], row)]
        assert not different, [(there[k], wanted[k]) for k in different[:3]]


def folded(records: list[Any]) -> dict[bytes, bytes]:
    """Return the last value of each key, without deleted keys."""
    found: dict[bytes, bytes] = {}
    for record in records:
        if record.value() is None:
            found.pop(record.key(), None)
        else:
            found[record.key()] = record.value()
    return found


def _same(record: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return whether a record equals a row in the columns that both have.

    A record that was written before a column was added lacks this column.
    """
    added = row.keys() - record.keys()
    return all(row[k] is None or k.startswith("added") for k in added) and all(
        record[k] == row[k] for k in record.keys() & row.keys()
    )


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return str(value)
        case date():
            return value.isoformat()
        case timedelta():
            return str(value)
        case float():
            return Decimal(repr(value))
        case _:
            return value
