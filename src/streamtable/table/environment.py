"""PyFlink's `TableEnvironment`, `EnvironmentSettings` and `TableConfig`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from streamtable.api.connect import session_parts
from streamtable.api.session import Function, Session
from streamtable.api.table import Table
from streamtable.core.settings.execution import RUNTIME_MODE
from streamtable.core.types import quote


@dataclass(frozen=True)
class EnvironmentSettings:
    """Initial settings of a `TableEnvironment`: key -> value."""

    settings: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return settings for queries that follow their topics."""
        return EnvironmentSettings({RUNTIME_MODE.key: "streaming"})

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return settings for queries that read up to the current end of their topics."""
        return EnvironmentSettings({RUNTIME_MODE.key: "batch"})


class TableConfig:
    """Settings of a `TableEnvironment`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def set(self, key: str, value: str) -> TableConfig:
        """Change a setting, as SET does."""
        self._session.set(key, value)
        return self

    def get(self, key: str, default_value: str | None = None) -> str | None:
        """Return the value of a setting in force, secrets masked; else the default."""
        return self._session.get(key, default_value)

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set 'table.local-time-zone'."""
        self._session.set("table.local-time-zone", timezone_id)

    def get_local_timezone(self) -> str | None:
        """Return 'table.local-time-zone'."""
        return self._session.get("table.local-time-zone")


class TableEnvironment(Session):
    """`Session` with PyFlink's names in addition."""

    @staticmethod
    def create(environment_settings: EnvironmentSettings | None = None) -> TableEnvironment:
        """Open a session; in streaming mode without settings."""
        given = environment_settings or EnvironmentSettings()
        return TableEnvironment(*session_parts(given.settings))

    def get_config(self) -> TableConfig:
        """Return the settings."""
        return TableConfig(self)

    def from_path(self, path: str) -> Table:
        """Return a table or view of the catalog; `Session.table`."""
        return self.table(path)

    def from_pandas(self, frame: Any) -> Table:
        """Return the rows of a pandas DataFrame as a table; `Session.from_dataframe`."""
        return self.from_dataframe(frame)

    def from_elements(self, elements: list[Any], schema: list[str] | None = None) -> Table:
        """Return rows as a table.

        Args:
            elements: one tuple per row.
            schema: names of the columns; None numbers them `_1`, `_2`, ...
        """
        return self.from_dataframe(self.spark.createDataFrame(elements, schema))

    def create_temporary_function(self, path: str, function: Function) -> None:
        """Register a Python function; `Session.register_function`."""
        self.register_function(path, function)

    def create_temporary_system_function(self, name: str, function: Function) -> None:
        """Register a Python function, in the current database."""
        self.register_function(name, function)

    def drop_temporary_view(self, view_path: str) -> bool:
        """Drop a temporary view; return whether there was one."""
        there = view_path in self.list_views()
        self.execute_sql(f"DROP TEMPORARY VIEW IF EXISTS {view_path}")
        return there

    def list_catalogs(self) -> list[str]:
        """Return the names of the catalogs."""
        return self._listed("SHOW CATALOGS")

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        return self._listed("SHOW DATABASES")

    def list_views(self) -> list[str]:
        """Return the names of the views of the current database."""
        return self._listed("SHOW VIEWS")

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the Python functions of the current database."""
        return self._listed("SHOW USER FUNCTIONS")

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._listed("SHOW CURRENT CATALOG")[0]

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._listed("SHOW CURRENT DATABASE")[0]

    def use_catalog(self, catalog_name: str) -> None:
        """Use another catalog."""
        self.execute_sql(f"USE CATALOG {quote(catalog_name)}")

    def use_database(self, database_name: str) -> None:
        """Use another database of the current catalog."""
        self.execute_sql(f"USE {quote(database_name)}")

    def _listed(self, statement: str) -> list[str]:
        return [name for (name,) in self.execute_sql(statement).collect()]
