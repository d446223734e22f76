"""Connections: dbt opens one per thread; all of them share the Spark of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import BaseConnectionManager
from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.streamtable.refusals import refuse
from dbt.adapters.streamtable.scripts import Scripts
from dbt_common.exceptions import DbtDatabaseError

import streamtable
from streamtable.core.secrets import without_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = AdapterLogger("streamtable")


class StreamtableConnectionManager(BaseConnectionManager):
    """Connections of dbt's threads. They hold nothing: each statement opens a session."""

    TYPE = "streamtable"

    def __init__(self, profile: Any, mp_context: Any) -> None:
        super().__init__(profile, mp_context)
        self._spark_lock = threading.Lock()
        self._spark: streamtable.Session | None = None

    def session(self, scripts: Scripts, *, spark: bool) -> streamtable.Session:
        """Return a new session with the settings of the profile.

        Args:
            scripts: writes the settings.
            spark: whether statements of the session need Spark, which the first session starts.
        """
        if not spark:
            return self._opened(scripts)
        with self._spark_lock:
            if self._spark is None:
                self._spark = self._opened(scripts)
            started = self._spark.spark
        return self._opened(scripts, started.newSession())

    def _opened(self, scripts: Scripts, spark: SparkSession | None = None) -> streamtable.Session:
        session = streamtable.connect(spark, notice=_LOG.debug)
        settings = scripts.settings()
        if settings:
            session.execute_sql(settings, scripts.variables)
        return session

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Turn errors of streamtable and Spark into dbt's, on one line and without secrets."""
        del sql
        try:
            yield
        except streamtable.StreamtableError as error:
            raise DbtDatabaseError(str(error)) from error
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark", "py4j")):
                raise
            first = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise DbtDatabaseError(without_secrets(first)) from error

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Mark a connection as open."""
        connection.state = ConnectionState.OPEN
        connection.handle = cls.TYPE
        return connection

    def cleanup_all(self) -> None:
        """Close the connections, and let go of Spark."""
        super().cleanup_all()
        with self._spark_lock:
            held, self._spark = self._spark, None
        if held is not None:
            held.close()

    def cancel_open(self) -> None:
        """Do nothing: dbt waits for the statements of its threads."""

    def begin(self) -> None:
        """Do nothing: there are no transactions."""

    def commit(self) -> None:
        """Do nothing: there are no transactions."""

    def clear_transaction(self) -> None:
        """Do nothing: there are no transactions."""

    def execute(
        self,
        sql: str,
        auto_begin: bool = False,
        fetch: bool = False,
        limit: int | None = None,
    ) -> tuple[AdapterResponse, Any]:
        """Refuse a statement; the adapter runs queries itself."""
        del auto_begin, fetch, limit
        first = " ".join(sql.split())[:60]
        hint = "write it into a model, or run it with `streamtable sql`"
        refuse(f"statements besides queries: {first!r}", hint)
