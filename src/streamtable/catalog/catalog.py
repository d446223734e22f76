"""Catalog of a session: tables and views by name.

A temporary table or view hides a permanent one of the same name, as in Flink. There is no other
difference, because a session's catalogs end with the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from streamtable.catalog.alter import altered_options, altered_schema, refused
from streamtable.catalog.external import ExternalTables
from streamtable.catalog.functions import Functions
from streamtable.catalog.merge import options_like, schema_as, schema_like
from streamtable.catalog.namespaces import Namespaces, Path
from streamtable.catalog.tables import Factory, check_written, made, notices
from streamtable.catalog.views import View, qualified
from streamtable.core.errors import Condition, Span, StreamtableError, closest
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
from streamtable.sql.statements.listings import DropCatalog, DropDatabase
from streamtable.sql.statements.model import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    CreateView,
    Drop,
)

if TYPE_CHECKING:
    from streamtable.connector_api.catalogs import CatalogType

__all__ = ["Catalog", "Entry", "Factory", "View"]


@dataclass(frozen=True)
class Entry:
    """A table or view under its name, and whether it is temporary."""

    path: Path
    content: Table | View
    temporary: bool


class Catalog:
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
        self._connectors = connectors
        self._permanent: dict[Path, Table | View] = {}
        self._temporary: dict[Path, Table | View] = {}
        self.namespaces = Namespaces(types)
        self.external = ExternalTables(connectors, self.namespaces)
        self.functions = Functions(self.namespaces, built_in)

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
            raise refused(str(path), at, "it is a view", "write ALTER VIEW")
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

    # Tables and views

    def drop(self, statement: Drop) -> None:
        """Drop a table or view; what it stands for is not deleted."""
        path = self.namespaces.path(statement.name)
        kind = View if statement.kind == "VIEW" else Table
        at = statement.name_at or statement.at
        if not statement.temporary:
            change = f"DROP {statement.kind} {path}"
            self.namespaces.check_changeable(path.catalog, change, at)
        if not statement.temporary and isinstance(self._temporary.get(path), kind):
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=at,
                change=f"DROP {statement.kind} {path}",
                reason="it is temporary",
                hint=f"write DROP TEMPORARY {statement.kind}",
            )
        entries = self._entries(temporary=statement.temporary)
        if isinstance(entries.get(path), kind):
            del entries[path]
        elif path in entries:
            other = "TABLE" if statement.kind == "VIEW" else "VIEW"
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=at,
                change=f"DROP {statement.kind} {path}",
                reason=f"it is a {other.lower()}",
                hint=f"write DROP {other}",
            )
        elif not statement.if_exists:
            raise self._unknown(path, at)

    def has(self, name: Name) -> bool:
        """Return whether the name is a table or view."""
        path = self.namespaces.path(name)
        return path in self._permanent or path in self._temporary

    def forget(self, name: Name, *, temporary: bool) -> None:
        """Remove a declaration by name."""
        self._entries(temporary=temporary).pop(self.namespaces.path(name), None)

    def drop_database(self, statement: DropDatabase) -> None:
        """Drop a database; with CASCADE, drop its content too."""
        found = self.namespaces.find_database(statement)
        if found is None:
            return
        inside = [path for path in self._permanent if (path.catalog, path.database) == found]
        if inside and not statement.cascade:
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=statement.at,
                change=f"DROP DATABASE {found[1]}",
                reason=f"it holds {', '.join(path.name for path in inside)}",
                hint="write CASCADE to drop them too",
            )
        for path in inside:
            del self._permanent[path]
        self.namespaces.drop_database(*found)

    def drop_catalog(self, statement: DropCatalog) -> None:
        """Drop a catalog and its content."""
        dropped = self.namespaces.drop_catalog(statement)
        for path in [path for path in self._permanent if path.catalog == dropped]:
            del self._permanent[path]

    def entry(self, name: Name, at: Span | None) -> Entry:
        """Return the entry of a name; UNKNOWN_TABLE with the closest known name otherwise."""
        path = self.namespaces.path(name)
        for temporary in (True, False):
            found = self._entries(temporary=temporary).get(path)
            if found is not None:
                return Entry(path, found, temporary)
        external = self.external.find(path, at)
        if external is not None:
            return Entry(path, external, temporary=False)
        raise self._unknown(path, at)

    def find(self, name: Name, at: Span | None) -> Table | View:
        """Return the table or view of a name; UNKNOWN_TABLE with the closest name otherwise."""
        return self.entry(name, at).content

    def find_table(self, name: Name, at: Span | None) -> Table:
        """Return a table to write to; a view is refused."""
        found = self.find(name, at)
        if isinstance(found, View):
            raise StreamtableError(
                Condition.UNKNOWN_TABLE,
                at=at,
                table=found.name,
                hint="it is a view; INSERT INTO takes a table",
            )
        return found

    def names(self, place: Name, at: Span | None, *, views_only: bool = False) -> list[str]:
        """List the tables and views of a database, including temporary ones, sorted."""
        home = self.namespaces.home(place, at)
        visible = {**self._permanent, **self._temporary}
        external = [] if views_only else self.external.names(home[0], at)
        own = {
            path.name
            for path, content in visible.items()
            if (path.catalog, path.database) == home
            and (isinstance(content, View) or not views_only)
        }
        return sorted(own.union(external))

    # Helpers

    def _entries(self, *, temporary: bool) -> dict[Path, Table | View]:
        return self._temporary if temporary else self._permanent

    def _new_path(self, statement: CreateTable | CreateView) -> Path | None:
        """Return the path of a new table or view; None if IF NOT EXISTS finds an existing one."""
        path, at = self.namespaces.path(statement.name), statement.name_at or statement.at
        if not statement.temporary:
            self.namespaces.check(path, at)
            change = f"CREATE {'TABLE' if isinstance(statement, CreateTable) else 'VIEW'} {path}"
            self.namespaces.check_changeable(path.catalog, change, at)
        old = self._entries(temporary=statement.temporary).get(path)
        kind = Table if isinstance(statement, CreateTable) else View
        if statement.replaces and isinstance(old, kind):
            return path
        if isinstance(statement, CreateTable) and statement.must_exist and old is None:
            raise self._unknown(path, at)
        if old is None:
            return path
        if statement.if_not_exists:
            return None
        raise _taken(path, statement.at)

    def _rename(self, path: Path, rename: RenameTo) -> None:
        target = self.namespaces.path(rename.name)
        if (target.catalog, target.database) != (path.catalog, path.database):
            reason = "RENAME TO cannot move it to another database"
            raise refused(str(path), rename.at, reason)
        if target in self._permanent:
            raise _taken(target, rename.at)
        content = self._permanent[path]
        if isinstance(content, Table):
            renamed: Table | View = self._table(str(target), content)
        else:
            renamed = replace(content, name=str(target))
        del self._permanent[path]
        self._permanent[target] = renamed

    def notices(self, name: Name) -> Iterator[str]:
        """Yield a line for each part of a table's declaration that has no effect."""
        found = self.find(name, None)
        if isinstance(found, Table):
            yield from notices(found, self._connectors)

    def check_written(self, table: Table, at: Span | None) -> None:
        """Refuse a declaration that a sink cannot have; INVALID_PARTITIONS."""
        check_written(table, self._connectors, at)

    def _declare(self, path: Path, statement: CreateTable) -> None:
        complete = self.external.completed(str(path), statement)
        self._entries(temporary=statement.temporary)[path] = self._table(str(path), complete)

    def _table(self, name: str, declared: CreateTable | Table) -> Table:
        return made(name, declared, self._connectors)

    def _unknown(self, path: Path, at: Span | None) -> StreamtableError:
        self.namespaces.check(path, at)
        home = (path.catalog, path.database)
        known = self.names(home, at)
        return StreamtableError(
            Condition.UNKNOWN_TABLE, at=at, table=str(path), hint=closest(path.name, known)
        )


def _taken(path: Path, at: Span) -> StreamtableError:
    return StreamtableError(
        Condition.DUPLICATE_TABLE,
        at=at,
        table=path,
        hint="drop it first, or write CREATE ... IF NOT EXISTS",
    )
