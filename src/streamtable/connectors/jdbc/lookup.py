"""`JdbcLookup`: the `Lookup` of a table in a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamtable.connector_api.lookup import Lookup, LookupCache
from streamtable.connector_api.preflight import Preflight
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.jdbc.java import checked, explain, java_table
from streamtable.connectors.jdbc.table import JdbcTable
from streamtable.core.errors import StreamtableError
from streamtable.core.types import Field, spark_ddl
from streamtable.jvm.bridge import Bridge


@dataclass(frozen=True)
class JdbcLookup(TableEndpoint[JdbcTable], Lookup):
    """Looks up rows with a prepared statement, over a connection of each task."""

    @property
    def cache(self) -> LookupCache | None:
        """The cache of the table's options."""
        cache = self.declared.cache
        if cache is None:
            return None
        return LookupCache(
            cache.max_rows,
            cache.expire_after_write,
            cache.expire_after_access,
            cache.missing_keys,
        )

    def reader(self, key: tuple[Field, ...], row: tuple[Field, ...], bridge: Bridge) -> Any:
        """Return the Java `LookupTable` of these columns."""
        table, retries = java_table(self.declared, bridge), self.declared.lookup_retries
        return bridge.java.jdbc.JdbcLookup(table, spark_ddl(key), spark_ddl(row), retries)

    def examine(self, preflight: Preflight) -> None:
        """Check that the database has the table with its declared columns."""
        bridge = preflight.bridge
        names = bridge.java_list(f.name for f in self.declared.schema.physical)
        check = bridge.java.jdbc.TableCheck.columns
        checked(self.declared, bridge, lambda table: check(table, names))

    def explain(self, sink: str, text: str) -> StreamtableError | None:  # noqa: ARG002
        """Translate an error of the database."""
        return explain(self.declared, text)
