"""Reads: rows of relations as DataFrames, and answers as dbt's tables."""

from __future__ import annotations

import re
import socket
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.streamtable.definitions import Definition
from dbt.adapters.streamtable.refusals import fail, refuse
from dbt.adapters.streamtable.scripts import quoted
from dbt_common.clients.agate_helper import table_from_data_flat

from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamtable import Session

_FLINK_SQL = re.compile(r"/\* flink sql, limit (\w+) \*/")

#: Errors of a read at a moment for relations without a history; they run as a query instead.
_NO_READ = (Condition.NOT_YET, Condition.NO_HISTORY)

_CONNECT_S = 10.0


@dataclass(frozen=True)
class FlinkSql:
    """A query of `dbt show`. All other queries of dbt are Spark SQL.

    Attributes:
        query: its text.
        limit: largest number of rows; None returns all.
    """

    query: str
    limit: int | None

    @classmethod
    def marked(cls, sql: str) -> Self | None:
        """Return a query with the comment that the macro `get_limit_sql` writes, or None.

        Raises:
            DbtRuntimeError: the config `sql_header` precedes the query.
        """
        found = _FLINK_SQL.search(sql)
        if found is None:
            return None
        if sql[: found.start()].strip():
            refuse("the config `sql_header`", "set `settings` in the profile")
        return cls(sql[found.end() :], int(found[1]) if found[1].isdigit() else None)


@contextmanager
def views_of_now(session: Session, definitions: Iterable[Definition]) -> Iterator[None]:
    """Give Spark SQL of a session temporary views with the rows that relations have now."""
    spark, named = session.spark, list[str]()
    try:
        for definition in definitions:
            # The DataFrame belongs to another Spark session of the process.
            name = f"dbt_{uuid.uuid4().hex}"
            _rows_of_now(session, definition).createOrReplaceGlobalTempView(name)
            named.append(name)
            rows = spark.table(f"global_temp.{name}")
            rows.createOrReplaceTempView(quoted(definition.name))
        yield
    finally:
        for name in named:
            spark.catalog.dropGlobalTempView(name)


def _rows_of_now(session: Session, definition: Definition) -> DataFrame:
    """Return the rows that a relation has now.

    A table, and a view that filters one table, is read by Spark when the DataFrame is used. Any
    other relation runs as a query up to the current ends of its topics.
    """
    table = session.table(quoted(definition.name))
    try:
        return table.to_dataframe(as_of="now")
    except StreamtableError as error:
        if error.condition not in _NO_READ:
            raise
        return table.to_dataframe()


def answered(frame: DataFrame, limit: int | None) -> tuple[AdapterResponse, Any]:
    """Return the rows of a DataFrame as dbt takes them."""
    rows = (frame if limit is None else frame.limit(limit)).collect()
    names = list(frame.columns)
    table = table_from_data_flat([dict(zip(names, row, strict=True)) for row in rows], names)
    return AdapterResponse("OK", rows_affected=len(rows)), table


def reach_broker(servers: str) -> None:
    """Connect to one of the brokers, and close the connection.

    Args:
        servers: `host:port`, separated by commas.

    Raises:
        DbtRuntimeError: no broker accepts a connection within 10 s.
    """
    faults = []
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S):
                return
        except (OSError, ValueError) as error:
            faults.append(f"{server}: {error}")
    hint = "check `bootstrap_servers` of the profile"
    fail(f"no Kafka broker answers ({'; '.join(faults)})", hint)
