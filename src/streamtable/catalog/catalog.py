"""Catalog of a session: registers and changes tables, views and functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from streamtable.catalog.alter import altered_options, altered_schema, refused
from streamtable.catalog.entries import Entries, Entry, other_kind, taken
from streamtable.catalog.external import ExternalTables
from streamtable.catalog.functions import Functions
from streamtable.catalog.merge import options_like, schema_as, schema_like
from streamtable.catalog.namespaces import Namespaces, Path
from streamtable.catalog.tables import Factory, check_written, made, notices
from streamtable.catalog.views import View, qualified
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.table import Table
from streamtable.core.types import Field
from streamtable.sql.names import Name
from streamtable.sql.statements.changes import (
    AlterTable,
    AlterView,
    RenameTo,
    ResetOptions,
    SetOptions,
)
from streamtable.sql.statements.model import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    CreateView,
)

if TYPE_CHECKING:
    from streamtable.connector_api.catalogs import CatalogType

__all__ = ["Catalog", "Entry", "Factory", "View"]


class Catalog(Entries):
    """Catalog of a session: registers DDL and resolves names.

    Args:
        connectors: name -> factory.
        built_in: names of the built-in functions.
        types: types of catalogs, besides those in memory.
    """

    def __init__(
        self,
        connectors: Mapping[str, Factory],
        built_in: frozenset[str] = frozenset(),
        types: Mapping[str, CatalogType] | None = None,
    ) -> None:
        namespaces = Namespaces(types)
        super().__init__(namespaces, ExternalTables(connectors, namespaces))
        self._connectors = connectors
        self.functions = Functions(namespaces, built_in)

    def copy(self) -> Catalog:
        """Return an independent catalog with the same content."""
        other = Catalog(self._connectors)
        other._permanent = dict(self._permanent)
        other._temporary = dict(self._temporary)
        other.namespaces = self.namespaces.copy()
        other.external = self.external.copy(other.namespaces)
        other.functions = self.functions.copy(other.namespaces)
        return other

    # Tables

    def create_table(self, statement: CreateTable) -> None:
        """Check a table's options and register it; DUPLICATE_TABLE if the name is taken."""
        path = self._new_path(statement)
        if path is not None:
            self._declare(path, statement)

    def create_table_like(self, statement: CreateTableLike) -> None:
        """CREATE TABLE ... LIKE: merge another table's declaration with the statement's."""
        table, like = statement.table, statement.like
        source = self.find(like.source, like.at)
        if isinstance(source, View):
            raise StreamtableError(
                Condition.UNKNOWN_TABLE,
                at=like.at,
                table=source.name,
                hint="it is a view; LIKE takes a table",
            )
        path = self._new_path(table)
        if path is None:
            return
        schema = schema_like(str(path), like, source, statement.elements)
        options = options_like(like, source.options, table.options)
        self._declare(path, replace(table, schema=schema, options=options))

    def create_table_as(self, statement: CreateTableAs, fields: Sequence[Field]) -> None:
        """CREATE TABLE AS: register a table with the columns of a query."""
        path = self._new_path(statement.table)
        if path is not None:
            self._declare(path, replace(statement.table, schema=schema_as(statement, fields)))

    def with_options(self, table: Table, given: Mapping[str, Given]) -> Table:
        """Return a table with changed options, as a hint sets them; checks the options again."""
        return self._table(table.name, replace(table, options={**table.options, **given}))

    def alter_table(self, statement: AlterTable) -> None:
        """ALTER TABLE: change a table; CHANGE_REFUSED if Flink does not allow the change."""
        at = statement.name_at or statement.at
        path = self.namespaces.path(statement.name)
        self.namespaces.check_changeable(path.catalog, f"ALTER TABLE {path}", at)
        table = self._permanent.get(path)
        if path in self._temporary:
            raise refused(str(path), at, "it is temporary", "drop it and create it again")
        if table is None and statement.if_exists:
            return
        if table is None:
            raise self._unknown(path, at)
        if isinstance(table, View):
            raise other_kind(path, table, "ALTER", at)
        match statement.change:
            case RenameTo() as rename:
                self._rename(path, rename)
            case SetOptions() | ResetOptions() as change:
                options = altered_options(str(path), table.options, change)
                changed = replace(table, options=options, at=statement.at)
                self._permanent[path] = self._table(str(path), changed)
            case change:
                schema = altered_schema(str(path), table.schema, change, statement.at)
                changed = replace(table, schema=schema, at=statement.at)
                self._permanent[path] = self._table(str(path), changed)

    # Views

    def create_view(self, statement: CreateView) -> None:
        """Register a view; its query is planned when a query uses the view."""
        path = self._new_path(statement)
        if path is not None:
            self._entries(temporary=statement.temporary)[path] = View(
                str(path),
                qualified(statement.query, self.namespaces),
                statement.columns,
                statement.comment,
                statement.at,
            )

    def put_view(self, name: Name, query: exp.Query) -> None:
        """Register a temporary view that a program creates; an existing one is replaced."""
        path = self.namespaces.path(name)
        self._temporary[path] = View(str(path), query)

    def alter_view(self, statement: AlterView) -> None:
        """ALTER VIEW: rename a view, or replace its query."""
        at = statement.name_at or statement.at
        path = self.namespaces.path(statement.name)
        view = self._permanent.get(path)
        if not isinstance(view, View) or path in self._temporary:
            raise self._unknown(path, at)
        if isinstance(statement.change, RenameTo):
            self._rename(path, statement.change)
        else:
            query = qualified(statement.change, self.namespaces)
            self._permanent[path] = View(view.name, query, (), view.comment, statement.at)

    def notices(self, name: Name) -> Iterator[str]:
        """Yield a line for each part of a table's declaration that has no effect."""
        found = self.find(name, None)
        if isinstance(found, Table):
            yield from notices(found, self._connectors)

    def check_written(self, table: Table, at: Span | None) -> None:
        """Refuse a declaration that a sink cannot have; INVALID_PARTITIONS."""
        check_written(table, self._connectors, at)

    # Helpers

    def _rename(self, path: Path, rename: RenameTo) -> None:
        target = self.namespaces.path(rename.name)
        if (target.catalog, target.database) != (path.catalog, path.database):
            reason = "RENAME TO cannot move it to another database"
            raise refused(str(path), rename.at, reason)
        if target in self._permanent:
            raise taken(target, rename.at)
        content = self._permanent[path]
        if isinstance(content, Table):
            renamed: Table | View = self._table(str(target), content)
        else:
            renamed = replace(content, name=str(target))
        del self._permanent[path]
        self._permanent[target] = renamed

    def _declare(self, path: Path, statement: CreateTable) -> None:
        complete = self.external.completed(str(path), statement)
        self._entries(temporary=statement.temporary)[path] = self._table(str(path), complete)

    def _table(self, name: str, declared: CreateTable | Table) -> Table:
        return made(name, declared, self._connectors)
